import { besideBareServers } from '../load/baseline-servers.ts';
import { generateLoad, generatorShare } from '../load/generate-load.ts';
import { payinRequest } from '../load/load-plan.ts';
import type { LoadResult } from '../load/load-result.ts';
import { atLeast, atMost, type Metric } from '../metric.ts';
import { type Cost, costOfEach, costText } from '../stage/cost.ts';
import { totals } from '../stage/database-totals.ts';
import { bestOf, type PgbenchResult, runPgbench } from '../stage/pgbench.ts';
import { spentSince } from '../stage/processor-time.ts';
import type { Stage } from '../stage/stage.ts';
import { CREATE_PAYIN } from './baseline-creation.ts';

const CONNECTIONS = 128;
/** Of the capacity just measured: busy, but not so that a queue must grow. */
const OPEN_SHARE = 0.6;

interface Durations {
  readonly warmUp: number;
  readonly closed: number;
  readonly open: number;
  readonly pgbench: number;
  readonly bareServer: number;
}

/**
 * P1: creations a second by the API ÷ the same rows written by pgbench, in one run. P8 falls out of it. Capacity is
 * measured closed; latency also open, at a rate below it.
 */
export async function benchCreatePayins(stage: Stage, seconds: Durations, seed: number): Promise<Metric[]> {
  const scripts = [CREATE_PAYIN.replaceAll(':org', `'${stage.organizationId}'::uuid`)];
  const bare = (clients: number) => runPgbench(stage, { scripts, clients, seconds: seconds.pgbench, seed });
  // The bare twin before and after, so that a machine that slows down during the run does not decide the ratio.
  const baselines = [await bare(8), await bare(16)];
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
  const cost = costOfEach(created, spentSince(spent, stage.spent()), before, after);
  await stage.leaveUnpaid();
  baselines.push(await bare(32), await bare(64));
  const open = await generateLoad(stage, {
    perSecond: Math.round(closed.perSecond * OPEN_SHARE),
    connections: CONNECTIONS,
    seconds: seconds.open,
    warmUpSeconds: 0.5,
    request: payinRequest([stage.apiKey], `open-${seed}`),
  });
  const bareServer = await loadBareServers(stage, seconds.bareServer, Math.round(open.perSecond), seed);
  if (closed.failures + open.failures > 0)
    throw new Error(`${closed.failures + open.failures} creations were not answered 201`);
  await checkAllThere(stage, closed.requests, created);
  return [...speedLines(closed, open, baselines, bareServer), ...writeLines(cost)];
}

interface BareServer {
  readonly closed: LoadResult;
  readonly open: LoadResult;
}

/** The same two loads on servers that do nothing: what is left of a latency then is the machine's and the framework's. */
function loadBareServers(
  { folder }: Stage,
  seconds: number,
  perSecond: number,
  seed: number,
): Promise<BareServer> {
  const plan = { connections: CONNECTIONS, seconds, request: payinRequest(['none'], `bare-${seed}`) };
  return besideBareServers(async (ports) => ({
    closed: await generateLoad({ folder, ports }, { ...plan, perSecond: null, warmUpSeconds: seconds / 2 }),
    open: await generateLoad({ folder, ports }, { ...plan, perSecond, warmUpSeconds: 0.5 }),
  }));
}

function writeLines(cost: Cost): Metric[] {
  const says = 'a payin under load, key registration included';
  return [
    atMost(3072, {
      id: 'P8',
      unit: 'bytes of WAL',
      says,
      value: cost.walBytes,
      details: costText(cost),
      figures: { ...cost },
    }),
    atMost(0.1, { id: 'P8', unit: 'commits', says, value: cost.commits, details: '' }),
  ];
}

function speedLines(
  closed: LoadResult,
  open: LoadResult,
  baselines: readonly PgbenchResult[],
  bareServer: BareServer,
): Metric[] {
  const best = bestOf(baselines);
  return [
    atLeast(1, {
      id: 'P1',
      says: 'creations of the API ÷ pgbench with the same rows',
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
      says: `p99 of a creation at ${CONNECTIONS} connections, as fast as they go`,
      value: closed.p99Ms,
      details: {
        ours: latencyText(closed),
        'a bare server on the same framework': `${latencyText(bareServer.closed)} at ${bareServer.closed.perSecond.toFixed(0)}/s`,
        [`arriving at ${open.perSecond.toFixed(0)}/s, from the intended moment`]: latencyText(open),
        'the bare server': latencyText(bareServer.open),
        generator: generatorShare(open),
      },
      samples: {
        latency: [
          { name: `closed, ${CONNECTIONS} connections`, points: closed.latency },
          { name: `open, ${open.perSecond.toFixed(0)}/s`, points: open.latency },
          { name: 'bare server, closed', points: bareServer.closed.latency },
          { name: 'bare server, open', points: bareServer.open.latency },
        ],
      },
    }),
  ];
}

function latencyText({ p50Ms, p99Ms, maxMs }: LoadResult): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, max ${maxMs.toFixed(0)} ms`;
}

/** A speed is worth nothing if what was acknowledged is not there. */
async function checkAllThere(stage: Stage, acknowledged: number, created: number): Promise<void> {
  if (created < acknowledged)
    throw new Error(`${acknowledged} creations were acknowledged, ${created} are in the database`);
  const [row] = await stage.query<{ lost: string }>(
    'select count(*) as lost from caudal.payins p where not exists (select from caudal.breb_keys k where k.payin_id = p.id) or not exists (select from caudal.payin_history h where h.organization_id = p.organization_id and h.payin_id = p.id)',
  );
  if (row?.lost !== '0') throw new Error(`${row?.lost} payins lack their key or their history`);
}
