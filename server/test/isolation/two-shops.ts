import { deposit } from '../../src/flows/ledger/deposit.system.ts';
import { SYSTEM } from '../../src/kit/actor.ts';
import { uuidv7 } from '../../src/kit/ids.ts';
import { cents } from '../../src/kit/money.ts';
import { post } from '../../src/ledger/ledger.store.ts';
import type { Transfer } from '../../src/ledger/transfer.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';

/** Ids of the rows of a shop, by what they are. */
type Ids = Readonly<Record<(typeof NAMES)[number], string>>;
const NAMES = [
  'payin',
  'psePayin',
  'openedPayin',
  'paidPayin',
  'payout',
  'sentPayout',
  'canceledPayout',
  'link',
  'anomaly',
  'acceptedAnomaly',
  'event',
  'endpoint',
  'lookup',
  'notice',
  'settlement',
  'email',
  'action',
  'unused',
] as const;

export interface ProbedShop {
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly ids: Ids;
}

export interface TwoShops {
  readonly database: TestDatabase;
  readonly caudal: InProcess;
  readonly a: ProbedShop;
  readonly b: ProbedShop;
  newId(): string;
  close(): Promise<void>;
}

/** Two organizations, each with rows in every tenant table. */
export async function openTwoShops(): Promise<TwoShops> {
  const database = await cloneDatabase();
  const caudal = await composeInProcess(settingsFor(database.ownerUrl));
  const newId = () => uuidv7(caudal.deps.clock.now(), caudal.deps.cell);
  const organizations = await caudal.newOrganizations(2);
  const shops: ProbedShop[] = [];
  for (const [index, { organization }] of organizations.entries()) {
    const ids = Object.fromEntries(NAMES.map((name) => [name, newId()])) as Ids;
    const shop = { organizationId: organization.id, organizationNumber: organization.number, ids };
    shops.push(shop);
    await database.query(seed(shop, index === 0 ? 'A' : 'B'));
    await postMoney(caudal, shop, newId);
  }
  const [a, b] = shops as [ProbedShop, ProbedShop];
  return {
    database,
    caudal,
    a,
    b,
    newId,
    close: async () => {
      await caudal.close();
      await database.drop();
    },
  };
}

async function postMoney(
  caudal: InProcess,
  { organizationId, ids }: ProbedShop,
  newId: () => string,
): Promise<void> {
  await deposit(caudal.deps, {
    organizationId,
    amount: cents(1_000_000),
    reference: 'bank 1',
    operator: 'test',
  });
  const hold = (payout: string): Transfer => ({
    id: newId(),
    organizationId,
    debit: 'available',
    credit: 'held',
    amount: cents(1000),
    cause: { kind: 'payout_hold', id: payout },
    resourceId: payout,
    createdBy: SYSTEM,
  });
  await caudal.deps.system.transaction('apply notices', (tx) =>
    post(tx, [hold(ids.payout), hold(ids.sentPayout), hold(ids.canceledPayout)]),
  );
}

const BYTES = "decode(repeat('00', 16), 'hex')";

/** SQL that inserts rows of a shop as the superuser. `name` makes values distinct that are unique for all shops. */
function seed({ organizationId, organizationNumber, ids }: ProbedShop, name: 'A' | 'B'): string {
  const org = `'${organizationId}'`;
  const id = Object.fromEntries(NAMES.map((each) => [each, `'${ids[each]}'`])) as Ids;
  const insert = (table: string, values: Readonly<Record<string, string | number>>) =>
    `insert into caudal.${table} (${Object.keys(values).join(', ')}) values (${Object.values(values).join(', ')});`;
  const times = { created_at: 'caudal.now()', updated_at: 'caudal.now()' };
  const payin = {
    organization_id: org,
    amount_in_cents: 1000,
    currency: "'COP'",
    ...times,
    expires_at: "caudal.now() + interval '1 hour'",
  };
  const breb = { rail: "'BRE_B'", breb_key_type: "'SINGLE_USE'" };
  const pse = { rail: "'PSE'", pse_bank: "'1007'", pse_person_type: "'INDIVIDUAL'" };
  const payout = {
    organization_id: org,
    amount_in_cents: 1000,
    currency: "'COP'",
    rail: "'BRE_B'",
    receiver: BYTES,
    receiver_index: BYTES,
    ...times,
  };
  const sending = { rail_task: "'send'", rail_due_at: 'caudal.now()' };
  const ended = { result_at: 'caudal.now()' };
  const anomaly = {
    organization_id: org,
    payin_id: id.payin,
    rail: "'BRE_B'",
    kind: "'overpaid'",
    reference: "'r'",
    amount_in_cents: 500,
    noticed_at: 'caudal.now()',
  };
  const event = { organization_id: org, event: "'payin.confirmed'", resource_id: id.paidPayin };
  const delivery = { organization_id: org, endpoint_id: id.endpoint, event_id: id.event };
  return [
    insert('organization_logos', {
      organization_id: org,
      id: `repeat('${name}', 22)`,
      preview: BYTES,
      header: BYTES,
      icon: BYTES,
    }),
    insert('api_keys', {
      id: `repeat('${name}', 16)`,
      organization_id: org,
      name: "'key'",
      mac: "decode(repeat('00', 32), 'hex')",
      scopes: "'{}'",
    }),
    insert('access_tokens', {
      id: `repeat('${name}', 16)`,
      organization_id: org,
      api_key_id: `repeat('${name}', 16)`,
      mac: "decode(repeat('00', 32), 'hex')",
      scopes: "'{}'",
      expires_at: 'caudal.now()',
    }),
    insert('api_key_networks', {
      organization_id: org,
      api_key_id: `repeat('${name}', 16)`,
      network: "'192.0.2.0/24'",
      first_seen_at: 'caudal.now()',
      last_seen_at: 'caudal.now()',
      allowed: 'true',
    }),
    insert('merchant_actions', {
      organization_id: org,
      id: id.action,
      created_by: `'key:' || repeat('${name}', 16)`,
      action: "'payout.cancel'",
      resource_id: id.canceledPayout,
      at: 'caudal.now()',
    }),
    insert('payout_limits', { organization_id: org, api_key_id: "''", day_count: 100 }),
    insert('payout_usage', {
      organization_id: org,
      api_key_id: "''",
      day: "(caudal.now() at time zone 'America/Bogota')::date",
      payouts: 2,
      amount_in_cents: 2000,
    }),
    insert('key_rotations', { organization_id: org, number: 2, due_at: 'clock_timestamp()' }),
    insert('person_holds', {
      organization_id: org,
      id: id.unused,
      person: BYTES,
      identifier: BYTES,
      reason: "'test'",
      placed_by: "'test'",
    }),
    insert('credential_changes', { organization_id: org }),
    insert('rail_pauses', { rail: "'PSE'", organization_id: org, reason: "'test'", paused_by: "'test'" }),
    insert('operator_actions', { organization_id: org, operator: "'test'", action: "'org.create'" }),
    insert('idempotency_keys', {
      organization_id: org,
      key_hash: BYTES,
      body_hash: BYTES,
      resource_id: id.payin,
      created_at: 'caudal.now()',
    }),
    insert('resource_references', {
      organization_id: org,
      kind: "'payin'",
      reference: `'${name}'`,
      resource_id: id.payin,
    }),
    insert('payins', {
      ...payin,
      ...breb,
      id: id.payin,
      reference: "'1'",
      status: "'PROCESSING'",
      breb_key: `'@${name}1'`,
      rail_task: "'poll'",
      rail_due_at: 'caudal.now()',
    }),
    insert('payins', {
      ...payin,
      ...pse,
      id: id.psePayin,
      reference: "'2'",
      status: "'PENDING'",
      rail_task: "'close'",
      rail_due_at: 'caudal.now()',
    }),
    insert('payins', {
      ...payin,
      ...pse,
      id: id.openedPayin,
      reference: "'3'",
      status: "'PROCESSING'",
      customer: BYTES,
      pse_url: "'https://bank.example/1'",
      pse_url_at: 'caudal.now()',
      rail_task: "'poll'",
      rail_due_at: 'caudal.now()',
    }),
    insert('payins', {
      ...payin,
      ...breb,
      ...ended,
      id: id.paidPayin,
      reference: "'4'",
      status: "'CONFIRMED'",
      breb_key: `'@${name}2'`,
      confirmed_amount_in_cents: 1000,
      settlement_status: "'PENDING_SETTLEMENT'",
    }),
    insert('payin_history', {
      organization_id: org,
      payin_id: id.payin,
      from_status: "'NONE'",
      to_status: "'PROCESSING'",
      cause: "'created'",
      at: 'caudal.now()',
    }),
    insert('breb_keys', {
      key: `'@${name}1'`,
      organization_id: org,
      payin_id: id.payin,
      minted_at: 'caudal.now()',
      register_due_at: 'caudal.now()',
    }),
    insert('payer_authorizations', {
      organization_id: org,
      payin_id: id.payin,
      text_id: "'t'",
      at: 'caudal.now()',
      evidence: BYTES,
    }),
    insert('rail_notices', {
      organization_id: org,
      id: id.notice,
      rail: "'PSE'",
      reference: `'${organizationNumber}'`,
      kind: "'refused'",
      error_code: "'BANK_REJECTED'",
      received_at: 'caudal.now()',
    }),
    insert('payouts', {
      ...payout,
      ...sending,
      id: id.payout,
      reference: "'1'",
      end_to_end_id: id.payout,
      status: "'PROCESSING'",
    }),
    insert('payouts', {
      ...payout,
      id: id.sentPayout,
      reference: "'2'",
      end_to_end_id: id.sentPayout,
      status: "'PROCESSING'",
      rail_task: "'poll'",
      rail_due_at: 'caudal.now()',
      attempts: 1,
      first_sent_at: 'caudal.now()',
      last_sent_at: 'caudal.now()',
    }),
    insert('payouts', {
      ...payout,
      ...ended,
      id: id.canceledPayout,
      reference: "'3'",
      end_to_end_id: id.canceledPayout,
      status: "'CANCELED'",
    }),
    insert('payout_history', {
      organization_id: org,
      payout_id: id.payout,
      from_status: "'NONE'",
      to_status: "'PROCESSING'",
      cause: "'created'",
      at: 'caudal.now()',
    }),
    insert('payout_attempts', {
      organization_id: org,
      payout_id: id.sentPayout,
      number: 1,
      at: 'caudal.now()',
    }),
    insert('payout_executions', { rail: "'BRE_B'", execution_id: `'${name}'`, organization_id: org }),
    insert('restored_orders', {
      end_to_end_id: `'${name}'`,
      organization_id: org,
      amount_in_cents: 1,
      rail_status: "'processing'",
      ordered_at: 'caudal.now()',
      restored_to: 'caudal.now()',
    }),
    insert('breb_lookups', {
      organization_id: org,
      id: id.lookup,
      receiver_index: BYTES,
      resolution_id: "'r'",
      holder: BYTES,
      resolved_at: 'caudal.now()',
      expires_at: 'caudal.now()',
    }),
    insert('lookup_buckets', { organization_id: org, lookups: 5, misses: 5, filled_at: 'caudal.now()' }),
    insert('payment_links', {
      ...payin,
      id: id.link,
      reference: "'1'",
      callback_url: "'https://shop.example'",
      status: "'PENDING'",
      closes_at: "caudal.now() + interval '1 hour'",
      open_breb_payin_id: id.payin,
    }),
    insert('settlements', {
      organization_id: org,
      id: id.settlement,
      amount_in_cents: 1,
      payins: 1,
      at: 'caudal.now()',
    }),
    insert('anomalies', { ...anomaly, id: id.anomaly, once: "'1'" }),
    insert('anomalies', {
      ...anomaly,
      id: id.acceptedAnomaly,
      once: "'2'",
      accepted_at: 'caudal.now()',
      accepted_by: `repeat('${name}', 16)`,
    }),
    insert('events', {
      ...event,
      id: id.event,
      resource: "'payin'",
      payload: BYTES,
      created_at: 'caudal.now()',
    }),
    insert('final_events', { ...event, event_id: id.event }),
    insert('webhook_endpoints', {
      organization_id: org,
      id: id.endpoint,
      address: BYTES,
      secret: BYTES,
      status: "'ENABLED'",
      ...times,
    }),
    insert('webhook_queues', { organization_id: org, endpoint_id: id.endpoint }),
    insert('webhook_deliveries', {
      ...delivery,
      id: id.event,
      status: "'PENDING'",
      next_attempt_at: 'caudal.now()',
      give_up_at: 'caudal.now()',
      created_at: 'caudal.now()',
    }),
    insert('webhook_attempts', { ...delivery, number: 1, at: 'caudal.now()', duration_ms: 1 }),
    insert('receipts', {
      organization_id: org,
      payin_id: id.paidPayin,
      code: `repeat('${name}', 12)`,
      issued_at: 'caudal.now()',
    }),
    insert('receipt_emails', {
      organization_id: org,
      id: id.email,
      payin_id: id.paidPayin,
      language: "'es'",
      created_at: 'caudal.now()',
    }),
  ].join('\n');
}
