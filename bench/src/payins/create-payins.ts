import { withBaselineServers } from '../load/baseline-servers.ts';
import { generateLoad, generatorShare } from '../load/generate-load.ts';
import { payinRequest } from '../load/load-plan.ts';
import type { LoadResult } from '../load/load-result.ts';
import { atLeast, atMost, type Metric } from '../metric.ts';
import { type Cost, costPerItem, costText } from '../stage/cost.ts';
import { totals } from '../stage/database-totals.ts';
import { findBest, type PgbenchResult, runPgbench } from '../stage/pgbench.ts';
import { spentSince } from '../stage/processor-time.ts';
import type { Stage } from '../stage/stage.ts';
import { CREATE_PAYIN } from './baseline-creation.ts';

const CONNECTIONS = 128;
/** Share of the measured capacity: busy, but without a growing queue. */
const OPEN_SHARE = 0.6;

interface Durations {
  readonly warmUp: number;
  readonly closed: number;
  readonly open: number;
  readonly pgbench: number;
  readonly baselineServer: number;
}

/**
 * P1: creations per second through the API ÷ the same rows written by pgbench, in one run. P8 is a by-product. Capacity is
 * measured with the closed model; latency also with the open model, below capacity.
 */
export async function benchCreatePayins(stage: Stage, seconds: Durations, seed: number): Promise<Metric[]> {
  const scripts = [CREATE_PAYIN.replaceAll(':org', `'${stage.organizationId}'::uuid`)];
  const runBaseline = (clients: number) =>
    runPgbench(stage, { scripts, clients, seconds: seconds.pgbench, seed });
  // Baseline before and after, so that a slowdown of the machine during the run does not decide the ratio.
  const baselines = [await runBaseline(8), await runBaseline(16)];
  const before = await totals(stage);
  const spent = stage.spent();
  const closed = await generateLoad(stage, {
    perSecond: null,
    connections: CONNECTIONS,
    seconds: seconds.closed,
    warmUpSeconds: seconds.warmUp,
    request: payinRequest([stage.apiKey], `closed-${seed}`),
  });
  const after = await totals(stage);
  const created = after.payins - before.payins;
  const cost = costPerItem(created, spentSince(spent, stage.spent()), before, after);
  await stage.abandonUnpaidPayins();
  baselines.push(await runBaseline(32), await runBaseline(64));
  const open = await generateLoad(stage, {
    perSecond: Math.round(closed.perSecond * OPEN_SHARE),
    connections: CONNECTIONS,
    seconds: seconds.open,
    warmUpSeconds: 0.5,
    request: payinRequest([stage.apiKey], `open-${seed}`),
  });
  const baselineServer = await loadBaselineServers(
    stage,
    seconds.baselineServer,
    Math.round(open.perSecond),
    seed,
  );
  if (closed.failures + open.failures > 0)
    throw new Error(`${closed.failures + open.failures} creations were not answered 201`);
  await checkCreated(stage, closed.requests, created);
  return [...speedMetrics(closed, open, baselines, baselineServer), ...writeCostMetrics(cost)];
}

interface BaselineServer {
  readonly closed: LoadResult;
  readonly open: LoadResult;
}

/** The same two loads on baseline servers: their latency is that of the machine and the framework. */
function loadBaselineServers(
  { folder }: Stage,
  seconds: number,
  perSecond: number,
  seed: number,
): Promise<BaselineServer> {
  const plan = { connections: CONNECTIONS, seconds, request: payinRequest(['none'], `baseline-${seed}`) };
  return withBaselineServers(async (ports) => ({
    closed: await generateLoad({ folder, ports }, { ...plan, perSecond: null, warmUpSeconds: seconds / 2 }),
    open: await generateLoad({ folder, ports }, { ...plan, perSecond, warmUpSeconds: 0.5 }),
  }));
}

function writeCostMetrics(cost: Cost): Metric[] {
  const description = 'per payin under load, including key registration';
  return [
    atMost(3072, {
      id: 'P8',
      unit: 'bytes of WAL',
      description,
      value: cost.walBytes,
      details: costText(cost),
      figures: { ...cost },
    }),
    atMost(0.1, { id: 'P8', unit: 'commits', description, value: cost.commits, details: '' }),
  ];
}

function speedMetrics(
  closed: LoadResult,
  open: LoadResult,
  baselines: readonly PgbenchResult[],
  baselineServer: BaselineServer,
): Metric[] {
  const best = findBest(baselines);
  return [
    atLeast(1, {
      id: 'P1',
      description: 'creations of the API ÷ pgbench with the same rows',
      value: closed.perSecond / best.perSecond,
      details: {
        API: `${closed.perSecond.toFixed(0)}/s`,
        pgbench: `${best.perSecond.toFixed(0)}/s at ${best.clients} clients (${baselines.map((each) => `${each.clients}: ${each.perSecond.toFixed(0)}`).join(', ')})`,
        generator: generatorShare(closed),
      },
      figures: { perSecond: closed.perSecond },
      samples: {
        bars: [
          { name: 'Caudal', value: closed.perSecond },
          ...baselines.map((each) => ({ name: `pgbench ${each.clients}`, value: each.perSecond })),
        ],
        perSecond: [{ name: 'creations', values: closed.overTime }],
      },
    }),
    atMost(50, {
      id: 'P1',
      unit: 'ms',
      description: `p99 of a creation at ${CONNECTIONS} connections at full speed`,
      value: closed.p99Ms,
      details: {
        ours: latencyText(closed),
        'baseline server on the same framework': `${latencyText(baselineServer.closed)} at ${baselineServer.closed.perSecond.toFixed(0)}/s`,
        [`arriving at ${open.perSecond.toFixed(0)}/s, from the intended send time`]: latencyText(open),
        'baseline server': latencyText(baselineServer.open),
        generator: generatorShare(open),
      },
      samples: {
        latency: [
          { name: `closed, ${CONNECTIONS} connections`, points: closed.latency },
          { name: `open, ${open.perSecond.toFixed(0)}/s`, points: open.latency },
          { name: 'baseline server, closed', points: baselineServer.closed.latency },
          { name: 'baseline server, open', points: baselineServer.open.latency },
        ],
      },
    }),
  ];
}

function latencyText({ p50Ms, p99Ms, maxMs }: LoadResult): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, max ${maxMs.toFixed(0)} ms`;
}

/** Verifies that all acknowledged payins are in the database with their key and history. */
async function checkCreated(stage: Stage, acknowledged: number, created: number): Promise<void> {
  if (created < acknowledged)
    throw new Error(`${acknowledged} creations were acknowledged, ${created} are in the database`);
  const [row] = await stage.query<{ lost: string }>(
    'select count(*) as lost from caudal.payins p where not exists (select from caudal.breb_keys k where k.payin_id = p.id) or not exists (select from caudal.payin_history h where h.organization_id = p.organization_id and h.payin_id = p.id)',
  );
  if (row?.lost !== '0') throw new Error(`${row?.lost} payins lack their key or their history`);
}
