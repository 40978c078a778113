import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deposit } from '../../src/flows/ledger/deposit.system.ts';
import { verifyLedger } from '../../src/flows/ledger/verify-ledger.system.ts';
import { cents } from '../../src/kit/money.ts';
import type { BrokenRow } from '../../src/ledger/broken-row.store.ts';
import type { Account, CauseKind } from '../../src/ledger/transfer.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../src/organizations/organization.ts';
import { openTestLedger, type TestLedger } from './test-ledger.ts';

const TABLES = [
  'ledger_balances',
  'ledger_transfers',
  'ledger_causes',
  'anomalies',
  'payouts',
  'payout_executions',
];

type Status = 'PROCESSING' | 'CONFIRMED' | 'DECLINED' | 'CANCELED';

interface PayoutOptions {
  readonly amount: number;
  readonly status: Status;
  readonly errorCode?: string;
  readonly attempts?: number;
  /** The anomaly whose money it returns. */
  readonly anomaly?: string;
}

let ledger: TestLedger;
let shop: string;
/** IDs by role. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  ledger = await openTestLedger();
  [shop = ''] = await ledger.createOrganizations(1);
  await deposit(ledger.caudal.deps, {
    organizationId: shop,
    amount: cents(10_000),
    reference: 'bank 1',
    operator: 'test',
  });
  ids['CONFIRMED'] = await insertPayout({ amount: 1000, status: 'CONFIRMED' });
  ids['ALSO_CONFIRMED'] = await insertPayout({ amount: 1000, status: 'CONFIRMED' });
  ids['WAITING'] = await insertPayout({ amount: 700, status: 'PROCESSING' });
  ids['REJECTED'] = await insertPayout({ amount: 300, status: 'DECLINED', errorCode: 'KEY_INVALID' });
  ids['CANCELED'] = await insertPayout({ amount: 200, status: 'CANCELED', attempts: 0 });
  ids['UNFUNDED'] = await insertPayout({
    amount: 90_000,
    status: 'DECLINED',
    errorCode: 'INSUFFICIENT_FUNDS',
    attempts: 0,
  });
  // Declined by the rail, not by us: its money was held and released.
  ids['REFUSED'] = await insertPayout({ amount: 150, status: 'DECLINED', errorCode: 'INSUFFICIENT_FUNDS' });
  ids['RETURNED_MONEY'] = await insertAnomaly('paid_late', 77);
  ids['RETURNED'] = await insertPayout({ amount: 77, status: 'CONFIRMED', anomaly: ids['RETURNED_MONEY'] });
  ids['RETURNING_MONEY'] = await insertAnomaly('paid_late', 55);
  ids['RETURNING'] = await insertPayout({
    amount: 55,
    status: 'PROCESSING',
    anomaly: ids['RETURNING_MONEY'],
  });
  ids['SENT_LATE'] = await insertAnomaly('sent_late', -40);
  await ledger.database.query('create schema kept');
  for (const table of TABLES)
    await ledger.database.query(`create table kept.${table} as select * from caudal.${table}`);
});
afterAll(async () => {
  await ledger?.close();
});
afterEach(async () => {
  const restore = TABLES.map(
    (table) => `delete from caudal.${table}; insert into caudal.${table} select * from kept.${table};`,
  );
  await ledger.database.query(restore.join('\n'));
});

const INSERT = `
  insert into caudal.payouts (organization_id, id, amount_in_cents, currency, rail, status, error_code, reference, receiver,
    receiver_index, end_to_end_id, anomaly_id, anomaly_organization_id, execution_id, created_at, updated_at, result_at,
    rail_task, rail_due_at, attempts, first_sent_at, last_sent_at)
  select $1::uuid, $2::uuid, $3, 'COP', 'BRE_B', $4, $5, $2::text, '', decode(repeat('00', 16), 'hex'), $2::text, $6::uuid,
    case when $6::uuid is not null then $7::uuid end, case when $4 = 'CONFIRMED' then 'e-' || $2::text end, now(), now(),
    case when $4 <> 'PROCESSING' then now() end, case when $4 = 'PROCESSING' then 'poll' end,
    case when $4 = 'PROCESSING' then now() end, $8::smallint, case when $8::smallint > 0 then now() end,
    case when $8::smallint > 0 then now() end`;

/** Inserts a payout with its transfers. */
async function insertPayout(options: PayoutOptions): Promise<string> {
  const id = ledger.newId();
  const { amount, status, errorCode = null, attempts = 1, anomaly: returnedAnomaly = null } = options;
  await ledger.database.query(INSERT, [
    returnedAnomaly === null ? shop : OPERATOR_ORGANIZATION_ID,
    id,
    amount,
    status,
    errorCode,
    returnedAnomaly,
    shop,
    attempts,
  ]);
  if (status === 'CONFIRMED')
    await ledger.database.query(
      `insert into caudal.payout_executions (rail, execution_id, organization_id, payout_id)
       select rail, execution_id, organization_id, id from caudal.payouts where id = $1`,
      [id],
    );
  const move = (kind: CauseKind, debit: Account, credit: Account) =>
    ledger.post({ organizationId: shop, debit, credit, amount, cause: { kind, id }, resourceId: id });
  if (returnedAnomaly !== null) {
    await ledger.database.query(
      `update caudal.anomalies set resolved_at = now(), resolution = 'return', resolved_by = 'test', return_payout_id = $2
       where id = $1`,
      [returnedAnomaly, id],
    );
    if (status === 'CONFIRMED') await move('payout', 'suspense', 'clearing_bre_b');
    return id;
  }
  if (errorCode === 'INSUFFICIENT_FUNDS' && attempts === 0) return id;
  await move('payout_hold', 'available', 'held');
  if (status === 'CONFIRMED') await move('payout', 'held', 'clearing_bre_b');
  else if (status !== 'PROCESSING') await move('payout_release', 'held', 'available');
  return id;
}

/** Inserts an anomaly with money in suspense (positive) or owed by suspense (negative). */
async function insertAnomaly(kind: 'paid_late' | 'sent_late', amount: number): Promise<string> {
  const id = ledger.newId();
  await ledger.database.query(
    `insert into caudal.anomalies (organization_id, id, rail, kind, reference, amount_in_cents, noticed_at, once)
     values ($1, $2, 'BRE_B', $3, 'r', $4, caudal.now(), $5)`,
    [shop, id, kind, amount, id],
  );
  const incoming = amount > 0;
  await ledger.post({
    organizationId: shop,
    debit: incoming ? 'clearing_bre_b' : 'suspense',
    credit: incoming ? 'suspense' : 'clearing_bre_b',
    amount: Math.abs(amount),
    cause: { kind: incoming ? 'payment' : 'execution', id: `BRE_B:${id}` },
    resourceId: id,
  });
  return id;
}

/** Damages the ledger as only a superuser can. `$WAITING` and similar are placeholders for IDs. */
async function damage(text: string): Promise<void> {
  await ledger.database.query(
    text
      .replaceAll('$SHOP', `'${shop}'`)
      .replaceAll('$FRESH', `'${ledger.newId()}'`)
      .replaceAll(/\$([A-Z_]+)/g, (_, name: string) => `'${ids[name]}'`),
  );
}

const findInconsistencies = async () => (await verifyLedger(ledger.caudal.deps)).broken;
const causeCondition = (cause: string, id: string) => `cause_kind = '${cause}' and cause_id = $${id}`;
const insertCopy = (cause: string, of: string, changes: Readonly<Record<string, string>>) => {
  const columns =
    'organization_id, id, debit_account, credit_account, amount_in_cents, cause_kind, cause_id, resource_id, at';
  const values = columns.split(', ').map((column) => ({ id: '$FRESH', ...changes })[column] ?? column);
  return `insert into caudal.ledger_transfers (${columns}) select ${values.join(', ')} from caudal.ledger_transfers where ${causeCondition(cause, of)}`;
};

describe('ledger verify of payouts', () => {
  it('finds no inconsistency: sent, in progress, released, canceled, unfunded, returned and returning', async () => {
    expect(await findInconsistencies()).toEqual([]);
    expect(await ledger.readAmounts(shop)).toEqual([0, 10_000 - 1000 - 1000 - 700, 700]);
  });

  it.each<{ what: string; sql: string; named: () => Partial<BrokenRow> }>([
    {
      what: 'held money that differs from the payouts in progress',
      sql: 'update caudal.payouts set amount_in_cents = 699 where id = $WAITING',
      named: () => ({
        table: 'ledger_balances',
        id: 'held',
        expected: '699 of payouts under way',
        found: '700',
      }),
    },
    {
      what: 'held money without a payout in progress',
      sql: `update caudal.payouts set status = 'CANCELED', attempts = 0, first_sent_at = null, last_sent_at = null, result_at = now(),
        rail_task = null, rail_due_at = null where id = $WAITING`,
      named: () => ({
        table: 'ledger_balances',
        id: 'held',
        expected: '0 of payouts under way',
        found: '700',
      }),
    },
    {
      what: 'a payout in progress of an organization without the held account',
      sql: `delete from caudal.ledger_balances where organization_id = $SHOP and account = 'held'`,
      named: () => ({ id: 'held', expected: '700 of payouts under way', found: 'no row' }),
    },
    {
      what: 'a confirmed payout without its outgoing transfer',
      sql: `delete from caudal.ledger_transfers where ${causeCondition('payout', 'CONFIRMED')}`,
      named: () => ({
        table: 'payouts',
        id: ids['CONFIRMED'] ?? '',
        expected: 'payout of 1000 from held to clearing_bre_b',
        found: 'none',
      }),
    },
    {
      what: 'a confirmed payout without its hold',
      sql: `delete from caudal.ledger_transfers where ${causeCondition('payout_hold', 'CONFIRMED')}`,
      named: () => ({
        table: 'payouts',
        id: ids['CONFIRMED'] ?? '',
        expected: 'payout_hold of 1000 from available to held',
        found: 'none',
      }),
    },
    {
      what: 'money that was sent and released',
      sql: insertCopy('payout', 'CONFIRMED', {
        cause_kind: "'payout_release'",
        credit_account: "'available'",
      }),
      named: () => ({
        id: ids['CONFIRMED'] ?? '',
        expected: 'no payout_release',
        found: 'payout_release of 1000 from held to available',
      }),
    },
    {
      what: 'money sent for a payout that ended without money',
      sql: insertCopy('payout_release', 'REJECTED', {
        cause_kind: "'payout'",
        credit_account: "'clearing_bre_b'",
      }),
      named: () => ({
        id: ids['REJECTED'] ?? '',
        expected: 'no payout',
        found: 'payout of 300 from held to clearing_bre_b',
      }),
    },
    {
      what: 'a sent amount that differs from the payout',
      sql: `update caudal.ledger_transfers set amount_in_cents = 999 where ${causeCondition('payout', 'CONFIRMED')}`,
      named: () => ({
        id: ids['CONFIRMED'] ?? '',
        expected: 'payout of 1000 from held to clearing_bre_b',
        found: 'payout of 999 from held to clearing_bre_b',
      }),
    },
    {
      what: 'money sent from another account than held',
      sql: `update caudal.ledger_transfers set debit_account = 'available' where ${causeCondition('payout', 'CONFIRMED')}`,
      named: () => ({
        id: ids['CONFIRMED'] ?? '',
        found: 'payout of 1000 from available to clearing_bre_b',
      }),
    },
    {
      what: 'money sent through the other rail',
      sql: `update caudal.ledger_transfers set credit_account = 'clearing_pse' where ${causeCondition('payout', 'CONFIRMED')}`,
      named: () => ({ id: ids['CONFIRMED'] ?? '', found: 'payout of 1000 from held to clearing_pse' }),
    },
    ...['REJECTED', 'CANCELED', 'REFUSED'].map((which) => ({
      what: `a ${which.toLowerCase()} payout without its release`,
      sql: `delete from caudal.ledger_transfers where ${causeCondition('payout_release', which)}`,
      named: () => ({
        id: ids[which] ?? '',
        expected: expect.stringMatching(/^payout_release of \d+ from held to available$/) as string,
        found: 'none',
      }),
    })),
    {
      what: 'an unfunded payout with a hold',
      sql: insertCopy('payout_hold', 'WAITING', { cause_id: '$UNFUNDED' }),
      named: () => ({
        id: ids['UNFUNDED'] ?? '',
        expected: 'no payout_hold',
        found: 'payout_hold of 700 from available to held',
      }),
    },
    {
      what: 'a hold whose payout is missing',
      sql: 'delete from caudal.payouts where id = $WAITING',
      named: () => ({ table: 'payouts', id: ids['WAITING'] ?? '', expected: 'no payout_hold' }),
    },
    {
      what: 'a return posted for another organization',
      sql: `update caudal.ledger_transfers set organization_id = '${OPERATOR_ORGANIZATION_ID}' where ${causeCondition('payout', 'RETURNED')}`,
      named: () => ({
        id: ids['RETURNED'] ?? '',
        expected: 'payout of 77 from suspense to clearing_bre_b',
        found: 'none',
      }),
    },
    {
      what: 'a return taken from the merchant',
      sql: `update caudal.ledger_transfers set debit_account = 'held' where ${causeCondition('payout', 'RETURNED')}`,
      named: () => ({ id: ids['RETURNED'] ?? '', found: 'payout of 77 from held to clearing_bre_b' }),
    },
    {
      what: 'a confirmed return whose money is still in suspense',
      sql: `delete from caudal.ledger_transfers where ${causeCondition('payout', 'RETURNED')}`,
      named: () => ({
        table: 'anomalies',
        id: 'suspense',
        expected: '92 in suspense',
        found: '15 of open anomalies',
      }),
    },
    {
      what: 'a declined return whose anomaly was not reopened',
      sql: `update caudal.payouts set status = 'DECLINED', error_code = 'KEY_INVALID', result_at = now(), rail_task = null,
        rail_due_at = null where id = $RETURNING`,
      named: () => ({ id: 'suspense', expected: '15 in suspense', found: '-40 of open anomalies' }),
    },
    {
      what: 'an open anomaly whose money was returned',
      sql: `update caudal.anomalies set resolved_at = null, resolution = null, resolved_by = null, return_payout_id = null
        where id = $RETURNED_MONEY`,
      named: () => ({ id: 'suspense', expected: '15 in suspense', found: '92 of open anomalies' }),
    },
    {
      what: 'an outgoing payment that was resolved without a transfer',
      sql: `update caudal.anomalies set resolved_at = now(), resolution = 'write_off', resolved_by = 'test' where id = $SENT_LATE`,
      named: () => ({ id: 'suspense', expected: '15 in suspense', found: '55 of open anomalies' }),
    },
    {
      what: 'an outgoing payment without an anomaly',
      sql: 'delete from caudal.anomalies where id = $SENT_LATE',
      named: () => ({ id: 'suspense', expected: '15 in suspense', found: '55 of open anomalies' }),
    },
    {
      what: 'two payouts confirmed by one execution',
      sql: `delete from caudal.payout_executions where payout_id = $ALSO_CONFIRMED;
        update caudal.payouts set execution_id = 'e-' || $CONFIRMED where id = $ALSO_CONFIRMED`,
      named: () => ({
        table: 'payouts',
        id: ids['ALSO_CONFIRMED'] ?? '',
        expected: `execution e-${ids['CONFIRMED']} of its own`,
        found: `accounted to payout ${ids['CONFIRMED']}`,
      }),
    },
    {
      what: 'a confirmed payout without a recorded execution',
      sql: 'delete from caudal.payout_executions where payout_id = $CONFIRMED',
      named: () => ({ table: 'payouts', id: ids['CONFIRMED'] ?? '', found: 'not recorded' }),
    },
    {
      what: 'a recorded execution that confirmed no payout',
      sql: 'update caudal.payouts set execution_id = null where id = $CONFIRMED',
      named: () => ({
        table: 'payout_executions',
        id: `e-${ids['CONFIRMED']}`,
        expected: 'a confirmed payout or an anomaly with its money',
        found: 'none',
      }),
    },
    {
      what: 'an outgoing anomaly with the execution of a confirmed payout',
      sql: `update caudal.anomalies set execution_id = 'e-' || $CONFIRMED where id = $SENT_LATE`,
      named: () => ({
        table: 'anomalies',
        id: ids['SENT_LATE'] ?? '',
        found: `accounted to payout ${ids['CONFIRMED']}`,
      }),
    },
  ])('reports $what', async ({ sql, named }) => {
    await damage(sql);
    expect(await findInconsistencies()).toContainEqual(
      expect.objectContaining({ organizationId: shop, ...named() }),
    );
  });
});
