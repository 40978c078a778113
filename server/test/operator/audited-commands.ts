import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deposit } from '../../src/flows/ledger/deposit.system.ts';
import { createApiKey } from '../../src/flows/operations/manage-organizations.system.ts';
import { cents } from '../../src/kit/money.ts';
import type { AuditedCommandName } from '../../src/operator/commands.ts';
import type { InProcess } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { psePayin } from '../harness/payin-requests.ts';
import { createPayin } from '../harness/payin-responses.ts';
import { createPayout, newShop, type Shop } from '../harness/payout-requests.ts';
import { readMetric } from '../harness/read-metric.ts';
import type { Stack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

/**
 * Prepares what a command needs to succeed. @returns arguments with which it changes something, without
 * `--by`
 */
type Preparation = (stage: AuditStage) => Promise<readonly string[]> | readonly string[];

export interface AuditStage {
  readonly stack: Stack;
  readonly caudal: InProcess;
  readonly shop: Shop;
}

export async function auditStage(stack: Stack, caudal: InProcess): Promise<AuditStage> {
  return { stack, caudal, shop: await newShop(caudal, stack.api) };
}

const org = ({ shop }: AuditStage) => ['--org', shop.id];

const PERSON = ['--document', 'CO_CC:5550001112'];

/** A Record, so that a command missing here is a compile error. */
export const AUDITED_COMMANDS: Readonly<Record<AuditedCommandName, Preparation>> = {
  migrate: () => [],
  'org create': () => ['--name', 'Otra', '--support', 'ayuda@otra.example'],
  'org limits': ({ shop }) => [shop.id, '--writes', '7'],
  'org payout-limits': ({ shop }) => [shop.id, '--per-day-count', '500'],
  'org update': ({ shop }) => [shop.id, '--name', 'Tienda Boreal'],
  // An organization that no other command needs.
  'org suspend': async (stage) => [await newOrganization(stage), '--reason', 'court order'],
  'org resume': async (stage) => {
    const organizationId = await newOrganization(stage);
    await prepareWith(stage, 'org', 'suspend', organizationId, '--reason', 'court order');
    return [organizationId, '--reason', 'lifted'];
  },
  'keys create': (stage) => [...org(stage), '--name', 'reports'],
  'keys update': async ({ shop, caudal }) => [await newKey(caudal, shop), '--allow-from', '203.0.113.0/24'],
  'keys revoke': async ({ shop, caudal }) => [await newKey(caudal, shop)],
  'ledger deposit': (stage) => [...org(stage), '--amount', '12.34', '--reference', randomUUID()],
  'ledger reverse': async (stage) => [
    ...org(stage),
    '--deposit',
    await newDeposit(stage),
    '--reason',
    'typo',
  ],
  'anomalies resolve': async (stage) => [await openAnomaly(stage), '--dismiss'],
  'payins end': async (stage) => [await stuckPayin(stage), '--reason', 'the bank has no payment'],
  'payouts resolve': async (stage) => [await unknownPayout(stage), '--confirm', '--note', 'bank statement'],
  'rails pause': () => ['--rail', 'PSE', '--reason', 'maintenance'],
  'rails resume': async (stage) => {
    await prepareWith(stage, 'rails', 'pause', '--rail', 'BRE_B', '--reason', 'maintenance');
    return ['--rail', 'BRE_B'];
  },
  'rails pause-after-restore': () => [],
  // After the pause, which it ends.
  'rails reconcile-after-restore': () => ['--since', new Date().toISOString()],
  'restored resolve': async (stage) => [await heldPayout(stage), '--as', 'new', '--note', 'two invoices'],
  'backup check': () => ['--backup-at', new Date().toISOString()],
  'schedules run': () => ['ledger-verify'],
  'months detach': () => ['--before', '2020-01'],
  'secrets rewrap': () => [],
  // A new organization: a key is not rotated again before it is active.
  'secrets rotate-data-keys': async (stage) => ['--org', await newOrganization(stage)],
  'people find': () => PERSON,
  'people export': () => [...PERSON, '--output', join(tmpdir(), `caudal-person-${randomUUID()}.json`)],
  'people erase': () => PERSON,
  'people hold': () => ['--email', `${randomUUID()}@correo.example`, '--reason', 'court order'],
  'people release': async (stage) => {
    const person = ['--email', `${randomUUID()}@correo.example`];
    await prepareWith(stage, 'people', 'hold', ...person, '--reason', 'court order');
    return [...person, '--reason', 'lifted'];
  },
};

/** In the test process: the tests prepare twenty times like this. */
async function prepareWith({ stack }: AuditStage, ...args: readonly string[]): Promise<void> {
  const { code, stderr } = await runOperatorCommand(stack.settings, ...args);
  if (code !== 0) throw new Error(stderr);
}

async function newOrganization({ caudal }: AuditStage): Promise<string> {
  return (await caudal.newOrganization()).principal.organization.id;
}

async function newKey(caudal: InProcess, shop: Shop): Promise<string> {
  const key = { name: 'test', scopes: [], lifetimeSeconds: null };
  return (await createApiKey(caudal.deps, 'test', shop.id, key))?.id ?? '';
}

async function newDeposit({ caudal, shop }: AuditStage): Promise<string> {
  const reference = randomUUID();
  await deposit(caudal.deps, { organizationId: shop.id, amount: cents(100), reference, operator: 'test' });
  return reference;
}

async function openAnomaly({ stack, shop }: AuditStage): Promise<string> {
  const id = randomUUID();
  await stack.database.query(
    `insert into caudal.anomalies (organization_id, id, rail, kind, reference, noticed_at, once)
     values ($1, $2, 'BRE_B', 'unconfirmed', 'x', caudal.now(), $3)`,
    [shop.id, id, id],
  );
  return id;
}

/** Expired an hour ago, while the rail reports it as pending. */
async function stuckPayin({ stack, shop }: AuditStage): Promise<string> {
  // An earlier command paused the rail, or all sending.
  await until('the API knows that nothing is paused', async () => {
    const metrics = ['caudal_rail_pauses', 'caudal_sending_paused_after_restore'];
    const values = await Promise.all(
      stack.apis.flatMap((api) => metrics.map((name) => readMetric(api, name))),
    );
    return values.every((value) => value === 0);
  });
  const { id } = await createPayin(shop.api, psePayin());
  await stack.database.query(
    `update caudal.payins set expires_at = caudal.now() - interval '1 hour', rail_sent_at = caudal.now() - interval '1 hour'
     where id = $1`,
    [id],
  );
  return id;
}

/** Sent an hour ago, without a clear answer from the rail. */
async function unknownPayout({ stack, shop }: AuditStage): Promise<string> {
  const { id } = await createPayout(shop.api);
  await stack.database.query(
    `update caudal.payouts set attempts = 1, rail_task = 'poll', leased_until = null, lease_token = null,
       first_sent_at = caudal.now() - interval '1 hour', last_sent_at = caudal.now() - interval '1 hour' where id = $1`,
    [id],
  );
  return id;
}

/** A payout that may repeat an order which only the rail has. */
async function heldPayout({ stack, shop }: AuditStage): Promise<string> {
  const { id } = await createPayout(shop.api);
  await stack.database.query(
    `insert into caudal.restored_orders (end_to_end_id, organization_id, receiver_index, amount_in_cents, rail_status, ordered_at, restored_to)
     select 'X' || p.end_to_end_id, p.organization_id, p.receiver_index, p.amount_in_cents, 'processing', p.created_at, p.created_at
     from caudal.payouts p where p.id = $1`,
    [id],
  );
  await stack.database.query(
    "update caudal.payouts set status = 'PROCESSING', rail_task = 'send', rail_due_at = caudal.now() where id = $1",
    [id],
  );
  return id;
}
