import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deposit } from '../../src/flows/ledger/deposit.system.ts';
import { rollSubtotals } from '../../src/flows/ledger/roll-subtotals.system.ts';
import { settleBalances } from '../../src/flows/ledger/settle-balances.system.ts';
import { verifyLedger } from '../../src/flows/ledger/verify-ledger.system.ts';
import { cents } from '../../src/kit/money.ts';
import type { BrokenRow } from '../../src/ledger/broken-row.store.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../src/organizations/organization.ts';
import { settingsFor } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { until } from '../harness/until.ts';
import { openTestLedger, type TestLedger } from './test-ledger.ts';

const TABLES = [
  'ledger_balances',
  'ledger_transfers',
  'ledger_causes',
  'ledger_subtotals',
  'settlements',
  'anomalies',
  'payins',
];

let ledger: TestLedger;
/** The organization whose ledger the tests damage. */
let shop: {
  readonly id: string;
  readonly settled: string;
  readonly waiting: string;
  readonly settlement: string;
};

beforeAll(async () => {
  ledger = await openTestLedger();
  const [id = '', other = ''] = await ledger.createOrganizations(2);
  const [settled = ''] = await ledger.insertConfirmed([
    { organizationId: id, amount: 1000 },
    { organizationId: id, amount: 500, rail: 'PSE' },
    { organizationId: other, amount: 1 },
  ]);
  await settleBalances(ledger.caudal.deps);
  await deposit(ledger.caudal.deps, {
    organizationId: id,
    amount: cents(20_000),
    reference: 'bank 1',
    operator: 'test',
  });
  await insertUnmatched(id, 77);
  await creditAnomaly(id, await insertUnmatched(id, 5), id);
  // An unmatched payment that an operator later credited to an organization.
  await creditAnomaly(other, await insertUnmatched(OPERATOR_ORGANIZATION_ID, 9), OPERATOR_ORGANIZATION_ID);
  await passThreeHours();
  await rollSubtotals(ledger.caudal.deps);
  const [waiting = ''] = await ledger.insertConfirmed([
    { organizationId: id, amount: 30, settlesIn: '1 day' },
  ]);
  const [settlement] = await ledger.database.query<{ id: string }>(
    'select id from caudal.settlements where organization_id = $1',
    [id],
  );
  shop = { id, settled, waiting, settlement: settlement?.id ?? '' };
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

/** Posts an unmatched payment. @returns the ID of its anomaly */
async function insertUnmatched(organizationId: string, amount: number): Promise<string> {
  const id = ledger.newId();
  await ledger.post({
    organizationId,
    debit: 'clearing_pse',
    credit: 'suspense',
    amount,
    cause: { kind: 'payment', id: `PSE:${id}` },
    resourceId: null,
  });
  await ledger.database.query(
    `insert into caudal.anomalies (organization_id, id, rail, kind, reference, amount_in_cents, noticed_at, once)
     values ($1, $2, 'PSE', 'unmatched', 'r', $3, caudal.now(), $4)`,
    [organizationId, id, amount, id],
  );
  return id;
}

async function creditAnomaly(organizationId: string, anomaly: string, owner: string): Promise<void> {
  const [row] = await ledger.database.query<{ amount: number }>(
    `update caudal.anomalies set resolved_at = caudal.now(), resolution = 'credit', resolved_by = 'test'
     where organization_id = $1 and id = $2 returning amount_in_cents::int as amount`,
    [owner, anomaly],
  );
  await ledger.post({
    organizationId,
    debit: 'suspense',
    credit: 'available',
    amount: row?.amount ?? 0,
    cause: { kind: 'anomaly', id: anomaly },
    resourceId: anomaly,
  });
}

async function passThreeHours(): Promise<void> {
  const [row] = await ledger.database.query<{ now: Date }>("select caudal.shift_time('3 hours') as now");
  await ledger.database.query('update caudal.deployment set shifted_at = null');
  await until('the process sees the new time', () =>
    Promise.resolve(ledger.caudal.deps.clock.now() >= (row?.now.getTime() ?? 0)),
  );
}

/** Damages the ledger of the shop as only a superuser can. `$SHOP` and similar are placeholders for IDs. */
async function damage(text: string): Promise<void> {
  await ledger.database.query(
    text
      .replaceAll('$SHOP', `'${shop.id}'`)
      .replaceAll('$SETTLED', `'${shop.settled}'`)
      .replaceAll('$WAITING', `'${shop.waiting}'`)
      .replaceAll('$SETTLEMENT', `'${shop.settlement}'`)
      .replaceAll('$FRESH', `'${ledger.newId()}'`),
  );
}

const PAYMENT_OF_SETTLED = `organization_id = $SHOP and resource_id = $SETTLED`;

describe('ledger verify', () => {
  it('finds no inconsistency and prints the balance of every account', async () => {
    const { code, stdout } = await runOperatorCommand(
      settingsFor(ledger.database.ownerUrl),
      'ledger',
      'verify',
    );
    expect(code).toBe(0);
    const lines = stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' '));
    expect(lines).toEqual([
      'pending 0.30',
      // Settled, deposited, and both corrections.
      'available 215.15',
      'held 0.00',
      'clearing_bre_b -10.31',
      'clearing_pse -5.91',
      'fees 0.00',
      'suspense 0.77',
      'treasury -200.00',
      '',
      '12 transfers, 6 balances checked, sum of all accounts is zero',
      '',
    ]);
  });

  it.each<{ what: string; sql: string; named: () => Partial<BrokenRow> }>([
    {
      what: 'a balance that is not the sum of its transfers',
      sql: `update caudal.ledger_balances set balance_in_cents = 1 where organization_id = $SHOP and account = 'available'`,
      named: () => ({ table: 'ledger_balances', id: 'available', expected: '21505', found: '1' }),
    },
    {
      what: 'accounts that do not sum to zero',
      sql: `update caudal.ledger_balances set balance_in_cents = 3 where organization_id = $SHOP and account = 'held'`,
      named: () => ({ organizationId: null, id: 'sum of all accounts', expected: '0', found: '3' }),
    },
    {
      what: 'a missing account with a zero balance',
      sql: `delete from caudal.ledger_balances where organization_id = $SHOP and account = 'held'`,
      named: () => ({ table: 'ledger_balances', id: 'held', expected: '0', found: 'no row' }),
    },
    {
      what: 'a transfer whose amount was changed',
      sql: `update caudal.ledger_transfers set amount_in_cents = 1001 where ${PAYMENT_OF_SETTLED}`,
      named: () => ({
        table: 'payins',
        id: shop.settled,
        expected: 'a payment of 1000 from clearing_bre_b',
        found: '1001 from clearing_bre_b',
      }),
    },
    {
      what: 'a cause without its transfer',
      sql: `delete from caudal.ledger_transfers where cause_kind = 'deposit'`,
      named: () => ({
        table: 'ledger_causes',
        expected: `the transfer of deposit ${shop.id}:bank 1`,
        found: 'none',
      }),
    },
    {
      what: 'a transfer without its cause',
      sql: `delete from caudal.ledger_causes where kind = 'deposit'`,
      named: () => ({
        table: 'ledger_transfers',
        expected: `its cause deposit ${shop.id}:bank 1`,
        found: 'none',
      }),
    },
    {
      what: 'a cause of another organization',
      sql: `update caudal.ledger_causes set organization_id = '${OPERATOR_ORGANIZATION_ID}' where kind = 'deposit'`,
      named: () => ({ table: 'ledger_transfers', expected: `its cause deposit ${shop.id}:bank 1` }),
    },
    {
      what: 'a payin that was posted twice',
      sql: `insert into caudal.ledger_transfers select organization_id, $FRESH, debit_account, credit_account,
        amount_in_cents, cause_kind, cause_id, resource_id, at from caudal.ledger_transfers where ${PAYMENT_OF_SETTLED}`,
      named: () => ({ table: 'payins', id: shop.settled, expected: '1 payment', found: '2' }),
    },
    {
      what: 'a second transfer of one cause',
      sql: `insert into caudal.ledger_transfers select organization_id, $FRESH, debit_account, credit_account,
        amount_in_cents, cause_kind, cause_id, resource_id, at from caudal.ledger_transfers where cause_kind = 'deposit'`,
      named: () => ({ table: 'ledger_transfers', expected: `its cause deposit ${shop.id}:bank 1` }),
    },
    {
      what: 'a settlement whose amount differs from its payins',
      sql: 'update caudal.settlements set amount_in_cents = 1499 where organization_id = $SHOP',
      named: () => ({
        table: 'settlements',
        id: shop.settlement,
        expected: '1500 of 2 payins',
        found: '1499 of 2 payins',
      }),
    },
    {
      what: 'a settlement whose amount differs from its transfer',
      sql: 'update caudal.settlements set amount_in_cents = 1499 where organization_id = $SHOP',
      named: () => ({ table: 'settlements', expected: '1500 transferred', found: '1499' }),
    },
    {
      what: 'a missing settlement',
      sql: 'delete from caudal.settlements where organization_id = $SHOP',
      named: () => ({ table: 'settlements', id: shop.settlement, found: 'no row' }),
    },
    {
      what: 'a payin that names a settlement it is not part of',
      sql: 'update caudal.payins set settlement_id = $FRESH where id = $SETTLED',
      named: () => ({ table: 'settlements', expected: '1000 of 1 payins', found: 'no row' }),
    },
    {
      what: 'a settlement between other accounts',
      sql: `update caudal.ledger_transfers set debit_account = 'held' where organization_id = $SHOP and cause_kind = 'settlement'`,
      named: () => ({ table: 'settlements', expected: '1500 transferred between other accounts' }),
    },
    {
      what: 'pending money without a payin',
      sql: 'update caudal.payins set confirmed_amount_in_cents = 29 where id = $WAITING',
      named: () => ({
        table: 'ledger_balances',
        id: 'pending',
        expected: '29 of payins not yet settled',
        found: '30',
      }),
    },
    {
      what: 'a confirmed payin without its payment',
      sql: `update caudal.ledger_transfers set resource_id = null where ${PAYMENT_OF_SETTLED}`,
      named: () => ({ table: 'payins', id: shop.settled, found: 'none' }),
    },
    {
      what: 'a payment into the pending account that names no payin',
      sql: `update caudal.ledger_transfers set resource_id = null where ${PAYMENT_OF_SETTLED}`,
      named: () => ({ table: 'ledger_transfers', expected: 'a confirmed payin named by it', found: 'none' }),
    },
    {
      what: 'a paid payin that is not confirmed',
      sql: `update caudal.payins set status = 'DECLINED', settlement_status = null, settles_at = null where id = $WAITING`,
      named: () => ({ table: 'ledger_transfers', expected: `a confirmed payin ${shop.waiting}` }),
    },
    {
      what: 'a payment from the other rail',
      sql: `update caudal.ledger_transfers set debit_account = 'clearing_pse' where ${PAYMENT_OF_SETTLED}`,
      named: () => ({ table: 'payins', id: shop.settled, found: '1000 from clearing_pse' }),
    },
    {
      what: 'a confirmed payin that is never settled',
      sql: 'update caudal.payins set settles_at = null where id = $WAITING',
      named: () => ({ table: 'payins', id: shop.waiting, found: 'PENDING_SETTLEMENT' }),
    },
    {
      what: 'an underpaid payin whose money is not in suspense',
      sql: `update caudal.payins set status = 'DECLINED', error_code = 'UNDERPAID', confirmed_amount_in_cents = 29,
        settlement_status = null, settles_at = null where id = $WAITING`,
      named: () => ({
        table: 'payins',
        id: shop.waiting,
        expected: '29 in suspense from clearing_bre_b, with an anomaly',
        found: 'none',
      }),
    },
    {
      what: 'an acceptance that was credited and is not resolved',
      sql: `update caudal.anomalies set payin_id = $SETTLED, accepted_at = caudal.now(), accepted_by = 'key:0100000000000000', resolved_at = null,
        resolution = null, resolved_by = null where organization_id = $SHOP and resolution = 'credit'`,
      named: () => ({
        table: 'anomalies',
        expected: 'nothing credited',
        found: '5 from suspense to available',
      }),
    },
    {
      what: 'an acceptance that is resolved and was not credited',
      sql: `update caudal.anomalies set payin_id = $SETTLED, accepted_at = caudal.now(), accepted_by = 'key:0100000000000000', resolved_at = caudal.now(),
        resolution = 'credit', resolved_by = 'key:0100000000000000' where organization_id = $SHOP and resolution is null`,
      named: () => ({ table: 'anomalies', expected: '77 credited', found: 'none' }),
    },
    {
      what: 'a payin that settled on a notification alone',
      sql: 'update caudal.payins set payment_verified_at = null where id = $SETTLED',
      named: () => ({ table: 'payins', id: shop.settled, found: 'neither' }),
    },
    {
      what: 'a settlement that no operator released',
      sql: 'update caudal.payins set payment_verified_at = null, settlement_released_at = caudal.now() where id = $SETTLED',
      named: () => ({
        table: 'payins',
        id: shop.settled,
        expected: 'no decision by an operator',
        found: 'release',
      }),
    },
    {
      what: 'a reversed payin without its reversal transfer',
      sql: `update caudal.payins set settlement_status = 'REVERSED', settles_at = null, payment_verified_at = null where id = $WAITING`,
      named: () => ({
        table: 'payins',
        id: shop.waiting,
        expected: '30 from pending to clearing_bre_b',
        found: 'no transfer',
      }),
    },
    {
      what: 'a resolved anomaly whose money stayed in suspense',
      sql: `update caudal.anomalies set resolved_at = caudal.now(), resolution = 'credit', resolved_by = 'test' where resolved_at is null`,
      named: () => ({
        table: 'anomalies',
        id: 'suspense',
        expected: '77 in suspense',
        found: '0 of open anomalies',
      }),
    },
    {
      what: 'an open anomaly whose money is not in suspense',
      sql: `insert into caudal.anomalies (organization_id, id, rail, kind, reference, amount_in_cents, noticed_at, once)
        values ($SHOP, $FRESH, 'PSE', 'unmatched', 'r', 4, caudal.now(), 'x')`,
      named: () => ({ table: 'anomalies', expected: '77 in suspense', found: '81 of open anomalies' }),
    },
    {
      what: 'a subtotal that was changed',
      sql: `update caudal.ledger_subtotals set credits_in_cents = 90 where account = 'suspense'`,
      named: () => ({
        table: 'ledger_subtotals',
        organizationId: null,
        expected: 'debits 14, credits 91',
        found: 'debits 14, credits 90',
      }),
    },
    {
      what: 'a missing subtotal',
      sql: `delete from caudal.ledger_subtotals where account = 'fees'`,
      named: () => ({
        table: 'ledger_subtotals',
        organizationId: null,
        expected: 'debits 0, credits 0',
        found: 'no row',
      }),
    },
    {
      what: 'a late transfer in a closed span',
      sql: `insert into caudal.ledger_transfers select organization_id, uuid_in(overlay(id::text placing 'ffff' from 33 for 4)::cstring),
        debit_account, credit_account, 6, cause_kind, 'late', resource_id, at from caudal.ledger_transfers where cause_kind = 'deposit'`,
      named: () => ({ table: 'ledger_subtotals', organizationId: null, expected: 'debits 20006, credits 0' }),
    },
  ])('reports $what', async ({ sql, named }) => {
    await damage(sql);
    const { broken } = await verifyLedger(ledger.caudal.deps);
    expect(broken).toContainEqual(expect.objectContaining({ organizationId: shop.id, ...named() }));
  });

  it('prints the row as text and as JSON, and exits with 1', async () => {
    await damage('update caudal.settlements set payins = 3 where organization_id = $SHOP');
    const text = await runOperatorCommand(settingsFor(ledger.database.ownerUrl), 'ledger', 'verify');
    expect(text.code).toBe(1);
    expect(text.stdout).toContain(
      `12 transfers, 6 balances checked, 1 inconsistent:\nsettlements  ${shop.id}  ${shop.settlement}: expected 1500 of 2 payins, found 1500 of 3 payins\n`,
    );
    const json = await runOperatorCommand(
      settingsFor(ledger.database.ownerUrl),
      'ledger',
      'verify',
      '--json',
    );
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      accountsInCents: { available: '21515', clearing_pse: '-591' },
      transfers: '12',
      more: false,
      broken: [{ table: 'settlements', organizationId: shop.id, id: shop.settlement }],
    });
  });

  it('reports a hundred rows and that there are more', async () => {
    await damage(
      `insert into caudal.ledger_causes select 'deposit', 'lost ' || n, $SHOP, $SETTLED from generate_series(1, 150) n`,
    );
    const { broken, more } = await verifyLedger(ledger.caudal.deps);
    expect([broken.length, more]).toEqual([100, true]);
  });
});
