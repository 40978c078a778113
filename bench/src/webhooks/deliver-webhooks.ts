import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startChild } from '../../../scripts/stack/child.ts';
import { quantile } from '../load/load-result.ts';
import { atLeast, type Metric } from '../metric.ts';
import { createPayins, finalEvents, pay, payableKeys } from '../payins/payable-keys.ts';
import type { Organization } from '../stage/new-organizations.ts';
import { cpuSecondsOf } from '../stage/processor-time.ts';
import type { Stage } from '../stage/stage.ts';
import { createEndpoints, deleteEndpoints, replay } from './endpoints.ts';
import { type Sink, startSink } from './start-sink.ts';

const BARE_SENDER = fileURLToPath(new URL('baseline-sender.ts', import.meta.url));
const ENDPOINTS = 20;
/** What the deliverer has under way at one endpoint, and so the twin too. */
const AT_ONCE = 10;
const TARGET = 0.5;

interface Took {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Of rounds in which each side had its turn, so that a machine that slows down in between decides nothing. */
interface Turns {
  readonly ours: readonly Took[];
  readonly bare: readonly Took[];
}

interface Turning {
  readonly events: number;
  readonly rounds: number;
  /** What the twin posts before it counts, to be as warm as our side is by then. */
  readonly warmUp: number;
}

interface Merchant extends Organization {
  readonly from: string;
  readonly to: string;
}

/**
 * P6: one worker delivers a backlog ÷ a bare client posts the same bodies with the same headers to the same sink. The backlog
 * is a replay, which commits as a whole: all of it is due at once. Our side counts until it is all received (and, for the
 * processor's time, until that is written down).
 */
export async function benchDeliverWebhooks(
  stage: Stage,
  { alone, ...turns }: Turning & { alone: boolean },
): Promise<Metric[]> {
  const sink = await startSink(ENDPOINTS);
  try {
    const { events } = turns;
    const merchant = await merchantWithEvents(stage, events);
    const many = await against(stage, sink, merchant, sink.ports, turns);
    // Too few for a second of processor time to be told apart: by the clock, and beside the line.
    const one = alone ? await against(stage, sink, merchant, sink.ports.slice(0, 1), turns) : null;
    const aside = one ? [`to one endpoint alone ${byTheClock(events, one)}`] : [];
    return [lineOf(events * ENDPOINTS, many, aside)];
  } finally {
    await sink.stop();
  }
}

function lineOf(deliveries: number, turns: Turns, aside: readonly string[]): Metric {
  const [oursACore, bareACore] = [turns.ours, turns.bare].map((side) =>
    rateOf(deliveries, side, 'cpuSeconds'),
  ) as [number, number];
  return atLeast(TARGET, {
    id: 'P6',
    says: `webhook deliveries per second of a core ÷ a bare client's, to ${ENDPOINTS} endpoints`,
    value: ratioOf(turns, 'cpuSeconds'),
    details: [
      `${oursACore.toFixed(0)} ÷ ${bareACore.toFixed(0)}`,
      `${byTheClock(deliveries, turns)}, ${deliveries} deliveries, median of ${turns.ours.length}`,
      ...aside,
    ].join('; '),
    samples: {
      bars: [
        { name: 'Caudal, a core', value: oursACore },
        { name: 'bare, a core', value: bareACore },
      ],
    },
  });
}

/** An organization whose events there are already, before any endpoint: they are delivered by replays only. */
async function merchantWithEvents(stage: Stage, events: number): Promise<Merchant> {
  const [organization] = await stage.newOrganizations(1);
  if (!organization) throw new Error('there is no organization');
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

async function against(
  stage: Stage,
  sink: Sink,
  merchant: Merchant,
  ports: readonly number[],
  { events, rounds, warmUp }: Turning,
): Promise<Turns> {
  const endpoints = await createEndpoints(stage, merchant.apiKey, ports);
  const expected = events * ports.length;
  const ours: Took[] = [];
  const bare: Took[] = [];
  // One that does not count: our side is warm, and the sink has what the twin is to post.
  await deliver(stage, sink, merchant, expected);
  const work = join(stage.folder, 'bare-sender.json');
  writeFileSync(
    work,
    JSON.stringify({ messages: (await sink.requests()).map(messageOf), ports, atOnce: AT_ONCE, warmUp }),
  );
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await deliver(stage, sink, merchant, expected));
    bare.push(await postBare(work));
  }
  await deleteEndpoints(stage, endpoints);
  return { ours, bare };
}

async function deliver(stage: Stage, sink: Sink, merchant: Merchant, expected: number): Promise<Took> {
  await sink.forget();
  const cpu = cpuSecondsOf(stage.workerPid);
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
  const cpuSeconds = cpuSecondsOf(stage.workerPid) - cpu;
  const times = (await sink.journal()).flatMap((seen) => Object.values(seen)).toSorted((a, b) => a - b);
  // From the first that came: what the replay itself took before it committed is not delivering.
  return { seconds: ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000, cpuSeconds };
}

async function postBare(work: string): Promise<Took> {
  const child = await startChild({ name: 'bare sender', args: [BARE_SENDER, work], readiness: 'exit' });
  return JSON.parse(child.output()) as Took;
}

/** What undici adds by itself is left out: it would be there twice. */
function messageOf(request: string): { headers: Record<string, string>; body: string } {
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

function byTheClock(deliveries: number, turns: Turns): string {
  const rate = (side: readonly Took[]) => rateOf(deliveries, side, 'seconds').toFixed(0);
  return `by the clock ${ratioOf(turns, 'seconds').toFixed(2)} (${rate(turns.ours)}/s ÷ ${rate(turns.bare)}/s)`;
}

function rateOf(deliveries: number, side: readonly Took[], of: keyof Took): number {
  return deliveries / median(side.map((took) => took[of]));
}

/** Turn by turn, so that a machine that slows down meanwhile does not decide it. */
function ratioOf({ ours, bare }: Turns, of: keyof Took): number {
  return median(ours.map((took, turn) => (bare[turn]?.[of] ?? Number.NaN) / took[of]));
}
