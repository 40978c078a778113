import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { startChild } from '../../../scripts/stack/child.ts';
import { payinRequest } from '../load/load-plan.ts';
import { atLeast, type Metric } from '../metric.ts';
import { type Cost, costOfEach, costText } from '../stage/cost.ts';
import { totals } from '../stage/database-totals.ts';
import type { Organization } from '../stage/new-organizations.ts';
import { bestOf, type PgbenchResult, runPgbench } from '../stage/pgbench.ts';
import { cpuSecondsOf, type Spent, spentSince } from '../stage/processor-time.ts';
import type { Stage } from '../stage/stage.ts';
import { createEndpoints, deleteEndpoints } from '../webhooks/endpoints.ts';
import { type Sink, startSink } from '../webhooks/start-sink.ts';
import { bareLife, MERCHANTS_TABLE, type SealedSizes } from './baseline-life.ts';
import { checkLives } from './life-check.ts';
import type { LifePlan, LifeResult } from './life-plan.ts';

const GENERATOR = fileURLToPath(new URL('life-generator.ts', import.meta.url));
const CONNECTIONS = 64;
/** Several balances and several endpoints, as in a day; the twin has one for each client. */
const ORGANIZATIONS = 8;
const ALIVE = 2000;
const TARGET = 0.5;

interface Durations {
  readonly warmUp: number;
  readonly ours: number;
  readonly pgbench: number;
  readonly clients: readonly number[];
}

interface Lived extends LifeResult {
  readonly created: number;
  readonly spent: Spent;
  readonly sinkCpuSeconds: number;
  /** From the first request to the last webhook. */
  readonly allSeconds: number;
  readonly cost: Cost;
}

/**
 * P2: whole lives a second (created by a merchant, its key registered and paid at the network, confirmed, booked, its event
 * told to the merchant's endpoint) ÷ the same rows written by pgbench. All steps run at once, as they do in a day.
 */
export async function benchWholeLives(stage: Stage, seconds: Durations, seed: number): Promise<Metric[]> {
  const organizations = await stage.newOrganizations(ORGANIZATIONS);
  const sink = await startSink(ORGANIZATIONS);
  try {
    const endpoints = await endpointsOf(stage, organizations, sink);
    const lived = await live(stage, organizations, sink, seconds, seed);
    await deleteEndpoints(stage, endpoints);
    await checkLives(stage, organizations, lived.created);
    await stage.leaveUnpaid();
    const baselines = await bareLives(stage, await sealedSizes(stage, organizations), seconds, seed);
    return [lineOf(lived, baselines)];
  } finally {
    await sink.stop();
  }
}

async function endpointsOf(stage: Stage, organizations: readonly Organization[], sink: Sink) {
  const each = await Promise.all(
    organizations.map(({ apiKey }, index) =>
      createEndpoints(stage, apiKey, sink.ports.slice(index, index + 1)),
    ),
  );
  return each.flat();
}

async function live(
  stage: Stage,
  organizations: readonly Organization[],
  sink: Sink,
  seconds: Durations,
  seed: number,
): Promise<Lived> {
  const plan: LifePlan = {
    ports: stage.ports,
    connections: CONNECTIONS,
    simulatorUrl: stage.simulatorUrl,
    sinkControl: sink.control,
    request: payinRequest(
      organizations.map(({ apiKey }) => apiKey),
      `life-${seed}`,
    ),
    alive: ALIVE,
    seconds: seconds.ours,
    warmUpSeconds: seconds.warmUp,
  };
  const file = join(stage.folder, 'life-plan.json');
  writeFileSync(file, JSON.stringify(plan));
  const before = await totals(stage);
  const spentBefore = stage.spent();
  const sinkBefore = cpuSecondsOf(sink.pid);
  const began = performance.now();
  const child = await startChild({ name: 'life generator', args: [GENERATOR, file], readiness: 'exit' });
  const allSeconds = (performance.now() - began) / 1000;
  const result = JSON.parse(child.output()) as LifeResult & { created: number };
  const spent = spentSince(spentBefore, stage.spent());
  const cost = costOfEach(result.created, spent, before, await totals(stage));
  return { ...result, spent, cost, allSeconds, sinkCpuSeconds: cpuSecondsOf(sink.pid) - sinkBefore };
}

async function bareLives(
  stage: Stage,
  sizes: SealedSizes,
  seconds: Durations,
  seed: number,
): Promise<PgbenchResult[]> {
  const merchants = await stage.newOrganizations(Math.max(...seconds.clients), stage.baselineUrl);
  const baseline = new Client({ connectionString: stage.baselineUrl });
  await baseline.connect();
  await baseline.query(
    `create table ${MERCHANTS_TABLE} (n integer primary key, organization_id uuid not null)`,
  );
  await baseline.query(
    `insert into ${MERCHANTS_TABLE} select n - 1, id from unnest($1::uuid[]) with ordinality as m (id, n)`,
    [merchants.map(({ organizationId }) => organizationId)],
  );
  await baseline.end();
  const scripts = [bareLife(sizes)];
  const results: PgbenchResult[] = [];
  for (const clients of seconds.clients)
    results.push(await runPgbench(stage, { scripts, clients, seconds: seconds.pgbench, seed }));
  return results;
}

/** What ours holds encrypted, so that the twin's rows are as long. */
async function sealedSizes(stage: Stage, organizations: readonly Organization[]): Promise<SealedSizes> {
  const of = list(organizations);
  const [row] = await stage.query<{ notice: number; event: number; answer: number }>(
    `select
       (select avg(octet_length(raw))::int from (select raw from caudal.rail_notices where raw is not null limit 1000) as n) as notice,
       (select avg(octet_length(payload))::int from (select payload from caudal.events where organization_id in (${of}) limit 1000) as e) as event,
       (select avg(octet_length(answer))::int from (select answer from caudal.webhook_attempts where organization_id in (${of}) limit 1000) as a) as answer`,
  );
  return { notice: row?.notice ?? 0, event: row?.event ?? 0, answer: row?.answer ?? 0 };
}

function list(organizations: readonly Organization[]): string {
  return organizations.map(({ organizationId }) => `'${organizationId}'`).join(', ');
}

function lineOf(lived: Lived, baselines: readonly PgbenchResult[]): Metric {
  const best = bestOf(baselines);
  const share = (cpu: number, seconds: number) => `${((100 * cpu) / seconds).toFixed(0)} %`;
  return atLeast(TARGET, {
    id: 'P2',
    says: 'whole lives (created, paid, confirmed, booked, webhook received) ÷ pgbench with the same rows',
    value: lived.perSecond / best.perSecond,
    details: {
      lives: `${lived.perSecond.toFixed(0)}/s with ${ALIVE} alive over ${ORGANIZATIONS} organizations`,
      pgbench: `${best.perSecond.toFixed(0)}/s at ${best.clients} clients (${baselines.map((each) => `${each.clients}: ${each.perSecond.toFixed(0)}`).join(', ')})`,
      cost: costText(lived.cost),
      'of a core': `generator ${share(lived.generatorCpuSeconds, lived.seconds)}, rail ${share(lived.spent.simulator, lived.allSeconds)}, sink ${share(lived.sinkCpuSeconds, lived.allSeconds)}`,
    },
    figures: { perSecond: lived.perSecond, ...lived.cost },
    samples: {
      bars: [
        { name: 'Caudal', value: lived.perSecond },
        ...baselines.map((each) => ({ name: `pgbench ${each.clients}`, value: each.perSecond })),
      ],
      perSecond: [{ name: 'lives', values: lived.overTime }],
    },
  });
}
