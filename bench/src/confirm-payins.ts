import { setTimeout as sleep } from 'node:timers/promises';
import { createPayins, finalEvents, pay, payableKeys } from './payable-keys.ts';
import type { Stage } from './stage.ts';

const TARGET_PER_SECOND = 1000;
const TICK_MS = 100;
const ORGANIZATIONS = 8;

interface Durations {
  /** How long the steady rate is held. */
  readonly steadySeconds: number;
  /** How many confirmations a flood has. */
  readonly flood: number;
}

/**
 * C1: a merchant with a thousand confirmations a second on one balance. First at that rate for a while, then as fast as
 * it goes: once all on one organization, once spread over several. If the balance row were the limit, the spread flood would be
 * the faster one.
 */
export async function benchConfirmPayins(stage: Stage, { steadySeconds, flood }: Durations): Promise<void> {
  const others = await stage.newOrganizations(ORGANIZATIONS);
  await createPayins(stage, [stage.apiKey], TARGET_PER_SECOND * steadySeconds + 2 * flood);
  await createPayins(
    stage,
    others.map(({ apiKey }) => apiKey),
    2 * flood,
  );
  const own = await payableKeys(stage, [stage.organizationId]);
  const spread = await payableKeys(
    stage,
    others.map(({ organizationId }) => organizationId),
  );

  const steady = await holdRate(stage, own.splice(0, TARGET_PER_SECOND * steadySeconds));
  // Twice each, taking turns, the better one counts: a machine that slows down in between decides nothing.
  const one: number[] = [];
  const many: number[] = [];
  for (let turn = 0; turn < 2; turn += 1) {
    one.push(await drain(stage, own.splice(0, flood)));
    many.push(await drain(stage, spread.splice(0, flood)));
  }
  console.log(
    `C1 ${steady.perSecond.toFixed(0)} confirmations/s on one organization for ${steadySeconds} s (paid at ${TARGET_PER_SECOND}/s), from payment to CONFIRMED p50 ${steady.p50Ms.toFixed(0)} ms, p99 ${steady.p99Ms.toFixed(0)} ms, ${steady.lockWaits.toFixed(1)} % of samples saw a wait for a lock; target ${TARGET_PER_SECOND}`,
  );
  console.log(
    `   flood of ${flood}: ${Math.max(...one).toFixed(0)}/s on one organization, ${Math.max(...many).toFixed(0)}/s over ${ORGANIZATIONS}: ratio ${(Math.max(...one) / Math.max(...many)).toFixed(2)} (near 1: the balance row is not the limit)`,
  );
  await check(stage);
}

async function holdRate(stage: Stage, keys: readonly string[]) {
  const perTick = (TARGET_PER_SECOND * TICK_MS) / 1000;
  const before = await finalEvents(stage);
  const began = performance.now();
  const paidAt = new Map<string, number>();
  let samples = 0;
  let waits = 0;
  for (let tick = 0; tick * perTick < keys.length; tick += 1) {
    const batch = keys.slice(tick * perTick, (tick + 1) * perTick);
    await sleep(Math.max(0, began + tick * TICK_MS - performance.now()));
    const now = Date.now();
    for (const key of batch) paidAt.set(key, now);
    // Not awaited before the next tick: the rate is held whatever the answers take.
    void pay(stage, batch);
    const [row] = await stage.query<{ waiting: string }>(
      "select count(*) as waiting from pg_stat_activity where wait_event_type = 'Lock' and application_name like 'caudal%'",
    );
    samples += 1;
    if (row?.waiting !== '0') waits += 1;
  }
  while ((await finalEvents(stage)) - before < keys.length) await sleep(20);
  const seconds = (performance.now() - began) / 1000;
  const rows = await stage.query<{ breb_key: string; at: string }>(
    `select breb_key, extract(epoch from result_at) * 1000 as at from caudal.payins where status = 'CONFIRMED' and reference like 'confirm-%'`,
  );
  const lags = rows
    .flatMap(({ breb_key, at }) => {
      const paid = paidAt.get(breb_key);
      return paid === undefined ? [] : [Number(at) - paid];
    })
    .toSorted((a, b) => a - b);
  return {
    perSecond: keys.length / seconds,
    p50Ms: lags[Math.floor(lags.length * 0.5)] ?? Number.NaN,
    p99Ms: lags[Math.floor(lags.length * 0.99)] ?? Number.NaN,
    lockWaits: (100 * waits) / samples,
  };
}

/** The rail has all of them at once: how fast do they become final? */
async function drain(stage: Stage, keys: readonly string[]): Promise<number> {
  const before = await finalEvents(stage);
  const began = performance.now();
  await pay(stage, keys);
  while ((await finalEvents(stage)) - before < keys.length) await sleep(20);
  return keys.length / ((performance.now() - began) / 1000);
}

/** A speed is worth nothing if the books do not add up. */
async function check(stage: Stage): Promise<void> {
  const [row] = await stage.query<{ wrong: string }>(
    `select count(*) as wrong from (
       select b.organization_id from caudal.ledger_balances b
       left join caudal.ledger_transfers t on t.organization_id = b.organization_id and b.account in (t.debit_account, t.credit_account)
       group by b.organization_id, b.account, b.balance_in_cents
       having b.balance_in_cents <> coalesce(sum(case when t.credit_account = b.account then t.amount_in_cents else -t.amount_in_cents end), 0)
     ) as wrong`,
  );
  if (row?.wrong !== '0') throw new Error(`${row?.wrong} balances do not equal their transfers`);
}
