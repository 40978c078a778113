import { setTimeout as sleep } from 'node:timers/promises';
import { quantile, toCurve } from '../load/load-result.ts';
import { atMost, type Metric } from '../metric.ts';
import { createPayins, pay, payableKeys } from '../payins/payable-keys.ts';
import type { Organization } from '../stage/new-organizations.ts';
import type { Stage } from '../stage/stage.ts';
import { createEndpointsPerOrganization, deleteEndpoints, type Endpoint } from './endpoints.ts';
import { type Sink, startSink } from './start-sink.ts';

/** Number of hanging endpoints in each group of ten. */
const HANGING_OF_TEN = 3;
const TICK_MS = 100;
/** Duration of the first attempts at hanging endpoints. */
const ONSET_MS = 10_000;
const TARGET_MS = 2000;
const TARGET_HEALTHY_MS = 1000;
const WITHIN_MS = 60_000;

/** Size of a scenario. */
export interface Size {
  readonly endpoints: number;
  /** The endpoints are distributed over the organizations. */
  readonly organizations: number;
  readonly eventsPerSecond: number;
}

interface Scene {
  readonly size: Size;
  readonly sink: Sink;
  readonly organizations: readonly Organization[];
  readonly endpoints: readonly Endpoint[];
  /** Bre-B keys of unpaid payins of all organizations. */
  readonly keys: string[];
}

interface Lag {
  /** Creation time of the event since the start of the run. */
  readonly atMs: number;
  readonly ms: number;
}

/**
 * Time from the creation of an event (before its commit: an upper bound) to its first attempt at healthy endpoints, while
 * three of ten endpoints accept requests and never answer. They hang from the first event on, so the result includes the
 * phase in which the worker does not know yet which endpoints hang.
 */
export async function benchHangingEndpoints(
  stage: Stage,
  id: string,
  { seconds, sizes, alsoHealthy }: { seconds: number; sizes: readonly Size[]; alsoHealthy: boolean },
): Promise<Metric[]> {
  const metrics: Metric[] = [];
  for (const size of sizes) {
    const scene = await setUp(stage, size, (alsoHealthy ? 2 : 1) * size.eventsPerSecond * seconds);
    try {
      const where = `${size.organizations} organizations with ${size.endpoints / size.organizations} endpoints each, ${size.eventsPerSecond} events/s for ${seconds} s`;
      const none = alsoHealthy ? await run(stage, scene, seconds, []) : null;
      const hanging = scene.endpoints.flatMap((_, index) => (index % 10 < HANGING_OF_TEN ? [index] : []));
      const lags = await run(stage, scene, seconds, hanging);
      metrics.push(hangingMetric(id, lags, `${hanging.length} of ${size.endpoints}`, where));
      if (none) metrics.push(healthyMetric(id, none, where));
    } finally {
      await scene.sink.stop();
      await deleteEndpoints(stage, scene.endpoints);
    }
  }
  return metrics;
}

function hangingMetric(id: string, lags: readonly Lag[], hanging: string, where: string): Metric {
  const onset = lags.filter(({ atMs }) => atMs < ONSET_MS);
  const later = lags.filter(({ atMs }) => atMs >= ONSET_MS);
  return atMost(TARGET_MS, {
    id,
    unit: 'ms',
    description: `p99 to the first attempt at a healthy endpoint, ${hanging} hanging`,
    value: quantile(sorted(lags), 0.99),
    details: `${where}, ${lags.length} deliveries; first ten seconds ${text(onset)}${later.length > 0 ? `, then ${text(later)}` : ''}`,
    samples: { latency: [{ name: `${hanging} hanging`, points: toCurve(sorted(lags)) }] },
  });
}

function healthyMetric(id: string, lags: readonly Lag[], where: string): Metric {
  return atMost(TARGET_HEALTHY_MS, {
    id,
    unit: 'ms',
    description: 'p99 to the first attempt with none hanging',
    value: quantile(sorted(lags), 0.99),
    details: `${where}, ${lags.length} deliveries; ${text(lags)}`,
    samples: { latency: [{ name: 'none hanging', points: toCurve(sorted(lags)) }] },
  });
}

async function setUp(stage: Stage, size: Size, payins: number): Promise<Scene> {
  const sink = await startSink(size.endpoints);
  const organizations = await stage.newOrganizations(size.organizations);
  const endpoints = await createEndpointsPerOrganization(stage, organizations, sink.ports);
  await createPayins(
    stage,
    organizations.map(({ apiKey }) => apiKey),
    payins,
  );
  const keys = await payableKeys(
    stage,
    organizations.map(({ organizationId }) => organizationId),
  );
  // All of them are paid before the worker would poll them.
  await stage.abandonUnpaidPayins();
  return { size, sink, organizations, endpoints, keys };
}

async function run(stage: Stage, scene: Scene, seconds: number, hanging: readonly number[]): Promise<Lag[]> {
  const { eventsPerSecond } = scene.size;
  const perTick = (eventsPerSecond * TICK_MS) / 1000;
  await scene.sink.reset();
  await scene.sink.hang(hanging);
  const startedAt = Date.now();
  const startMs = performance.now();
  for (let tick = 0; tick < (seconds * 1000) / TICK_MS; tick += 1) {
    await sleep(Math.max(0, startMs + tick * TICK_MS - performance.now()));
    // Not awaited before the next tick: the rate stays constant regardless of response times.
    void pay(stage, scene.keys.splice(0, perTick));
  }
  const healthy = new Set(scene.endpoints.keys());
  for (const index of hanging) healthy.delete(index);
  const until = performance.now() + WITHIN_MS;
  for (;;) {
    const events = await eventsSince(stage, startedAt);
    const lags =
      events.length < eventsPerSecond * seconds ? null : await readLags(scene, events, healthy, startedAt);
    if (lags) return lags;
    if (performance.now() > until) throw new Error('some events did not reach all healthy endpoints');
    await sleep(500);
  }
}

interface EventRow {
  readonly id: string;
  readonly organization_id: string;
  readonly at: string;
}

function eventsSince(stage: Stage, startedAt: number): Promise<EventRow[]> {
  return stage.query<EventRow>(
    `select id, organization_id, extract(epoch from created_at) * 1000 as at from caudal.events
     where created_at >= to_timestamp(${startedAt / 1000})`,
  );
}

/** Null while a delivery is missing. */
async function readLags(
  { size, sink, organizations }: Scene,
  events: readonly EventRow[],
  healthy: ReadonlySet<number>,
  startedAt: number,
): Promise<Lag[] | null> {
  const journal = await sink.journal();
  const each = size.endpoints / size.organizations;
  const firstOf = new Map(organizations.map(({ organizationId }, index) => [organizationId, index * each]));
  const lags: Lag[] = [];
  for (const event of events) {
    const first = firstOf.get(event.organization_id) ?? 0;
    for (let endpoint = first; endpoint < first + each; endpoint += 1) {
      if (!healthy.has(endpoint)) continue;
      const receivedAt = journal[endpoint]?.[event.id];
      if (receivedAt === undefined) return null;
      lags.push({ atMs: Number(event.at) - startedAt, ms: receivedAt - Number(event.at) });
    }
  }
  return lags;
}

function sorted(lags: readonly Lag[]): number[] {
  return lags.map(({ ms }) => ms).toSorted((a, b) => a - b);
}

function text(lags: readonly Lag[]): string {
  const ms = sorted(lags);
  return `p50 ${quantile(ms, 0.5).toFixed(0)} ms, p99 ${quantile(ms, 0.99).toFixed(0)} ms`;
}
