import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rollSubtotals } from '../../src/flows/ledger/roll-subtotals.ts';
import { verifyLedger } from '../../src/flows/ledger/verify-ledger.ts';
import { closeSpan, lockSubtotals, sharedBalance } from '../../src/ledger/subtotal.store.ts';
import { SHARED_ACCOUNTS, type SharedAccount } from '../../src/ledger/transfer.ts';
import { until } from '../harness/until.ts';
import { type Books, openBooks } from './books.ts';

let books: Books;
let organizationId: string;
beforeAll(async () => {
  books = await openBooks();
  [organizationId = ''] = await books.organizations(1);
  // Half past: no hour ends while these tests run.
  await pass(await toHalfPast());
});
afterAll(async () => {
  await books?.close();
});

const roll = () => rollSubtotals(books.caudal.deps);
/** @returns how many spans it closed */
async function rollAll(): Promise<number> {
  let spans = 0;
  while ((await roll()) > 0) spans += 1;
  return spans;
}
const balanceOf = (account: SharedAccount) =>
  books.caudal.deps.system.transaction('read', (tx) => sharedBalance(tx, account));

/** Money from the treasury to suspense, by way of nobody's balance. */
const move = (amount: number) =>
  books.post({
    organizationId,
    debit: 'treasury',
    credit: 'suspense',
    amount,
    cause: { kind: 'anomaly', id: books.newId() },
    resourceId: null,
  });

async function toHalfPast(): Promise<string> {
  const [row] = await books.database.query<{ wait: string }>(
    "select (date_trunc('hour', caudal.now()) + interval '90 minutes' - caudal.now())::text as wait",
  );
  return row?.wait ?? '';
}

/** Time passes, and with it the minute in which nothing is closed. */
async function pass(interval: string): Promise<void> {
  const [row] = await books.database.query<{ now: Date }>('select caudal.shift_time($1) as now', [interval]);
  await books.database.query("update caudal.deployment set shifted_at = shifted_at - interval '1 minute'");
  await until('the process hears of it', () =>
    Promise.resolve(books.caudal.deps.clock.now() >= (row?.now.getTime() ?? 0)),
  );
}

const subtotals = () =>
  books.database.query<{ account: string; through: Date; debits: number; credits: number }>(
    `select account, through, debits_in_cents::int as debits, credits_in_cents::int as credits
     from caudal.ledger_subtotals order by through, account`,
  );

describe('subtotals of shared accounts', () => {
  it('are the sums of closed spans; a balance is theirs and what came since', async () => {
    await move(100);
    await pass('3 hours');
    await move(7);
    expect(await balanceOf('suspense')).toBe(107n);
    expect(await roll()).toBe(SHARED_ACCOUNTS.length);
    const made = await subtotals();
    expect(made.filter(({ debits, credits }) => debits + credits > 0)).toMatchObject([
      { account: 'suspense', debits: 0, credits: 100 },
      { account: 'treasury', debits: 100, credits: 0 },
    ]);
    expect(new Set(made.map(({ account }) => account))).toEqual(new Set(SHARED_ACCOUNTS));
    expect(await balanceOf('suspense')).toBe(107n);
    expect(await balanceOf('treasury')).toBe(-107n);
    expect(await balanceOf('fees')).toBe(0n);
  });

  it('are not made twice for one hour', async () => {
    expect(await roll()).toBe(0);
  });

  it('are made once when two workers close the same span: the second waits and finds it closed', async () => {
    await pass('2 hours');
    // Twelve spans of ten minutes: the last of them is the one both want.
    for (let span = 1; span < 12; span += 1) expect(await roll()).toBe(SHARED_ACCOUNTS.length);
    const { system } = books.caudal.deps;
    // In an object: a promise returned from the transaction would be awaited before its commit.
    const { second } = await system.transaction('roll subtotals', async (tx) => {
      await lockSubtotals(tx);
      expect(await closeSpan(tx)).toBe(SHARED_ACCOUNTS.length);
      const waiting = roll();
      await books.untilOneWaits();
      return { second: waiting };
    });
    expect(await second).toBe(0);
    expect((await subtotals()).filter(({ credits }) => credits === 7)).toHaveLength(1);
    await move(1);
    expect(await balanceOf('suspense')).toBe(108n);
    expect(await balanceOf('treasury')).toBe(-108n);
  });

  it('leave the last hour open', async () => {
    const through = (await subtotals()).at(-1)?.through.getTime() ?? 0;
    const [row] = await books.database.query<{ now: Date }>('select caudal.now() as now');
    expect((row?.now.getTime() ?? 0) - through).toBeGreaterThanOrEqual(3_600_000);
  });

  it('are made of ten minutes each', async () => {
    await pass('1 hour');
    const last = (await subtotals()).at(-1)?.through.getTime() ?? 0;
    expect(await rollAll()).toBe(6);
    const edges = new Set((await subtotals()).map(({ through }) => through.getTime()));
    expect([...edges].slice(-6)).toEqual([1, 2, 3, 4, 5, 6].map((span) => last + span * 600_000));
    expect(await balanceOf('suspense')).toBe(108n);
  });

  it('are fewer after a silence of days', async () => {
    await pass('3 days');
    await move(1);
    const spans = await rollAll();
    expect(spans).toBeGreaterThan(144);
    expect(spans).toBeLessThan(3 * 144);
    expect(await balanceOf('suspense')).toBe(109n);
  });

  it('are not made in the minute after a shift of time, when ids of the time before may still come', async () => {
    await books.database.query("select caudal.shift_time('5 hours')");
    expect(await roll()).toBe(0);
    await books.database.query("update caudal.deployment set shifted_at = shifted_at - interval '1 minute'");
    expect(await roll()).toBe(SHARED_ACCOUNTS.length);
  });

  it('are what a recomputation gives', async () => {
    const { broken } = await verifyLedger(books.caudal.deps);
    expect(broken.filter(({ table }) => table === 'ledger_subtotals')).toEqual([]);
  });
});
