import { runServerCommand } from '../../../scripts/stack/processes.ts';
import { generateLoad } from '../load/generate-load.ts';
import { payinRequest } from '../load/load-plan.ts';
import type { LoadResult } from '../load/load-result.ts';
import { atMost, type Metric } from '../metric.ts';
import type { Organization } from '../stage/new-organizations.ts';
import type { Stage } from '../stage/stage.ts';
import { serverSeconds } from './load.ts';
import { benchNoisyNeighbor } from './noisy-neighbor.ts';
import { benchTripleLoad } from './triple.ts';

const MERCHANTS = 20;
const CONNECTIONS = 128;
const ESTIMATE_SECONDS = 2;

export interface OverloadOptions {
  /** Longer than 30 seconds, after which the worker polls unpaid payins: before that the server does less work. */
  readonly warmUpSeconds: number;
  readonly capacitySeconds: number;
  readonly overloadSeconds: number;
  readonly calmSeconds: number;
  readonly neighborSeconds: number;
  readonly neighborRounds: number;
}

/** O1 to O5: goodput at three times the capacity, and the effect of one organization's flood on the others. */
export async function benchOverload(stage: Stage, options: OverloadOptions): Promise<Metric[]> {
  const merchants = await stage.newOrganizations(MERCHANTS);
  const first = await measureLoad(stage, merchants, ESTIMATE_SECONDS, ESTIMATE_SECONDS);
  await stage.abandonUnpaidPayins();
  const neighbor = await benchNoisyNeighbor(stage, {
    quietPerSecond: first.load.perSecond / 4,
    seconds: options.neighborSeconds,
    rounds: options.neighborRounds,
  });
  const served = await measureLoad(stage, merchants, options.capacitySeconds, options.warmUpSeconds);
  const triple = await benchTripleLoad(stage, merchants, {
    capacity: served.load.perSecond,
    servedMs: served.cpuMs,
    seconds: options.overloadSeconds,
    calmSeconds: options.calmSeconds,
  });
  return [...triple, neighbor, await rejectionMetric(stage, served.cpuMs, options.capacitySeconds / 2)];
}

async function rejectionMetric(stage: Stage, servedMs: number, seconds: number): Promise<Metric> {
  const [rejected] = await stage.newOrganizations(1);
  if (!rejected) throw new Error('the organization was not created');
  await runServerCommand(['org', 'limits', rejected.organizationId, '--writes', '1'], stage.settings);
  const { cpuMs, load } = await measureLoad(stage, [rejected], seconds, 3);
  return atMost(0.15, {
    id: 'O5',
    description: 'CPU time of server and database for a rejected request ÷ a served one',
    value: cpuMs / servedMs,
    details: { 'rejected, ms': cpuMs, 'served, ms': servedMs, 'rejected/s': load.failures / load.seconds },
  });
}

/** Measures capacity with the closed model. @returns also the CPU milliseconds per response of the API and the database */
async function measureLoad(
  stage: Stage,
  organizations: readonly Organization[],
  seconds: number,
  warmUpSeconds: number,
): Promise<{ load: LoadResult; cpuMs: number }> {
  const apiKeys = organizations.map(({ apiKey }) => apiKey);
  const plan = { perSecond: null, connections: CONNECTIONS, warmUpSeconds: 0 };
  const run = Date.now().toString(36);
  await generateLoad(stage, { ...plan, seconds: warmUpSeconds, request: payinRequest(apiKeys, `${run}w`) });
  const before = serverSeconds(stage);
  const load = await generateLoad(stage, { ...plan, seconds, request: payinRequest(apiKeys, run) });
  const spentMs = 1000 * (serverSeconds(stage) - before);
  return { load, cpuMs: spentMs / (load.requests + load.failures) };
}
