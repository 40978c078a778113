import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deposit } from '../../src/flows/ledger/deposit.ts';
import { verifyLedger } from '../../src/flows/ledger/verify-ledger.ts';
import { cents } from '../../src/kit/money.ts';
import type { BrokenRow } from '../../src/ledger/broken-row.store.ts';
import type { Account, CauseKind } from '../../src/ledger/transfer.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../src/organizations/organization.ts';
import { type Books, openBooks } from './books.ts';

const TABLES = [
  'ledger_balances',
  'ledger_transfers',
  'ledger_causes',
  'anomalies',
  'payouts',
  'payout_executions',
];

type Status = 'PROCESSING' | 'CONFIRMED' | 'DECLINED' | 'CANCELED';

interface Wanted {
  readonly amount: number;
  readonly status: Status;
  readonly errorCode?: string;
  readonly attempts?: number;
  /** It gives the money of this anomaly back. */
  readonly anomaly?: string;
}

let books: Books;
let shop: string;
/** Ids, by what they are. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  books = await openBooks();
  [shop = ''] = await books.organizations(1);
  await deposit(books.caudal.deps, {
    organizationId: shop,
    amount: cents(10_000),
    reference: 'bank 1',
    operator: 'test',
  });
  ids['CONFIRMED'] = await payout({ amount: 1000, status: 'CONFIRMED' });
  ids['ALSO_CONFIRMED'] = await payout({ amount: 1000, status: 'CONFIRMED' });
  ids['WAITING'] = await payout({ amount: 700, status: 'PROCESSING' });
  ids['REJECTED'] = await payout({ amount: 300, status: 'DECLINED', errorCode: 'KEY_INVALID' });
  ids['CANCELED'] = await payout({ amount: 200, status: 'CANCELED', attempts: 0 });
  ids['UNFUNDED'] = await payout({
    amount: 90_000,
    status: 'DECLINED',
    errorCode: 'INSUFFICIENT_FUNDS',
    attempts: 0,
  });
  // The rail's word, not ours: this one was set aside and released.
  ids['REFUSED'] = await payout({ amount: 150, status: 'DECLINED', errorCode: 'INSUFFICIENT_FUNDS' });
  ids['RETURNED_MONEY'] = await anomaly('paid_late', 77);
  ids['RETURNED'] = await payout({ amount: 77, status: 'CONFIRMED', anomaly: ids['RETURNED_MONEY'] });
  ids['RETURNING_MONEY'] = await anomaly('paid_late', 55);
  ids['RETURNING'] = await payout({ amount: 55, status: 'PROCESSING', anomaly: ids['RETURNING_MONEY'] });
  ids['SENT_LATE'] = await anomaly('sent_late', -40);
  await books.database.query('create schema kept');
  for (const table of TABLES)
    await books.database.query(`create table kept.${table} as select * from caudal.${table}`);
});
afterAll(async () => {
  await books?.close();
});
afterEach(async () => {
  const restore = TABLES.map(
    (table) => `delete from caudal.${table}; insert into caudal.${table} select * from kept.${table};`,
  );
  await books.database.query(restore.join('\n'));
});

const INSERT = `
  insert into caudal.payouts (organization_id, id, amount_in_cents, currency, rail, status, error_code, reference, receiver,
    receiver_index, end_to_end_id, anomaly_id, anomaly_organization_id, execution_id, created_at, updated_at, result_at,
    rail_task, rail_due_at, attempts, first_sent_at, last_sent_at)
  select $1::uuid, $2::uuid, $3, 'COP', 'BRE_B', $4, $5, $2::text, '', decode(repeat('00', 16), 'hex'), $2::text, $6::uuid,
    case when $6::uuid is not null then $7::uuid end, case when $4 = 'CONFIRMED' then 'e-' || $2::text end, now(), now(),
    case when $4 <> 'PROCESSING' then now() end, case when $4 = 'PROCESSING' then 'ask' end,
    case when $4 = 'PROCESSING' then now() end, $8::smallint, case when $8::smallint > 0 then now() end,
    case when $8::smallint > 0 then now() end`;

/** A payout with the transfers that belong to it. */
async function payout(wanted: Wanted): Promise<string> {
  const id = books.newId();
  const { amount, status, errorCode = null, attempts = 1, anomaly: of = null } = wanted;
  await books.database.query(INSERT, [
    of === null ? shop : OPERATOR_ORGANIZATION_ID,
    id,
    amount,
    status,
    errorCode,
    of,
    shop,
    attempts,
  ]);
  if (status === 'CONFIRMED')
    await books.database.query(
      `insert into caudal.payout_executions (rail, execution_id, organization_id, payout_id)
       select rail, execution_id, organization_id, id from caudal.payouts where id = $1`,
      [id],
    );
  const move = (kind: CauseKind, debit: Account, credit: Account) =>
    books.post({ organizationId: shop, debit, credit, amount, cause: { kind, id }, resourceId: id });
  if (of !== null) {
    await books.database.query(
      `update caudal.anomalies set resolved_at = now(), resolution = 'return', resolved_by = 'test', return_payout_id = $2
       where id = $1`,
      [of, id],
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

/** With its money in suspense; below zero, owed by it. */
async function anomaly(kind: 'paid_late' | 'sent_late', amount: number): Promise<string> {
  const id = books.newId();
  await books.database.query(
    `insert into caudal.anomalies (organization_id, id, rail, kind, reference, amount_in_cents, noticed_at, once)
     values ($1, $2, 'BRE_B', $3, 'r', $4, caudal.now(), $5)`,
    [shop, id, kind, amount, id],
  );
  const came = amount > 0;
  await books.post({
    organizationId: shop,
    debit: came ? 'clearing_bre_b' : 'suspense',
    credit: came ? 'suspense' : 'clearing_bre_b',
    amount: Math.abs(amount),
    cause: { kind: came ? 'payment' : 'execution', id: `BRE_B:${id}` },
    resourceId: id,
  });
  return id;
}

/** Damages the books as nobody but a superuser can. `$WAITING` and the like stand for ids. */
async function damage(text: string): Promise<void> {
  await books.database.query(
    text
      .replaceAll('$SHOP', `'${shop}'`)
      .replaceAll('$FRESH', `'${books.newId()}'`)
      .replaceAll(/\$([A-Z_]+)/g, (_, name: string) => `'${ids[name]}'`),
  );
}

const brokenNow = async () => (await verifyLedger(books.caudal.deps)).broken;
const transfer = (cause: string, id: string) => `cause_kind = '${cause}' and cause_id = $${id}`;
const another = (cause: string, of: string, changes: Readonly<Record<string, string>>) => {
  const columns =
    'organization_id, id, debit_account, credit_account, amount_in_cents, cause_kind, cause_id, resource_id, at';
  const values = columns.split(', ').map((column) => ({ id: '$FRESH', ...changes })[column] ?? column);
  return `insert into caudal.ledger_transfers (${columns}) select ${values.join(', ')} from caudal.ledger_transfers where ${transfer(cause, of)}`;
};

describe('ledger verify, of payouts', () => {
  it('finds nothing wrong with sound books: sent, waiting, released, canceled, never covered, returned and returning', async () => {
    expect(await brokenNow()).toEqual([]);
    expect(await books.amountsOf(shop)).toEqual([0, 10_000 - 1000 - 1000 - 700, 700]);
  });

  it.each<{ what: string; sql: string; named: () => Partial<BrokenRow> }>([
    {
      what: 'held money of another amount than the payouts under way',
      sql: 'update caudal.payouts set amount_in_cents = 699 where id = $WAITING',
      named: () => ({
        table: 'ledger_balances',
        id: 'held',
        expected: '699 of payouts under way',
        found: '700',
      }),
    },
    {
      what: 'held money that no payout waits for',
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
      what: 'a payout under way of an organization without the account',
      sql: `delete from caudal.ledger_balances where organization_id = $SHOP and account = 'held'`,
      named: () => ({ id: 'held', expected: '700 of payouts under way', found: 'no row' }),
    },
    {
      what: 'a confirmed payout whose money never left',
      sql: `delete from caudal.ledger_transfers where ${transfer('payout', 'CONFIRMED')}`,
      named: () => ({
        table: 'payouts',
        id: ids['CONFIRMED'] ?? '',
        expected: 'payout of 1000 from held to clearing_bre_b',
        found: 'none',
      }),
    },
    {
      what: 'a confirmed payout that was never set aside',
      sql: `delete from caudal.ledger_transfers where ${transfer('payout_hold', 'CONFIRMED')}`,
      named: () => ({
        table: 'payouts',
        id: ids['CONFIRMED'] ?? '',
        expected: 'payout_hold of 1000 from available to held',
        found: 'none',
      }),
    },
    {
      what: 'money that was sent and released',
      sql: another('payout', 'CONFIRMED', { cause_kind: "'payout_release'", credit_account: "'available'" }),
      named: () => ({
        id: ids['CONFIRMED'] ?? '',
        expected: 'no payout_release',
        found: 'payout_release of 1000 from held to available',
      }),
    },
    {
      what: 'money that was sent for a payout that ended without',
      sql: another('payout_release', 'REJECTED', {
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
      what: 'another amount sent than the payout says',
      sql: `update caudal.ledger_transfers set amount_in_cents = 999 where ${transfer('payout', 'CONFIRMED')}`,
      named: () => ({
        id: ids['CONFIRMED'] ?? '',
        expected: 'payout of 1000 from held to clearing_bre_b',
        found: 'payout of 999 from held to clearing_bre_b',
      }),
    },
    {
      what: 'money sent past what was set aside',
      sql: `update caudal.ledger_transfers set debit_account = 'available' where ${transfer('payout', 'CONFIRMED')}`,
      named: () => ({
        id: ids['CONFIRMED'] ?? '',
        found: 'payout of 1000 from available to clearing_bre_b',
      }),
    },
    {
      what: 'money sent by the other rail',
      sql: `update caudal.ledger_transfers set credit_account = 'clearing_pse' where ${transfer('payout', 'CONFIRMED')}`,
      named: () => ({ id: ids['CONFIRMED'] ?? '', found: 'payout of 1000 from held to clearing_pse' }),
    },
    ...['REJECTED', 'CANCELED', 'REFUSED'].map((which) => ({
      what: `a ${which.toLowerCase()} payout whose money was not released`,
      sql: `delete from caudal.ledger_transfers where ${transfer('payout_release', which)}`,
      named: () => ({
        id: ids[which] ?? '',
        expected: expect.stringMatching(/^payout_release of \d+ from held to available$/) as string,
        found: 'none',
      }),
    })),
    {
      what: 'a payout that the balance did not cover and that was set aside all the same',
      sql: another('payout_hold', 'WAITING', { cause_id: '$UNFUNDED' }),
      named: () => ({
        id: ids['UNFUNDED'] ?? '',
        expected: 'no payout_hold',
        found: 'payout_hold of 700 from available to held',
      }),
    },
    {
      what: 'money set aside for a payout that is gone',
      sql: 'delete from caudal.payouts where id = $WAITING',
      named: () => ({ table: 'payouts', id: ids['WAITING'] ?? '', expected: 'no payout_hold' }),
    },
    {
      what: 'a return that left by another organization’s books',
      sql: `update caudal.ledger_transfers set organization_id = '${OPERATOR_ORGANIZATION_ID}' where ${transfer('payout', 'RETURNED')}`,
      named: () => ({
        id: ids['RETURNED'] ?? '',
        expected: 'payout of 77 from suspense to clearing_bre_b',
        found: 'none',
      }),
    },
    {
      what: 'a return that was taken from the merchant',
      sql: `update caudal.ledger_transfers set debit_account = 'held' where ${transfer('payout', 'RETURNED')}`,
      named: () => ({ id: ids['RETURNED'] ?? '', found: 'payout of 77 from held to clearing_bre_b' }),
    },
    {
      what: 'a confirmed return whose money is still in suspense',
      sql: `delete from caudal.ledger_transfers where ${transfer('payout', 'RETURNED')}`,
      named: () => ({
        table: 'anomalies',
        id: 'suspense',
        expected: '92 in suspense',
        found: '15 of open anomalies',
      }),
    },
    {
      what: 'a declined return whose anomaly was not opened again',
      sql: `update caudal.payouts set status = 'DECLINED', error_code = 'KEY_INVALID', result_at = now(), rail_task = null,
        rail_due_at = null where id = $RETURNING`,
      named: () => ({ id: 'suspense', expected: '15 in suspense', found: '-40 of open anomalies' }),
    },
    {
      what: 'an anomaly that is open though its money was returned',
      sql: `update caudal.anomalies set resolved_at = null, resolution = null, resolved_by = null, return_payout_id = null
        where id = $RETURNED_MONEY`,
      named: () => ({ id: 'suspense', expected: '15 in suspense', found: '92 of open anomalies' }),
    },
    {
      what: 'money that left and was put away without anybody bearing it',
      sql: `update caudal.anomalies set resolved_at = now(), resolution = 'write_off', resolved_by = 'test' where id = $SENT_LATE`,
      named: () => ({ id: 'suspense', expected: '15 in suspense', found: '55 of open anomalies' }),
    },
    {
      what: 'money that left without an anomaly that tells of it',
      sql: 'delete from caudal.anomalies where id = $SENT_LATE',
      named: () => ({ id: 'suspense', expected: '15 in suspense', found: '55 of open anomalies' }),
    },
    {
      what: 'two payouts that one execution confirmed',
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
      what: 'a confirmed payout whose execution is not recorded',
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
      what: 'money that left by an execution that confirmed a payout',
      sql: `update caudal.anomalies set execution_id = 'e-' || $CONFIRMED where id = $SENT_LATE`,
      named: () => ({
        table: 'anomalies',
        id: ids['SENT_LATE'] ?? '',
        found: `accounted to payout ${ids['CONFIRMED']}`,
      }),
    },
  ])('names $what', async ({ sql, named }) => {
    await damage(sql);
    expect(await brokenNow()).toContainEqual(expect.objectContaining({ organizationId: shop, ...named() }));
  });
});
