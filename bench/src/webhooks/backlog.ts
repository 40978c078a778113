import { setTimeout as sleep } from 'node:timers/promises';
import { curveOf, quantile } from '../load/load-result.ts';
import { atMost, type Metric } from '../metric.ts';
import { createPayins, finalEvents, pay, payableKeys } from '../payins/payable-keys.ts';
import type { Organization } from '../stage/new-organizations.ts';
import type { Stage } from '../stage/stage.ts';
import { deleteEndpoints, endpointsOf, replay } from './endpoints.ts';
import { type Sink, startSink } from './start-sink.ts';

const ORGANIZATIONS = 50;
const ENDPOINTS_EACH = 20;
/** Of somebody who was not part of the outage, so often. */
const EVENT_EVERY_MS = 100;
const TARGET_MS = 2000;

/**
 * E2: the worker was away, and finds a backlog. While it delivers that, the events of a merchant who has none come as ever.
 * The backlog is a replay of events there are to a thousand endpoints, made while the worker stands still.
 */
export async function benchBacklog(stage: Stage, deliveries: number): Promise<Metric> {
  const sink = await startSink(ORGANIZATIONS * ENDPOINTS_EACH + 1);
  const [newcomer, ...merchants] = await stage.newOrganizations(ORGANIZATIONS + 1);
  if (!newcomer) throw new Error('there is no organization');
  const events = deliveries / (ORGANIZATIONS * ENDPOINTS_EACH);
  await recordEvents(stage, merchants, events * ORGANIZATIONS);
  const endpoints = [
    ...(await endpointsOf(stage, [newcomer], sink.ports.slice(0, 1))),
    ...(await endpointsOf(stage, merchants, sink.ports.slice(1))),
  ];
  try {
    const made = await whileStill(stage, () => replayAll(stage, merchants));
    if (made !== deliveries) throw new Error(`${made} deliveries instead of ${deliveries}`);
    const began = performance.now();
    const told = tellNewcomer(stage, newcomer);
    while ((await sink.count()).distinct < deliveries) await sleep(500);
    const seconds = (performance.now() - began) / 1000;
    const lags = await lagsOf(stage, sink, newcomer, await told.stop());
    return lineOf(deliveries, seconds, lags);
  } finally {
    await sink.stop();
    await deleteEndpoints(stage, endpoints);
  }
}

function lineOf(deliveries: number, seconds: number, lags: readonly number[]): Metric {
  const beside = `while a backlog of ${deliveries} is delivered`;
  return atMost(TARGET_MS, {
    id: 'E2',
    unit: 'ms',
    says: `p99 to the first attempt of another merchant's events ${beside}`,
    value: quantile(lags, 0.99),
    details: `${ORGANIZATIONS * ENDPOINTS_EACH} endpoints, delivered in ${seconds.toFixed(0)} s, ${(deliveries / seconds).toFixed(0)}/s by one worker; ${lags.length} events beside it, p50 ${quantile(lags, 0.5).toFixed(0)} ms`,
    samples: { latency: [{ name: beside, points: curveOf(lags) }] },
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

/** Stopped at a moment when it is in no transaction, or others would wait for what it holds. */
async function whileStill<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
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

/** Payins of a merchant, one after the other, each paid as soon as there is a key. */
function tellNewcomer(stage: Stage, newcomer: Organization): { stop(): Promise<number> } {
  const enough = new AbortController();
  const telling = (async () => {
    let told = 0;
    while (!enough.signal.aborted) {
      await createPayins(stage, [newcomer.apiKey], 1);
      await pay(stage, await payableKeys(stage, [newcomer.organizationId]));
      told += 1;
      await sleep(EVENT_EVERY_MS);
    }
    return told;
  })();
  return {
    stop: () => {
      enough.abort();
      return telling;
    },
  };
}

async function lagsOf(
  stage: Stage,
  sink: Sink,
  { organizationId }: Organization,
  told: number,
): Promise<number[]> {
  for (;;) {
    const [seen = {}] = await sink.journal([0]);
    if (Object.keys(seen).length >= told) {
      const events = await stage.query<{ id: string; at: string }>(
        `select id, extract(epoch from created_at) * 1000 as at from caudal.events where organization_id = '${organizationId}'`,
      );
      return events.map(({ id, at }) => (seen[id] ?? Number.NaN) - Number(at)).toSorted((a, b) => a - b);
    }
    await sleep(100);
  }
}
