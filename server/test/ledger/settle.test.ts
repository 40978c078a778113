import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settleBalances } from '../../src/flows/ledger/settle-balances.ts';
import { verifyLedger } from '../../src/flows/ledger/verify-ledger.ts';
import { type Books, openBooks } from './books.ts';

let books: Books;
beforeAll(async () => {
  books = await openBooks();
});
afterAll(async () => {
  await books?.close();
});

const settle = () => settleBalances(books.caudal.deps);

const settlementsOf = (organizationId: string) =>
  books.database.query<{ id: string; amount: number; payins: number }>(
    'select id, amount_in_cents::int as amount, payins from caudal.settlements where organization_id = $1 order by id',
    [organizationId],
  );

const payinsOf = (organizationId: string) =>
  books.database.query<{
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

async function expectSoundBooks(): Promise<void> {
  expect((await verifyLedger(books.caudal.deps)).broken).toEqual([]);
}

describe('a settlement run', () => {
  it('makes the money of due payins available: one settlement and one transfer an organization', async () => {
    const [a = '', b = ''] = await books.organizations(2);
    const ids = await books.confirm([
      { organizationId: a, amount: 1000 },
      { organizationId: b, amount: 70, rail: 'PSE' },
      { organizationId: a, amount: 500, rail: 'PSE' },
    ]);
    expect(await settle()).toBe(3);
    expect(await books.amountsOf(a)).toEqual([0, 1500, 0]);
    expect(await books.amountsOf(b)).toEqual([0, 70, 0]);
    const [settlement] = await settlementsOf(a);
    expect(settlement).toMatchObject({ amount: 1500, payins: 2 });
    const expected = { status: 'SETTLED', settlement: settlement?.id, waits: false, at: true };
    expect(await payinsOf(a)).toEqual([
      { id: ids[0], ...expected },
      { id: ids[2], ...expected },
    ]);
    const transfers = await books.database.query(
      `select debit_account as debit, credit_account as credit, amount_in_cents::int as amount, resource_id as resource
       from caudal.ledger_transfers where organization_id = $1 and cause_kind = 'settlement'`,
      [a],
    );
    expect(transfers).toEqual([
      { debit: 'pending', credit: 'available', amount: 1500, resource: settlement?.id },
    ]);
    await expectSoundBooks();
  });

  it('has the rail queried first about what only a notification reported, and settles it when that is verified', async () => {
    const [id = ''] = await books.organizations(1);
    const [verified, notified] = await books.confirm([
      { organizationId: id, amount: 40 },
      { organizationId: id, amount: 2, rail: 'PSE', verified: false },
    ]);
    expect(await settle()).toBe(2);
    expect(await books.amountsOf(id)).toEqual([2, 40, 0]);
    const rows = await books.database.query(
      `select id, settlement_status as status, rail_task as task, rail_due_at <= caudal.now() as due, settles_at as at
       from caudal.payins where organization_id = $1 order by id`,
      [id],
    );
    expect(rows).toEqual([
      { id: verified, status: 'SETTLED', task: null, due: null, at: null },
      { id: notified, status: 'PENDING_SETTLEMENT', task: 'ask', due: true, at: null },
    ]);
    expect(await settle()).toBe(0);
    await expectSoundBooks();
  });

  it('finds nothing to do when it has been done', async () => {
    expect(await settle()).toBe(0);
  });

  it('leaves what is not due yet, until its time has come', async () => {
    const [id = ''] = await books.organizations(1);
    await books.confirm([
      { organizationId: id, amount: 10 },
      { organizationId: id, amount: 5, settlesIn: '90 minutes' },
    ]);
    expect(await settle()).toBe(1);
    expect(await books.amountsOf(id)).toEqual([5, 10, 0]);
    await books.database.query("select caudal.shift_time('89 minutes')");
    expect(await settle()).toBe(0);
    await books.database.query("select caudal.shift_time('1 minute')");
    expect(await settle()).toBe(1);
    expect(await books.amountsOf(id)).toEqual([0, 15, 0]);
    await expectSoundBooks();
  });

  it('takes a thousand payins a round, and several runs at once share the rest', async () => {
    const [id = ''] = await books.organizations(1);
    await books.confirm(Array.from({ length: 1100 }, () => ({ organizationId: id, amount: 2 })));
    expect(await settle()).toBe(1000);
    const rounds = await Promise.all([settle(), settle(), settle()]);
    expect(rounds.reduce((sum, count) => sum + count, 0)).toBe(100);
    expect(await books.amountsOf(id)).toEqual([0, 2200, 0]);
    await expectSoundBooks();
  });

  it('passes over a payin that another holds instead of waiting for it', async () => {
    const [organizationId = ''] = await books.organizations(1);
    const [held = ''] = await books.confirm([
      { organizationId, amount: 3 },
      { organizationId, amount: 4 },
    ]);
    const other = new Client({ connectionString: books.database.url });
    await other.connect();
    try {
      await other.query('begin');
      await other.query('select from caudal.payins where id = $1 for update', [held]);
      expect(await settle()).toBe(1);
      expect(await books.amountsOf(organizationId)).toEqual([3, 4, 0]);
    } finally {
      await other.end();
    }
    expect(await settle()).toBe(1);
    expect(await books.amountsOf(organizationId)).toEqual([0, 7, 0]);
  });

  it('changes nothing for an organization whose pending account does not hold the money, and settles the others', async () => {
    const [id = '', sound = ''] = await books.organizations(2);
    await books.confirm([
      { organizationId: id, amount: 10 },
      { organizationId: sound, amount: 4 },
    ]);
    await books.post({
      organizationId: id,
      debit: 'pending',
      credit: 'suspense',
      amount: 1,
      cause: { kind: 'anomaly', id: books.newId() },
      resourceId: null,
    });
    expect(await settle()).toBe(2);
    expect(await settle(), 'it is put off, not tried again at once').toBe(0);
    expect(await books.amountsOf(sound)).toEqual([0, 4, 0]);
    expect(await settlementsOf(id)).toEqual([]);
    expect(await payinsOf(id)).toMatchObject([
      { status: 'PENDING_SETTLEMENT', settlement: null, waits: true },
    ]);
    expect(await books.amountsOf(id)).toEqual([9, 0, 0]);
  });
});
