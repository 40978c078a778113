import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rollSubtotals } from '../../src/flows/ledger/roll-subtotals.system.ts';
import { verifyLedger } from '../../src/flows/ledger/verify-ledger.system.ts';
import { closeSpan, lockSubtotals, sharedBalance } from '../../src/ledger/subtotal.store.ts';
import { SHARED_ACCOUNTS, type SharedAccount } from '../../src/ledger/transfer.ts';
import { until } from '../harness/until.ts';
import { openTestLedger, type TestLedger } from './test-ledger.ts';

let ledger: TestLedger;
let organizationId: string;
beforeAll(async () => {
  ledger = await openTestLedger();
  [organizationId = ''] = await ledger.createOrganizations(1);
  // Half past the hour: no hour ends while these tests run.
  await passTime(await intervalToHalfPast());
});
afterAll(async () => {
  await ledger?.close();
});

const roll = () => rollSubtotals(ledger.caudal.deps);
/** @returns the number of closed spans */
async function rollAll(): Promise<number> {
  let spans = 0;
  while ((await roll()) > 0) spans += 1;
  return spans;
}
const readSharedBalance = (account: SharedAccount) =>
  ledger.caudal.deps.system.transaction('read', (tx) => sharedBalance(tx, account));

/** Moves money from the treasury to suspense, without a merchant balance. */
const move = (amount: number) =>
  ledger.post({
    organizationId,
    debit: 'treasury',
    credit: 'suspense',
    amount,
    cause: { kind: 'anomaly', id: ledger.newId() },
    resourceId: null,
  });

async function intervalToHalfPast(): Promise<string> {
  const [row] = await ledger.database.query<{ wait: string }>(
    "select (date_trunc('hour', caudal.now()) + interval '90 minutes' - caudal.now())::text as wait",
  );
  return row?.wait ?? '';
}

/** Advances time, including the minute after a shift in which no span closes. */
async function passTime(interval: string): Promise<void> {
  const [row] = await ledger.database.query<{ now: Date }>('select caudal.shift_time($1) as now', [interval]);
  await ledger.database.query("update caudal.deployment set shifted_at = shifted_at - interval '1 minute'");
  await until('the process sees the new time', () =>
    Promise.resolve(ledger.caudal.deps.clock.now() >= (row?.now.getTime() ?? 0)),
  );
}

const readSubtotals = () =>
  ledger.database.query<{ account: string; through: Date; debits: number; credits: number }>(
    `select account, through, debits_in_cents::int as debits, credits_in_cents::int as credits
     from caudal.ledger_subtotals order by through, account`,
  );

describe('subtotals of shared accounts', () => {
  it('are the sums of closed spans; a balance adds the transfers since', async () => {
    await move(100);
    await passTime('3 hours');
    await move(7);
    expect(await readSharedBalance('suspense')).toBe(107n);
    expect(await roll()).toBe(SHARED_ACCOUNTS.length);
    const created = await readSubtotals();
    expect(created.filter(({ debits, credits }) => debits + credits > 0)).toMatchObject([
      { account: 'suspense', debits: 0, credits: 100 },
      { account: 'treasury', debits: 100, credits: 0 },
    ]);
    expect(new Set(created.map(({ account }) => account))).toEqual(new Set(SHARED_ACCOUNTS));
    expect(await readSharedBalance('suspense')).toBe(107n);
    expect(await readSharedBalance('treasury')).toBe(-107n);
    expect(await readSharedBalance('fees')).toBe(0n);
  });

  it('are not created twice for one span', async () => {
    expect(await roll()).toBe(0);
  });

  it('are created once when two workers close the same span: the second waits and finds it closed', async () => {
    await passTime('2 hours');
    // Twelve spans of ten minutes: both workers want the last one.
    for (let span = 1; span < 12; span += 1) expect(await roll()).toBe(SHARED_ACCOUNTS.length);
    const { system } = ledger.caudal.deps;
    // In an object: a promise returned from the transaction would be awaited before its commit.
    const { second } = await system.transaction('roll subtotals', async (tx) => {
      await lockSubtotals(tx);
      expect(await closeSpan(tx)).toBe(SHARED_ACCOUNTS.length);
      const waiting = roll();
      await ledger.waitForLockWaiter();
      return { second: waiting };
    });
    expect(await second).toBe(0);
    expect((await readSubtotals()).filter(({ credits }) => credits === 7)).toHaveLength(1);
    await move(1);
    expect(await readSharedBalance('suspense')).toBe(108n);
    expect(await readSharedBalance('treasury')).toBe(-108n);
  });

  it('leave the last hour open', async () => {
    const through = (await readSubtotals()).at(-1)?.through.getTime() ?? 0;
    const [row] = await ledger.database.query<{ now: Date }>('select caudal.now() as now');
    expect((row?.now.getTime() ?? 0) - through).toBeGreaterThanOrEqual(3_600_000);
  });

  it('cover ten minutes each', async () => {
    await passTime('1 hour');
    const last = (await readSubtotals()).at(-1)?.through.getTime() ?? 0;
    expect(await rollAll()).toBe(6);
    const edges = new Set((await readSubtotals()).map(({ through }) => through.getTime()));
    expect([...edges].slice(-6)).toEqual([1, 2, 3, 4, 5, 6].map((span) => last + span * 600_000));
    expect(await readSharedBalance('suspense')).toBe(108n);
  });

  it('are fewer after days without transfers', async () => {
    await passTime('3 days');
    await move(1);
    const spans = await rollAll();
    expect(spans).toBeGreaterThan(144);
    expect(spans).toBeLessThan(3 * 144);
    expect(await readSharedBalance('suspense')).toBe(109n);
  });

  it('are not created in the minute after a time shift, when IDs of the previous time may still arrive', async () => {
    // However long the test takes, it stays within that minute.
    await ledger.database.query("select caudal.shift_time('5 hours')");
    await ledger.database.query("update caudal.deployment set shifted_at = shifted_at + interval '1 hour'");
    expect(await roll()).toBe(0);
    await ledger.database.query(
      "update caudal.deployment set shifted_at = shifted_at - interval '61 minutes'",
    );
    expect(await roll()).toBe(SHARED_ACCOUNTS.length);
  });

  it('equal a recomputation', async () => {
    const { broken } = await verifyLedger(ledger.caudal.deps);
    expect(broken.filter(({ table }) => table === 'ledger_subtotals')).toEqual([]);
  });
});
