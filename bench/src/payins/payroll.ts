import { setTimeout as sleep } from 'node:timers/promises';
import { runServerCommand } from '../../../scripts/stack/processes.ts';
import { generateLoad, generatorShare } from '../load/generate-load.ts';
import type { RequestPlan } from '../load/load-plan.ts';
import { atLeast, type Metric } from '../metric.ts';
import type { Stage } from '../stage/stage.ts';

const CONNECTIONS = 64;
const TARGET_PER_SECOND = 500;

/**
 * D1: a payroll. One organization creates all its payouts at full speed while they are sent and confirmed. Measures from
 * the first request to the last confirmation, all on one balance.
 */
export async function benchPayroll(stage: Stage, payouts: number): Promise<Metric[]> {
  await runServerCommand(
    ['ledger', 'deposit', '--org', stage.organizationId, '--amount', '100000000', '--reference', 'payroll'],
    stage.settings,
  );
  const before = await executions(stage);
  const load = await generateLoad(stage, {
    perSecond: null,
    connections: CONNECTIONS,
    seconds: 3600,
    warmUpSeconds: 0,
    count: payouts,
    request: payoutRequest(stage.apiKey),
  });
  if (load.failures > 0) throw new Error(`${load.failures} payouts were not answered 201`);
  while ((await confirmed(stage)) < payouts) await sleep(50);
  const seconds = (Date.now() - load.startedAtUnixMs) / 1000;
  const executed = (await executions(stage)) - before;
  if (executed !== payouts) throw new Error(`${executed} executions for ${payouts} payouts`);
  return [
    atLeast(TARGET_PER_SECOND, {
      id: 'D1',
      unit: 'payouts/s',
      description: `a payroll of ${payouts} on one organization, from the first request to the last confirmation`,
      value: payouts / seconds,
      details: `created at ${load.perSecond.toFixed(0)}/s (p99 ${load.p99Ms.toFixed(0)} ms), generator ${generatorShare(load)}, each executed once by the rail's count`,
      samples: { perSecond: [{ name: 'payouts created', values: load.overTime }] },
    }),
  ];
}

function payoutRequest(apiKey: string): RequestPlan {
  return {
    path: '/payouts',
    apiKeys: [apiKey],
    idempotencyKey: null,
    body: '{"amountInCents":1000,"currency":"COP","rail":"BRE_B","reference":"payroll-%n","inlineCustomer":{"name":"Ana Rojas","idType":"CO_CC","idNumber":"1020304050","phone":"+573001234567","email":"ana@example.com"},"breb":{"keyString":"@TESTOK"}}',
  };
}

async function confirmed(stage: Stage): Promise<number> {
  const [row] = await stage.query<{ count: string }>(
    "select count(*) as count from caudal.final_events where event = 'payout.confirmed'",
  );
  return Number(row?.count);
}

/** Number of executed orders as counted by the rail. */
async function executions(stage: Stage): Promise<number> {
  const stats = (await (await fetch(`${stage.simulatorUrl}/control/stats`)).json()) as {
    orders: { settled: number };
  };
  return stats.orders.settled;
}
