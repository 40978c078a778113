import { setTimeout as sleep } from 'node:timers/promises';
import { curveOf, quantile } from '../load/load-result.ts';
import { atMost, type Metric } from '../metric.ts';
import { createPayins, pay, payableKeys } from '../payins/payable-keys.ts';
import type { Organization } from '../stage/new-organizations.ts';
import type { Stage } from '../stage/stage.ts';
import { deleteEndpoints, type Endpoint, endpointsOf } from './endpoints.ts';
import { type Sink, startSink } from './start-sink.ts';

/** Of ten in a row. */
const HANGING_OF_TEN = 3;
const TICK_MS = 100;
/** As long as the first attempts at those that hang last. */
const ONSET_MS = 10_000;
const TARGET_MS = 2000;
const TARGET_HEALTHY_MS = 1000;
const WITHIN_MS = 60_000;

/** How much of everything. */
export interface Size {
  readonly endpoints: number;
  /** They share the endpoints out between them. */
  readonly organizations: number;
  readonly eventsASecond: number;
}

interface Scene {
  readonly size: Size;
  readonly sink: Sink;
  readonly organizations: readonly Organization[];
  readonly endpoints: readonly Endpoint[];
  /** Of payins that wait to be paid, of all organizations in turn. */
  readonly keys: string[];
}

interface Lag {
  /** Since the run began. */
  readonly atMs: number;
  readonly ms: number;
}

/**
 * From an event's creation (before its commit: an upper bound) to its first attempt at endpoints that answer, while three of ten accept
 * requests and never answer. They begin to hang with the first event: the onset is in it, when nobody knows yet which hang.
 */
export async function benchHangingEndpoints(
  stage: Stage,
  id: string,
  { seconds, sizes, withoutToo }: { seconds: number; sizes: readonly Size[]; withoutToo: boolean },
): Promise<Metric[]> {
  const lines: Metric[] = [];
  for (const size of sizes) {
    const scene = await setUp(stage, size, (withoutToo ? 2 : 1) * size.eventsASecond * seconds);
    try {
      const where = `${size.organizations} organizations with ${size.endpoints / size.organizations} endpoints each, ${size.eventsASecond} events/s for ${seconds} s`;
      const none = withoutToo ? await run(stage, scene, seconds, []) : null;
      const hanging = scene.endpoints.flatMap((_, index) => (index % 10 < HANGING_OF_TEN ? [index] : []));
      const lags = await run(stage, scene, seconds, hanging);
      lines.push(hangingLine(id, lags, `${hanging.length} of ${size.endpoints}`, where));
      if (none) lines.push(healthyLine(id, none, where));
    } finally {
      await scene.sink.stop();
      await deleteEndpoints(stage, scene.endpoints);
    }
  }
  return lines;
}

function hangingLine(id: string, lags: readonly Lag[], hanging: string, where: string): Metric {
  const onset = lags.filter(({ atMs }) => atMs < ONSET_MS);
  const later = lags.filter(({ atMs }) => atMs >= ONSET_MS);
  return atMost(TARGET_MS, {
    id,
    unit: 'ms',
    says: `p99 to the first attempt at a healthy endpoint, ${hanging} hanging`,
    value: quantile(sorted(lags), 0.99),
    details: `${where}, ${lags.length} deliveries; first ten seconds ${text(onset)}${later.length > 0 ? `, then ${text(later)}` : ''}`,
    samples: { latency: [{ name: `${hanging} hanging`, points: curveOf(sorted(lags)) }] },
  });
}

function healthyLine(id: string, lags: readonly Lag[], where: string): Metric {
  return atMost(TARGET_HEALTHY_MS, {
    id,
    unit: 'ms',
    says: 'p99 to the first attempt with none hanging',
    value: quantile(sorted(lags), 0.99),
    details: `${where}, ${lags.length} deliveries; ${text(lags)}`,
    samples: { latency: [{ name: 'none hanging', points: curveOf(sorted(lags)) }] },
  });
}

async function setUp(stage: Stage, size: Size, payins: number): Promise<Scene> {
  const sink = await startSink(size.endpoints);
  const organizations = await stage.newOrganizations(size.organizations);
  const endpoints = await endpointsOf(stage, organizations, sink.ports);
  await createPayins(
    stage,
    organizations.map(({ apiKey }) => apiKey),
    payins,
  );
  const keys = await payableKeys(
    stage,
    organizations.map(({ organizationId }) => organizationId),
  );
  // All of them are paid before anybody would have asked about them.
  await stage.leaveUnpaid();
  return { size, sink, organizations, endpoints, keys };
}

async function run(stage: Stage, scene: Scene, seconds: number, hanging: readonly number[]): Promise<Lag[]> {
  const { eventsASecond } = scene.size;
  const perTick = (eventsASecond * TICK_MS) / 1000;
  await scene.sink.forget();
  await scene.sink.hang(hanging);
  const startedAt = Date.now();
  const began = performance.now();
  for (let tick = 0; tick < (seconds * 1000) / TICK_MS; tick += 1) {
    await sleep(Math.max(0, began + tick * TICK_MS - performance.now()));
    // Not awaited before the next tick: the rate is held whatever the answers take.
    void pay(stage, scene.keys.splice(0, perTick));
  }
  const healthy = new Set(scene.endpoints.keys());
  for (const index of hanging) healthy.delete(index);
  const until = performance.now() + WITHIN_MS;
  for (;;) {
    const events = await eventsSince(stage, startedAt);
    const lags =
      events.length < eventsASecond * seconds ? null : await lagsOf(scene, events, healthy, startedAt);
    if (lags) return lags;
    if (performance.now() > until) throw new Error('not all events came to all healthy endpoints');
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

/** Null while one is missing. */
async function lagsOf(
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
