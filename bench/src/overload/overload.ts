import { runServerCommand } from '../../../scripts/stack/processes.ts';
import { generateLoad } from '../load/generate-load.ts';
import { payinRequest } from '../load/load-plan.ts';
import type { LoadResult } from '../load/load-result.ts';
import { atMost, type Metric } from '../metric.ts';
import type { Organization } from '../stage/new-organizations.ts';
import type { Stage } from '../stage/stage.ts';
import { serverSeconds } from './load.ts';
import { benchNoisyNeighbour } from './neighbour.ts';
import { benchTripleLoad } from './triple.ts';

const MERCHANTS = 20;
const CONNECTIONS = 128;
const ROUGHLY_SECONDS = 2;

export interface OverloadOptions {
  /** A payin that nobody pays is asked about after thirty seconds: before that a server does less than it will have to. */
  readonly warmUpSeconds: number;
  readonly capacitySeconds: number;
  readonly overloadSeconds: number;
  readonly calmSeconds: number;
  readonly neighbourSeconds: number;
  readonly neighbourRounds: number;
}

/** O1 to O5: what is left of the capacity when three times as much comes, and what one organization's flood does to the others. */
export async function benchOverload(stage: Stage, options: OverloadOptions): Promise<Metric[]> {
  const merchants = await stage.newOrganizations(MERCHANTS);
  const first = await measured(stage, merchants, ROUGHLY_SECONDS, ROUGHLY_SECONDS);
  await stage.leaveUnpaid();
  const neighbour = await benchNoisyNeighbour(stage, {
    quietPerSecond: first.load.perSecond / 4,
    seconds: options.neighbourSeconds,
    rounds: options.neighbourRounds,
  });
  const served = await measured(stage, merchants, options.capacitySeconds, options.warmUpSeconds);
  const triple = await benchTripleLoad(stage, merchants, {
    capacity: served.load.perSecond,
    servedMs: served.cpuMs,
    seconds: options.overloadSeconds,
    calmSeconds: options.calmSeconds,
  });
  return [...triple, neighbour, await refusalLine(stage, served.cpuMs, options.capacitySeconds / 2)];
}

async function refusalLine(stage: Stage, servedMs: number, seconds: number): Promise<Metric> {
  const [refused] = await stage.newOrganizations(1);
  if (!refused) throw new Error('there is no organization to refuse');
  await runServerCommand(['org', 'limits', refused.organizationId, '--writes', '1'], stage.settings);
  const { cpuMs, load } = await measured(stage, [refused], seconds, 3);
  return atMost(0.15, {
    id: 'O5',
    says: "server's and database's processor time of a refused request ÷ of a served one",
    value: cpuMs / servedMs,
    details: { 'refused, ms': cpuMs, 'served, ms': servedMs, 'refused/s': load.failures / load.seconds },
  });
}

/** Closed model: as much as is done. @returns with it what an answer cost the API and the database, in ms of a core */
async function measured(
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
