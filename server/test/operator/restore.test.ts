import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
import { ApiClient } from '../harness/api-client.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { brebPayin, CUSTOMER, newReference } from '../harness/payin-requests.ts';
import { PayoutDriver, type PayoutView } from '../harness/payout-driver.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const LOST_AMOUNT = 77_100;

let stack: Stack;
let driver: PayoutDriver;
let settings: Record<string, string>;
let restoredTo: string;
let unsent: { id: string; endToEndId: string };
let lost: { id: string; endToEndId: string };
let api: ApiClient;
let opsUrl: string;
const running: Child[] = [];

const copyName = () => `${stack.database.name}_copy`;

async function asAdmin(sql: string): Promise<void> {
  const admin = new Client({ connectionString: inject('postgres').adminUrl });
  await admin.connect();
  try {
    await admin.query(sql);
  } finally {
    await admin.end();
  }
}

async function query<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
  const client = new Client({
    connectionString: stack.database.url.replace(stack.database.name, copyName()),
  });
  await client.connect();
  try {
    return (await client.query<Row>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}

async function startOn(env: Record<string, string>): Promise<void> {
  const [server, worker] = await Promise.all([startServer('api', env), startServer('worker', env)]);
  running.push(server, worker);
  const url = `http://127.0.0.1:${String(server.ready['port'])}`;
  await driver.simulator.setNotificationUrls([url]);
  api = new ApiClient(url, { 'x-api-key': stack.organization.apiKey });
  opsUrl = `http://127.0.0.1:${String(worker.ready['opsPort'])}`;
}

async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((child) => child.stop()));
}

async function pay(amountInCents: number): Promise<PayoutView> {
  const { status, body, text } = await api.post<PayoutView>('/payouts', {
    amountInCents,
    currency: 'COP',
    rail: 'BRE_B',
    reference: newReference(),
    inlineCustomer: CUSTOMER,
    breb: { keyString: '@TESTOK' },
  });
  if (status !== 201) throw new Error(`POST /payouts: ${status} ${text}`);
  return body;
}

async function waitFor(id: string, status: string): Promise<void> {
  await until(`${id} is ${status}`, async () => {
    const { body } = await api.get<PayoutView>(`/payouts/${id}`);
    return body.status === status;
  });
}

const command = (...args: readonly string[]) => runOperatorCommand(settings, ...args);
const reconcile = (...more: readonly string[]) =>
  command('rails', 'reconcile-after-restore', '--since', restoredTo, '--json', ...more);

/** Copies the database while nothing runs, continues on the original, and then goes back to the copy: a restore. */
beforeAll(async () => {
  stack = await startStack({ workers: 1 });
  driver = new PayoutDriver(stack);
  await driver.fund();
  await stack.command('rails', 'pause', '--rail', 'BRE_B', '--reason', 'test');
  const [worker] = stack.workers;
  if (!worker) throw new Error('no worker');
  await until('the worker knows the pause', async () => (await readMetric(worker, 'caudal_rail_pauses')) > 0);
  unsent = await driver.create({ amountInCents: 55_000 });
  await Promise.all([...stack.apis, ...stack.workers].map((child) => child.stop()));
  // PostgreSQL may not have ended the sessions of the stopped processes yet.
  await until('the database is copied', async () => {
    await asAdmin(`create database ${copyName()} template ${stack.database.name} owner caudal_owner`);
    return true;
  });
  restoredTo = new Date().toISOString();
  await stack.command('rails', 'resume', '--rail', 'BRE_B');
  await startOn({ ...stack.settings, CAUDAL_PORT: '0' });
  await waitFor(unsent.id, 'CONFIRMED');
  const { id } = await pay(LOST_AMOUNT);
  await waitFor(id, 'CONFIRMED');
  const [row] = await stack.database.query<{ end_to_end_id: string }>(
    'select end_to_end_id from caudal.payouts where id = $1',
    [id],
  );
  lost = { id, endToEndId: row?.end_to_end_id ?? '' };
  await stopAll();
  const databaseUrl = stack.database.ownerUrl.replace(stack.database.name, copyName());
  settings = { ...stack.settings, CAUDAL_PORT: '0', DATABASE_URL: databaseUrl };
  await command('rails', 'resume', '--rail', 'BRE_B');
  await startOn(settings);
});
afterAll(async () => {
  await stopAll();
  await asAdmin(`drop database if exists ${copyName()} with (force)`);
  await stack?.stop();
});

describe('a restored database', () => {
  let repeated: PayoutView;

  it('sends nothing, rejects payins, accepts payouts and stays ready', async () => {
    repeated = await pay(LOST_AMOUNT);
    const payin = await api.post<{ code: string }>('/payins', brebPayin());
    expect(payin).toMatchObject({ status: 503, body: { code: 'rail_paused' } });
    expect(await readMetric({ opsUrl }, 'caudal_sending_paused_after_restore')).toBe(1);
    expect((await fetch(`${opsUrl}/readyz`)).status).toBe(200);
    const attempts = await query('select from caudal.payout_attempts');
    expect(attempts).toEqual([]);
  });

  it('is the first finding of doctor', async () => {
    const { code, stdout } = await command('doctor', '--json');
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string }[] };
    expect(code).toBe(1);
    expect(checks[0]).toMatchObject({ name: 'sending', status: 'fail' });
  });

  it('cannot be resumed by resuming the rails', async () => {
    await command('rails', 'pause', '--rail', 'BRE_B', '--reason', 'test');
    await command('rails', 'resume', '--rail', 'BRE_B');
    expect(await readMetric({ opsUrl }, 'caudal_sending_paused_after_restore')).toBe(1);
  });

  it('is compared without a change in a dry run', async () => {
    const { code, stdout } = await reconcile('--dry-run');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      resumed: false,
      differences: [
        { kind: 'payout_executed', reference: unsent.endToEndId, resourceId: unsent.id, listed: false },
        { kind: 'unknown_order', reference: lost.endToEndId, amountInCents: LOST_AMOUNT, listed: true },
      ],
    });
    expect(await query('select from caudal.restored_orders')).toEqual([]);
    expect(await readMetric({ opsUrl }, 'caudal_sending_paused_after_restore')).toBe(1);
  });

  it('gets the outcomes of the rail, once each, and then sends again', async () => {
    const { code, stdout } = await reconcile();
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ resumed: true, ledger: 'consistent' });
    await waitFor(unsent.id, 'CONFIRMED');
    const events = await query('select event from caudal.events where resource_id = $1', [unsent.id]);
    expect(events).toEqual([{ event: 'payout.confirmed' }]);
    const other = await pay(33_000);
    await waitFor(other.id, 'CONFIRMED');
    const executions = await driver.simulator.executions();
    expect(executions.filter(({ endToEndId }) => endToEndId === unsent.endToEndId)).toHaveLength(1);
  });

  it('holds a payout that may repeat an order which only the rail has, until an operator decides', async () => {
    expect((await api.get<PayoutView>(`/payouts/${repeated.id}`)).body.status).toBe('PROCESSING');
    const { stdout } = await command('restored', 'list', '--json');
    expect(JSON.parse(stdout)).toMatchObject([
      { endToEndId: lost.endToEndId, railStatus: 'settled', heldPayouts: [repeated.id] },
    ]);
    const resolved = await command(
      'restored',
      'resolve',
      repeated.id,
      '--as',
      'repeat',
      '--note',
      'the merchant confirmed it',
    );
    expect(resolved).toMatchObject({ code: 0, stderr: '' });
    await waitFor(repeated.id, 'CANCELED');
    expect((await driver.simulator.executions()).length).toBe(3);
    // Deposit, less the three executions: the lost one was charged.
    const { body } = await api.get<{ availableInCents: number; heldInCents: number }>('/balance');
    expect(body).toMatchObject({
      availableInCents: 100_000_000 - 55_000 - LOST_AMOUNT - 33_000,
      heldInCents: 0,
    });
    expect((await command('ledger', 'verify')).code).toBe(0);
  });

  it('stays as it is when the comparison is repeated', async () => {
    const { code, stdout } = await reconcile();
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ resumed: true, ledger: 'consistent' });
    const [row] = await query<{ count: number }>(
      "select count(*)::int as count from caudal.anomalies where kind = 'unmatched'",
    );
    expect(row?.count).toBe(1);
  });
});
