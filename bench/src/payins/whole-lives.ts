import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { startChild } from '../../../scripts/stack/child.ts';
import { payinRequest } from '../load/load-plan.ts';
import { atLeast, type Metric } from '../metric.ts';
import { type Cost, costPerItem, costText } from '../stage/cost.ts';
import { totals } from '../stage/database-totals.ts';
import type { Organization } from '../stage/new-organizations.ts';
import { findBest, type PgbenchResult, runPgbench } from '../stage/pgbench.ts';
import { readCpuSeconds, type Spent, spentSince } from '../stage/processor-time.ts';
import type { Stage } from '../stage/stage.ts';
import { createEndpoints, deleteEndpoints } from '../webhooks/endpoints.ts';
import { type Sink, startSink } from '../webhooks/start-sink.ts';
import { baselineLife, type EncryptedSizes, MERCHANTS_TABLE } from './baseline-life.ts';
import { checkLives } from './life-check.ts';
import type { LifePlan, LifeResult } from './life-plan.ts';

const GENERATOR = fileURLToPath(new URL('life-generator.ts', import.meta.url));
const CONNECTIONS = 64;
/** Several balances and endpoints, as in production; the baseline has one per client. */
const ORGANIZATIONS = 8;
const ALIVE = 2000;
const TARGET = 0.5;

interface Durations {
  readonly warmUp: number;
  readonly ours: number;
  readonly pgbench: number;
  readonly clients: readonly number[];
}

interface LifeRun extends LifeResult {
  readonly created: number;
  readonly spent: Spent;
  readonly sinkCpuSeconds: number;
  /** From the first request to the last webhook. */
  readonly allSeconds: number;
  readonly cost: Cost;
}

/**
 * P2: full payin lifecycles per second (created by a merchant, key registered and paid at the network, confirmed, posted
 * to the ledger, event delivered to the merchant's endpoint) ÷ the same rows written by pgbench. All steps run
 * concurrently, as in production.
 */
export async function benchWholeLives(stage: Stage, seconds: Durations, seed: number): Promise<Metric[]> {
  const organizations = await stage.newOrganizations(ORGANIZATIONS);
  const sink = await startSink(ORGANIZATIONS);
  try {
    const endpoints = await createEndpointsPerOrganization(stage, organizations, sink);
    const run = await runLives(stage, organizations, sink, seconds, seed);
    await deleteEndpoints(stage, endpoints);
    await checkLives(stage, organizations, run.created);
    await stage.abandonUnpaidPayins();
    const baselines = await baselineLives(stage, await encryptedSizes(stage, organizations), seconds, seed);
    return [toMetric(run, baselines)];
  } finally {
    await sink.stop();
  }
}

async function createEndpointsPerOrganization(
  stage: Stage,
  organizations: readonly Organization[],
  sink: Sink,
) {
  const each = await Promise.all(
    organizations.map(({ apiKey }, index) =>
      createEndpoints(stage, apiKey, sink.ports.slice(index, index + 1)),
    ),
  );
  return each.flat();
}

async function runLives(
  stage: Stage,
  organizations: readonly Organization[],
  sink: Sink,
  seconds: Durations,
  seed: number,
): Promise<LifeRun> {
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
  const sinkBefore = readCpuSeconds(sink.pid);
  const startedAt = performance.now();
  const child = await startChild({ name: 'life generator', args: [GENERATOR, file], readiness: 'exit' });
  const allSeconds = (performance.now() - startedAt) / 1000;
  const result = JSON.parse(child.output()) as LifeResult & { created: number };
  const spent = spentSince(spentBefore, stage.spent());
  const cost = costPerItem(result.created, spent, before, await totals(stage));
  return { ...result, spent, cost, allSeconds, sinkCpuSeconds: readCpuSeconds(sink.pid) - sinkBefore };
}

async function baselineLives(
  stage: Stage,
  sizes: EncryptedSizes,
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
  const scripts = [baselineLife(sizes)];
  const results: PgbenchResult[] = [];
  for (const clients of seconds.clients)
    results.push(await runPgbench(stage, { scripts, clients, seconds: seconds.pgbench, seed }));
  return results;
}

/** Sizes of encrypted values, so that the rows of the baseline have the same length. */
async function encryptedSizes(stage: Stage, organizations: readonly Organization[]): Promise<EncryptedSizes> {
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

function toMetric(run: LifeRun, baselines: readonly PgbenchResult[]): Metric {
  const best = findBest(baselines);
  const share = (cpu: number, seconds: number) => `${((100 * cpu) / seconds).toFixed(0)} %`;
  return atLeast(TARGET, {
    id: 'P2',
    description:
      'full payin lifecycles (created, paid, confirmed, posted, webhook received) ÷ pgbench with the same rows',
    value: run.perSecond / best.perSecond,
    details: {
      lives: `${run.perSecond.toFixed(0)}/s with ${ALIVE} alive over ${ORGANIZATIONS} organizations`,
      pgbench: `${best.perSecond.toFixed(0)}/s at ${best.clients} clients (${baselines.map((each) => `${each.clients}: ${each.perSecond.toFixed(0)}`).join(', ')})`,
      cost: costText(run.cost),
      'of a core': `generator ${share(run.generatorCpuSeconds, run.seconds)}, rail ${share(run.spent.simulator, run.allSeconds)}, sink ${share(run.sinkCpuSeconds, run.allSeconds)}`,
    },
    figures: { perSecond: run.perSecond, ...run.cost },
    samples: {
      bars: [
        { name: 'Caudal', value: run.perSecond },
        ...baselines.map((each) => ({ name: `pgbench ${each.clients}`, value: each.perSecond })),
      ],
      perSecond: [{ name: 'lives', values: run.overTime }],
    },
  });
}
