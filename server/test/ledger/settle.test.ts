import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settleBalances } from '../../src/flows/ledger/settle-balances.system.ts';
import { verifyLedger } from '../../src/flows/ledger/verify-ledger.system.ts';
import { openTestLedger, type TestLedger } from './test-ledger.ts';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openTestLedger();
});
afterAll(async () => {
  await ledger?.close();
});

const settle = () => settleBalances(ledger.caudal.deps);

const readSettlements = (organizationId: string) =>
  ledger.database.query<{ id: string; amount: number; payins: number }>(
    'select id, amount_in_cents::int as amount, payins from caudal.settlements where organization_id = $1 order by id',
    [organizationId],
  );

const readPayins = (organizationId: string) =>
  ledger.database.query<{
    id: string;
    status: string;
    settlement: string | null;
    waits: boolean;
    at: boolean;
  }>(
    `select id, settlement_status as status, settlement_id as settlement, settles_at is not null as waits,
       updated_at > created_at as at from caudal.payins where organization_id = $1 order by id`,
    [organizationId],
  );

async function expectConsistentLedger(): Promise<void> {
  expect((await verifyLedger(ledger.caudal.deps)).broken).toEqual([]);
}

describe('a settlement run', () => {
  it('makes due payins available with one settlement and one transfer per organization', async () => {
    const [a = '', b = ''] = await ledger.createOrganizations(2);
    const ids = await ledger.insertConfirmed([
      { organizationId: a, amount: 1000 },
      { organizationId: b, amount: 70, rail: 'PSE' },
      { organizationId: a, amount: 500, rail: 'PSE' },
    ]);
    expect(await settle()).toBe(3);
    expect(await ledger.readAmounts(a)).toEqual([0, 1500, 0]);
    expect(await ledger.readAmounts(b)).toEqual([0, 70, 0]);
    const [settlement] = await readSettlements(a);
    expect(settlement).toMatchObject({ amount: 1500, payins: 2 });
    const expected = { status: 'SETTLED', settlement: settlement?.id, waits: false, at: true };
    expect(await readPayins(a)).toEqual([
      { id: ids[0], ...expected },
      { id: ids[2], ...expected },
    ]);
    const transfers = await ledger.database.query(
      `select debit_account as debit, credit_account as credit, amount_in_cents::int as amount, resource_id as resource
       from caudal.ledger_transfers where organization_id = $1 and cause_kind = 'settlement'`,
      [a],
    );
    expect(transfers).toEqual([
      { debit: 'pending', credit: 'available', amount: 1500, resource: settlement?.id },
    ]);
    await expectConsistentLedger();
  });

  it('schedules a poll for a payin that only a notification confirmed, and settles it once verified', async () => {
    const [id = ''] = await ledger.createOrganizations(1);
    const [verified, notified] = await ledger.insertConfirmed([
      { organizationId: id, amount: 40 },
      { organizationId: id, amount: 2, rail: 'PSE', verified: false },
    ]);
    expect(await settle()).toBe(2);
    expect(await ledger.readAmounts(id)).toEqual([2, 40, 0]);
    const rows = await ledger.database.query(
      `select id, settlement_status as status, rail_task as task, rail_due_at <= caudal.now() as due, settles_at as at
       from caudal.payins where organization_id = $1 order by id`,
      [id],
    );
    expect(rows).toEqual([
      { id: verified, status: 'SETTLED', task: null, due: null, at: null },
      { id: notified, status: 'PENDING_SETTLEMENT', task: 'poll', due: true, at: null },
    ]);
    expect(await settle()).toBe(0);
    await expectConsistentLedger();
  });

  it('finds nothing to do after all is settled', async () => {
    expect(await settle()).toBe(0);
  });

  it('leaves payins that are not due yet', async () => {
    const [id = ''] = await ledger.createOrganizations(1);
    await ledger.insertConfirmed([
      { organizationId: id, amount: 10 },
      { organizationId: id, amount: 5, settlesIn: '10 hours' },
    ]);
    expect(await settle()).toBe(1);
    expect(await ledger.readAmounts(id)).toEqual([5, 10, 0]);
    await ledger.database.query("select caudal.shift_time('9 hours')");
    expect(await settle()).toBe(0);
    await ledger.database.query("select caudal.shift_time('1 hour')");
    expect(await settle()).toBe(1);
    expect(await ledger.readAmounts(id)).toEqual([0, 15, 0]);
    await expectConsistentLedger();
  });

  it('settles a thousand payins per round, and concurrent runs share the rest', async () => {
    const [id = ''] = await ledger.createOrganizations(1);
    await ledger.insertConfirmed(Array.from({ length: 1100 }, () => ({ organizationId: id, amount: 2 })));
    expect(await settle()).toBe(1000);
    const rounds = await Promise.all([settle(), settle(), settle()]);
    expect(rounds.reduce((sum, count) => sum + count, 0)).toBe(100);
    expect(await ledger.readAmounts(id)).toEqual([0, 2200, 0]);
    await expectConsistentLedger();
  });

  it('skips a locked payin instead of waiting for it', async () => {
    const [organizationId = ''] = await ledger.createOrganizations(1);
    const [held = ''] = await ledger.insertConfirmed([
      { organizationId, amount: 3 },
      { organizationId, amount: 4 },
    ]);
    const other = new Client({ connectionString: ledger.database.url });
    await other.connect();
    try {
      await other.query('begin');
      await other.query('select from caudal.payins where id = $1 for update', [held]);
      expect(await settle()).toBe(1);
      expect(await ledger.readAmounts(organizationId)).toEqual([3, 4, 0]);
    } finally {
      await other.end();
    }
    expect(await settle()).toBe(1);
    expect(await ledger.readAmounts(organizationId)).toEqual([0, 7, 0]);
  });

  it('skips an organization whose pending balance is too low, and settles the others', async () => {
    const [id = '', other = ''] = await ledger.createOrganizations(2);
    await ledger.insertConfirmed([
      { organizationId: id, amount: 10 },
      { organizationId: other, amount: 4 },
    ]);
    await ledger.post({
      organizationId: id,
      debit: 'pending',
      credit: 'suspense',
      amount: 1,
      cause: { kind: 'anomaly', id: ledger.newId() },
      resourceId: null,
    });
    expect(await settle()).toBe(2);
    expect(await settle(), 'it is postponed, not retried immediately').toBe(0);
    expect(await ledger.readAmounts(other)).toEqual([0, 4, 0]);
    expect(await readSettlements(id)).toEqual([]);
    expect(await readPayins(id)).toMatchObject([
      { status: 'PENDING_SETTLEMENT', settlement: null, waits: true },
    ]);
    expect(await ledger.readAmounts(id)).toEqual([9, 0, 0]);
  });
});
