import { setTimeout as sleep } from 'node:timers/promises';
import { quantile, toCurve } from '../load/load-result.ts';
import { atLeast, type Metric } from '../metric.ts';
import type { Stage } from '../stage/stage.ts';
import { createPayins, finalEvents, pay, payableKeys } from './payable-keys.ts';

const TARGET_PER_SECOND = 1000;
/** Confirmations come in batches, so one batch more or less at the ends of a run is not a different rate. */
const STEADY_SHARE = 0.95;
const TICK_MS = 100;
const ORGANIZATIONS = 8;

interface Durations {
  /** Duration of the steady rate. */
  readonly steadySeconds: number;
  /** Number of confirmations in a flood. */
  readonly flood: number;
}

/**
 * C1: a merchant with 1,000 confirmations per second on one balance. First at that steady rate, then as fast as possible:
 * once on one organization, once spread over several. If the balance row were the bottleneck, the spread flood would be
 * faster.
 */
export async function benchConfirmPayins(
  stage: Stage,
  { steadySeconds, flood }: Durations,
): Promise<Metric[]> {
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
  // Twice each, alternating, best result: a temporary slowdown of the machine must not decide the ratio.
  const one: number[] = [];
  const many: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    one.push(await drain(stage, own.splice(0, flood)));
    many.push(await drain(stage, spread.splice(0, flood)));
  }
  await check(stage);
  const [oneBest, manyBest] = [Math.max(...one), Math.max(...many)];
  return [
    atLeast(STEADY_SHARE * TARGET_PER_SECOND, {
      id: 'C1',
      unit: 'confirmations/s',
      description: `on one organization's balance, paid at ${TARGET_PER_SECOND}/s for ${steadySeconds} s`,
      value: steady.perSecond,
      details: {
        'from payment to CONFIRMED': `p50 ${steady.p50Ms.toFixed(0)} ms, p99 ${steady.p99Ms.toFixed(0)} ms`,
        'samples with a lock wait': `${steady.lockWaits.toFixed(1)} %`,
      },
      samples: { latency: [{ name: 'payment to CONFIRMED', points: steady.latency }] },
    }),
    atLeast(0.8, {
      id: 'C1',
      description: `a flood of ${flood} on one organization ÷ over ${ORGANIZATIONS}: near 1, the balance row is not the bottleneck`,
      value: oneBest / manyBest,
      details: `${oneBest.toFixed(0)}/s ÷ ${manyBest.toFixed(0)}/s`,
      samples: {
        bars: [
          { name: 'one organization', value: oneBest },
          { name: `${ORGANIZATIONS} organizations`, value: manyBest },
        ],
      },
    }),
  ];
}

async function holdRate(stage: Stage, keys: readonly string[]) {
  const perTick = (TARGET_PER_SECOND * TICK_MS) / 1000;
  const before = await finalEvents(stage);
  const startedAt = performance.now();
  const paidAt = new Map<string, number>();
  let samples = 0;
  let waits = 0;
  for (let tick = 0; tick * perTick < keys.length; tick += 1) {
    const batch = keys.slice(tick * perTick, (tick + 1) * perTick);
    await sleep(Math.max(0, startedAt + tick * TICK_MS - performance.now()));
    const now = Date.now();
    for (const key of batch) paidAt.set(key, now);
    // Not awaited before the next tick: the rate stays constant regardless of response times.
    void pay(stage, batch);
    const [row] = await stage.query<{ waiting: string }>(
      "select count(*) as waiting from pg_stat_activity where wait_event_type = 'Lock' and application_name like 'caudal%'",
    );
    samples += 1;
    if (row?.waiting !== '0') waits += 1;
  }
  while ((await finalEvents(stage)) - before < keys.length) await sleep(20);
  const rows = await stage.query<{ breb_key: string; at: string }>(
    `select breb_key, extract(epoch from result_at) * 1000 as at from caudal.payins where status = 'CONFIRMED' and reference like 'confirm-%'`,
  );
  const confirmed = rows.flatMap(({ breb_key, at }) => {
    const paid = paidAt.get(breb_key);
    return paid === undefined ? [] : [{ paid, at: Number(at) }];
  });
  const lags = confirmed.map(({ paid, at }) => at - paid).toSorted((a, b) => a - b);
  const ends = confirmed.map(({ at }) => at).toSorted((a, b) => a - b);
  const span = (ends.at(-1) ?? Number.NaN) - (ends[0] ?? Number.NaN);
  return {
    // From the first confirmation to the last, like the payments; the lag is reported separately.
    perSecond: confirmed.length / ((span + TICK_MS) / 1000),
    p50Ms: quantile(lags, 0.5),
    p99Ms: quantile(lags, 0.99),
    latency: toCurve(lags),
    lockWaits: (100 * waits) / samples,
  };
}

/** Pays all keys at once. @returns confirmations per second */
async function drain(stage: Stage, keys: readonly string[]): Promise<number> {
  const before = await finalEvents(stage);
  const startedAt = performance.now();
  await pay(stage, keys);
  while ((await finalEvents(stage)) - before < keys.length) await sleep(20);
  return keys.length / ((performance.now() - startedAt) / 1000);
}

/** Verifies that all balances equal the sum of their transfers. */
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
