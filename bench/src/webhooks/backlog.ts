import { setTimeout as sleep } from 'node:timers/promises';
import { quantile, toCurve } from '../load/load-result.ts';
import { atMost, type Metric } from '../metric.ts';
import { createPayins, finalEvents, pay, payableKeys } from '../payins/payable-keys.ts';
import type { Organization } from '../stage/new-organizations.ts';
import type { Stage } from '../stage/stage.ts';
import { createEndpointsPerOrganization, deleteEndpoints, replay } from './endpoints.ts';
import { type Sink, startSink } from './start-sink.ts';

const ORGANIZATIONS = 50;
const ENDPOINTS_EACH = 20;
/** Interval between events of a merchant without a backlog. */
const EVENT_EVERY_MS = 100;
const TARGET_MS = 2000;

/**
 * E2: the worker was down and finds a backlog. While it delivers the backlog, a merchant without one keeps creating
 * events. The backlog is a replay of existing events to a thousand endpoints, requested while the worker is paused.
 */
export async function benchBacklog(stage: Stage, deliveries: number): Promise<Metric> {
  const sink = await startSink(ORGANIZATIONS * ENDPOINTS_EACH + 1);
  const [otherMerchant, ...merchants] = await stage.newOrganizations(ORGANIZATIONS + 1);
  if (!otherMerchant) throw new Error('no organization was created');
  const events = deliveries / (ORGANIZATIONS * ENDPOINTS_EACH);
  await recordEvents(stage, merchants, events * ORGANIZATIONS);
  const endpoints = [
    ...(await createEndpointsPerOrganization(stage, [otherMerchant], sink.ports.slice(0, 1))),
    ...(await createEndpointsPerOrganization(stage, merchants, sink.ports.slice(1))),
  ];
  try {
    const made = await whileWorkerPaused(stage, () => replayAll(stage, merchants));
    if (made !== deliveries) throw new Error(`${made} deliveries instead of ${deliveries}`);
    const startedAt = performance.now();
    const created = createEvents(stage, otherMerchant);
    while ((await sink.count()).distinct < deliveries) await sleep(500);
    const seconds = (performance.now() - startedAt) / 1000;
    const lags = await readLags(stage, sink, otherMerchant, await created.stop());
    return toMetric(deliveries, seconds, lags);
  } finally {
    await sink.stop();
    await deleteEndpoints(stage, endpoints);
  }
}

function toMetric(deliveries: number, seconds: number, lags: readonly number[]): Metric {
  const beside = `while a backlog of ${deliveries} is delivered`;
  return atMost(TARGET_MS, {
    id: 'E2',
    unit: 'ms',
    description: `p99 to the first attempt of another merchant's events ${beside}`,
    value: quantile(lags, 0.99),
    details: `${ORGANIZATIONS * ENDPOINTS_EACH} endpoints, delivered in ${seconds.toFixed(0)} s, ${(deliveries / seconds).toFixed(0)}/s by one worker; ${lags.length} events beside it, p50 ${quantile(lags, 0.5).toFixed(0)} ms`,
    samples: { latency: [{ name: beside, points: toCurve(lags) }] },
  });
}

async function recordEvents(stage: Stage, merchants: readonly Organization[], count: number): Promise<void> {
  await createPayins(
    stage,
    merchants.map(({ apiKey }) => apiKey),
    count,
  );
  const before = await finalEvents(stage);
  await pay(
    stage,
    await payableKeys(
      stage,
      merchants.map(({ organizationId }) => organizationId),
    ),
  );
  while ((await finalEvents(stage)) - before < count) await sleep(100);
}

async function replayAll(stage: Stage, merchants: readonly Organization[]): Promise<number> {
  const to = new Date(Date.now() + 60_000).toISOString();
  let made = 0;
  for (const { apiKey } of merchants) made += await replay(stage, apiKey, new Date(0).toISOString(), to);
  return made;
}

/** Pauses the worker outside a transaction, so that no other process waits for its locks. */
async function whileWorkerPaused<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
  for (;;) {
    process.kill(stage.workerPid, 'SIGSTOP');
    const [row] = await stage.query<{ busy: boolean }>(
      "select exists (select from pg_stat_activity where usename = 'caudal_system' and state <> 'idle') as busy",
    );
    if (!row?.busy) break;
    process.kill(stage.workerPid, 'SIGCONT');
    await sleep(5);
  }
  try {
    return await work();
  } finally {
    process.kill(stage.workerPid, 'SIGCONT');
  }
}

/** Creates payins of a merchant one by one and pays each as soon as its key is registered. */
function createEvents(stage: Stage, otherMerchant: Organization): { stop(): Promise<number> } {
  const controller = new AbortController();
  const creating = (async () => {
    let created = 0;
    while (!controller.signal.aborted) {
      await createPayins(stage, [otherMerchant.apiKey], 1);
      await pay(stage, await payableKeys(stage, [otherMerchant.organizationId]));
      created += 1;
      await sleep(EVENT_EVERY_MS);
    }
    return created;
  })();
  return {
    stop: () => {
      controller.abort();
      return creating;
    },
  };
}

async function readLags(
  stage: Stage,
  sink: Sink,
  { organizationId }: Organization,
  created: number,
): Promise<number[]> {
  for (;;) {
    const [seen = {}] = await sink.journal([0]);
    if (Object.keys(seen).length >= created) {
      const events = await stage.query<{ id: string; at: string }>(
        `select id, extract(epoch from created_at) * 1000 as at from caudal.events where organization_id = '${organizationId}'`,
      );
      return events.map(({ id, at }) => (seen[id] ?? Number.NaN) - Number(at)).toSorted((a, b) => a - b);
    }
    await sleep(100);
  }
}
