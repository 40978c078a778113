import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startChild } from '../../../scripts/stack/child.ts';
import { quantile } from '../load/load-result.ts';
import { atLeast, type Metric } from '../metric.ts';
import { createPayins, finalEvents, pay, payableKeys } from '../payins/payable-keys.ts';
import type { Organization } from '../stage/new-organizations.ts';
import { readCpuSeconds } from '../stage/processor-time.ts';
import type { Stage } from '../stage/stage.ts';
import { createEndpoints, deleteEndpoints, replay } from './endpoints.ts';
import { type Sink, startSink } from './start-sink.ts';

const BASELINE_SENDER = fileURLToPath(new URL('baseline-sender.ts', import.meta.url));
const ENDPOINTS = 20;
/** Concurrent deliveries per endpoint, the same for the worker and the baseline. */
const CONCURRENCY = 10;
const TARGET = 0.5;

interface Timing {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Results of alternating rounds, so that a slowdown of the machine does not decide the ratio. */
interface Rounds {
  readonly ours: readonly Timing[];
  readonly baseline: readonly Timing[];
}

interface RoundOptions {
  readonly events: number;
  readonly rounds: number;
  /** Requests of the baseline before the measurement, to be as warm as the worker. */
  readonly warmUp: number;
}

interface Merchant extends Organization {
  readonly from: string;
  readonly to: string;
}

/**
 * P6: one worker delivers a backlog ÷ a baseline client posts the same bodies with the same headers to the same sink. The
 * backlog is a replay, which commits in one transaction, so that all of it is due at once. The worker is measured until
 * everything is received; its CPU time until the results are recorded.
 */
export async function benchDeliverWebhooks(
  stage: Stage,
  { alone, ...rounds }: RoundOptions & { alone: boolean },
): Promise<Metric[]> {
  const sink = await startSink(ENDPOINTS);
  try {
    const { events } = rounds;
    const merchant = await merchantWithEvents(stage, events);
    const many = await compare(stage, sink, merchant, sink.ports, rounds);
    // Too little work to measure its CPU time: reported by wall clock, as a detail of the metric.
    const one = alone ? await compare(stage, sink, merchant, sink.ports.slice(0, 1), rounds) : null;
    const aside = one ? [`to one endpoint alone ${wallClockText(events, one)}`] : [];
    return [toMetric(events * ENDPOINTS, many, aside)];
  } finally {
    await sink.stop();
  }
}

function toMetric(deliveries: number, rounds: Rounds, aside: readonly string[]): Metric {
  const [oursPerCore, baselinePerCore] = [rounds.ours, rounds.baseline].map((side) =>
    medianRate(deliveries, side, 'cpuSeconds'),
  ) as [number, number];
  return atLeast(TARGET, {
    id: 'P6',
    description: `webhook deliveries per CPU second ÷ a baseline client, to ${ENDPOINTS} endpoints`,
    value: medianRatio(rounds, 'cpuSeconds'),
    details: [
      `${oursPerCore.toFixed(0)} ÷ ${baselinePerCore.toFixed(0)}`,
      `${wallClockText(deliveries, rounds)}, ${deliveries} deliveries, median of ${rounds.ours.length}`,
      ...aside,
    ].join('; '),
    samples: {
      bars: [
        { name: 'Caudal, per core', value: oursPerCore },
        { name: 'baseline, per core', value: baselinePerCore },
      ],
    },
  });
}

/** An organization whose events are older than its endpoints, so that only replays deliver them. */
async function merchantWithEvents(stage: Stage, events: number): Promise<Merchant> {
  const [organization] = await stage.newOrganizations(1);
  if (!organization) throw new Error('no organization was created');
  const { organizationId, apiKey } = organization;
  await createPayins(stage, [apiKey], events);
  const before = await finalEvents(stage);
  await pay(stage, await payableKeys(stage, [organizationId]));
  while ((await finalEvents(stage)) - before < events) await sleep(50);
  const [span] = await stage.query<{ from: Date; to: Date }>(
    `select min(created_at) as from, max(created_at) + interval '1 second' as to from caudal.events where organization_id = '${organizationId}'`,
  );
  if (!span) throw new Error('there are no events');
  return { ...organization, from: span.from.toISOString(), to: span.to.toISOString() };
}

async function compare(
  stage: Stage,
  sink: Sink,
  merchant: Merchant,
  ports: readonly number[],
  { events, rounds, warmUp }: RoundOptions,
): Promise<Rounds> {
  const endpoints = await createEndpoints(stage, merchant.apiKey, ports);
  const expected = events * ports.length;
  const ours: Timing[] = [];
  const baseline: Timing[] = [];
  // Not counted: warms up the worker and gives the sink the messages for the baseline.
  await deliver(stage, sink, merchant, expected);
  const work = join(stage.folder, 'baseline-sender.json');
  writeFileSync(
    work,
    JSON.stringify({
      messages: (await sink.requests()).map(toMessage),
      ports,
      concurrency: CONCURRENCY,
      warmUp,
    }),
  );
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await deliver(stage, sink, merchant, expected));
    baseline.push(await postBaseline(work));
  }
  await deleteEndpoints(stage, endpoints);
  return { ours, baseline };
}

async function deliver(stage: Stage, sink: Sink, merchant: Merchant, expected: number): Promise<Timing> {
  await sink.reset();
  const cpu = readCpuSeconds(stage.workerPid);
  const deliveries = await replay(stage, merchant.apiKey, merchant.from, merchant.to);
  if (deliveries !== expected) throw new Error(`${deliveries} deliveries instead of ${expected}`);
  while ((await sink.count()).distinct < expected) await sleep(20);
  for (;;) {
    const [row] = await stage.query<{ pending: boolean }>(
      `select exists (select from caudal.webhook_deliveries where organization_id = '${merchant.organizationId}' and next_attempt_at is not null) as pending`,
    );
    if (!row?.pending) break;
    await sleep(20);
  }
  const cpuSeconds = readCpuSeconds(stage.workerPid) - cpu;
  const times = (await sink.journal()).flatMap((seen) => Object.values(seen)).toSorted((a, b) => a - b);
  // From the first received webhook: the time of the replay request is not delivery time.
  return { seconds: ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000, cpuSeconds };
}

async function postBaseline(work: string): Promise<Timing> {
  const child = await startChild({
    name: 'baseline sender',
    args: [BASELINE_SENDER, work],
    readiness: 'exit',
  });
  return JSON.parse(child.output()) as Timing;
}

/** Removes the headers that undici adds itself. */
function toMessage(request: string): { headers: Record<string, string>; body: string } {
  const headEnd = request.indexOf('\r\n\r\n');
  const [, ...lines] = request.slice(0, headEnd).split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const own = headers.filter(([name]) => !['host', 'connection', 'content-length'].includes(name));
  return {
    headers: Object.fromEntries(own),
    // The sink reads bytes as Latin-1.
    body: Buffer.from(request.slice(headEnd + 4), 'latin1').toString('utf8'),
  };
}

function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

function wallClockText(deliveries: number, rounds: Rounds): string {
  const rate = (side: readonly Timing[]) => medianRate(deliveries, side, 'seconds').toFixed(0);
  return `wall clock ${medianRatio(rounds, 'seconds').toFixed(2)} (${rate(rounds.ours)}/s ÷ ${rate(rounds.baseline)}/s)`;
}

function medianRate(deliveries: number, side: readonly Timing[], of: keyof Timing): number {
  return deliveries / median(side.map((took) => took[of]));
}

/** Median of the ratios per round, so that a slowdown of the machine does not decide it. */
function medianRatio({ ours, baseline }: Rounds, of: keyof Timing): number {
  return median(ours.map((took, round) => (baseline[round]?.[of] ?? Number.NaN) / took[of]));
}
