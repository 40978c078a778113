import { setTimeout as sleep } from 'node:timers/promises';
import { runLoad } from '../load/load.ts';
import { payinRequest, requestMaker } from '../load/load-plan.ts';
import { atMost, type Metric } from '../metric.ts';
import { readCpuSeconds, readTreeCpuSeconds } from '../stage/processor-time.ts';
import { postmasterPid } from './database.ts';
import type { Side } from './pages.ts';

const CONNECTIONS = 32;
const TARGET = 1.2;

interface Totals {
  creates: number;
  seconds: number;
  apiSeconds: number;
  postgresSeconds: number;
}

/** P4: cost of a creation on a database with a long history ÷ on an empty one, alternating. */
export async function benchCreates(
  empty: Side,
  large: Side,
  options: { readonly rounds: number; readonly seconds: number },
): Promise<Metric[]> {
  const postgres = await postmasterPid(large.database);
  const totals = [empty, large].map(
    (): Totals => ({ creates: 0, seconds: 0, apiSeconds: 0, postgresSeconds: 0 }),
  );
  // The first round is not counted: code is compiled, statements are prepared, and full-page writes after a checkpoint
  // happen once.
  for (let round = 0; round <= options.rounds; round += 1) {
    for (const [index, side] of [empty, large].entries()) {
      const spent = await create(side, postgres, `${index}-${round}`, options.seconds);
      const total = totals[index];
      if (round === 0 || !total) continue;
      total.creates += spent.creates;
      total.seconds += spent.seconds;
      total.apiSeconds += spent.apiSeconds;
      total.postgresSeconds += spent.postgresSeconds;
    }
  }
  const [emptyTotals, largeTotals] = totals;
  if (!emptyTotals || !largeTotals) throw new Error('nothing was measured');
  return [
    atMost(TARGET, {
      id: 'P4',
      description: `CPU time of a creation at ${large.database.rows} rows ÷ empty`,
      value: cpuPerCreate(largeTotals) / cpuPerCreate(emptyTotals),
      details: `${describeTotals(largeTotals)} ÷ ${describeTotals(emptyTotals)}; throughput ${(largeTotals.creates / largeTotals.seconds / (emptyTotals.creates / emptyTotals.seconds)).toFixed(2)}`,
    }),
  ];
}

async function create(side: Side, postgres: number, round: string, seconds: number): Promise<Totals> {
  const apiKey = side.database.organizations[0]?.apiKey ?? '';
  const request = requestMaker(payinRequest([apiKey], `growth-${process.pid}-${round}`));
  const before = { api: readCpuSeconds(side.api.pid), postgres: readTreeCpuSeconds(postgres) };
  const load = await runLoad({
    ports: [side.api.port],
    connections: CONNECTIONS,
    seconds,
    warmUpSeconds: 0,
    request,
  });
  if (load.failures > 0) throw new Error(`${load.failures} creations were not answered with 201`);
  await waitForRegistration(side);
  return {
    creates: load.requests,
    seconds: load.seconds,
    apiSeconds: readCpuSeconds(side.api.pid) - before.api,
    postgresSeconds: readTreeCpuSeconds(postgres) - before.postgres,
  };
}

/** Key registration is part of the cost and must not be counted for the other side. */
async function waitForRegistration({ database }: Side): Promise<void> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await sleep(100)) {
    const [row] = await database.query<{ waiting: boolean }>(
      'select exists (select from caudal.breb_keys where register_due_at is not null) as waiting',
    );
    if (row?.waiting === false) return;
  }
  throw new Error('keys were not registered within a minute');
}

function cpuPerCreate({ creates, apiSeconds, postgresSeconds }: Totals): number {
  return (apiSeconds + postgresSeconds) / creates;
}

function describeTotals(total: Totals): string {
  const ms = (seconds: number) => ((1000 * seconds) / total.creates).toFixed(3);
  return `${ms(total.apiSeconds + total.postgresSeconds)} ms (API ${ms(total.apiSeconds)}, PostgreSQL ${ms(total.postgresSeconds)}) at ${(total.creates / total.seconds).toFixed(0)}/s`;
}
