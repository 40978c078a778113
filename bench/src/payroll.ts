import { setTimeout as sleep } from 'node:timers/promises';
import { runServerCommand } from '../../scripts/stack/processes.ts';
import { runLoad } from './load.ts';
import type { Stage } from './stage.ts';

const CONNECTIONS = 64;
const TARGET_PER_SECOND = 500;

/**
 * D1: a payroll. One organization creates all its payouts as fast as it can; they are sent and confirmed meanwhile. Counts
 * from the first request to the last confirmation, all on one balance.
 */
export async function benchPayroll(stage: Stage, payouts: number): Promise<void> {
  await runServerCommand(
    ['ledger', 'deposit', '--org', stage.organizationId, '--amount', '100000000', '--reference', 'payroll'],
    stage.settings,
  );
  const before = await executions(stage);
  const began = performance.now();
  let left = payouts;
  const load = await runLoad({
    ports: stage.ports,
    connections: CONNECTIONS,
    seconds: 3600,
    warmUpSeconds: 0,
    request: (index) => {
      if (left <= 0) return null;
      left -= 1;
      const body = `{"amountInCents":1000,"currency":"COP","rail":"BRE_B","reference":"payroll-${index}","inlineCustomer":{"name":"Ana Rojas","idType":"CO_CC","idNumber":"1020304050","phone":"+573001234567","email":"ana@example.com"},"breb":{"keyString":"@TESTOK"}}`;
      return `POST /payouts HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${stage.apiKey}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    },
  });
  const createdIn = (performance.now() - began) / 1000;
  while ((await confirmed(stage)) < payouts) await sleep(50);
  const seconds = (performance.now() - began) / 1000;
  const executed = (await executions(stage)) - before;
  if (executed !== payouts) throw new Error(`${executed} executions for ${payouts} payouts`);
  console.log(
    `D1 a payroll of ${payouts} on one organization: created at ${(payouts / createdIn).toFixed(0)}/s (p99 ${load.p99Ms.toFixed(0)} ms, ${load.failures} failed), all confirmed after ${seconds.toFixed(1)} s, ${(payouts / seconds).toFixed(0)}/s, each executed once; target ${TARGET_PER_SECOND}`,
  );
}

async function confirmed(stage: Stage): Promise<number> {
  const [row] = await stage.query<{ count: string }>(
    "select count(*) as count from caudal.final_events where event = 'payout.confirmed'",
  );
  return Number(row?.count);
}

/** By the rail's own count. */
async function executions(stage: Stage): Promise<number> {
  const stats = (await (await fetch(`${stage.simulatorUrl}/control/stats`)).json()) as {
    orders: { settled: number };
  };
  return stats.orders.settled;
}
