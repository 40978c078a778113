import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../../server/src/config.ts';
import { Cursors } from '../../../server/src/kit/cursor.ts';
import { uuidFloor } from '../../../server/src/kit/ids.ts';
import { HttpConnection } from '../load/http-connection.ts';
import { quantile, toCurve } from '../load/load-result.ts';
import { atMost, type Metric } from '../metric.ts';
import type { GrownDatabase, Served } from './database.ts';
import { toReference } from './rows.ts';

/** A database and its API process. */
export interface Side {
  readonly database: GrownDatabase;
  readonly api: Served;
}

interface PagesOptions {
  /** Number of pages of each kind on each side. */
  readonly pagesEach: number;
  /** Arrivals per second, both sides together. */
  readonly perSecond: number;
}

const HOUR_MS = 3_600_000;
const WARM_UP_EACH = 40;
const CONNECTIONS = 8;
const PAGE_SIZE = 20;
const TARGET = 1.3;

type Place = (fraction: number) => string;

/** Query strings by kind of page; the fraction between 0 and 1 selects the position in the history. */
function pageKinds({ database }: Side): Readonly<Record<string, Place>> {
  const cursors = new Cursors(readConfig('api', database.settings).tokenKeys);
  const organizationId = database.organizations[0]?.organizationId ?? '';
  const [first, last] = [database.months[0], database.months.at(-1)];
  if (!first || !last) throw new Error('the database has no history');
  const momentAt = (fraction: number) => first.startMs + Math.floor((last.endMs - first.startMs) * fraction);
  const scope = { list: 'payins', organizationId, filters: '{}' };
  return {
    'first page': () => '',
    'deep cursor': (fraction) =>
      `&cursor=${cursors.encode({ direction: 'older', id: uuidFloor(momentAt(fraction)) }, scope)}`,
    'of an hour': (fraction) => {
      const from = momentAt(fraction);
      return `&createdFrom=${new Date(from).toISOString()}&createdTo=${new Date(from + HOUR_MS).toISOString()}`;
    },
    'by reference': (fraction) => `&reference=${toReference(Math.floor(database.rows * fraction))}`,
    confirmed: () => '&status=CONFIRMED',
    'declined, one of twenty': () => '&status=DECLINED',
    'open, of which there is none': () => '&status=PENDING',
    'on PSE, one of twenty': () => '&rail=PSE',
  };
}

/** P3: the same pages from a small and a large history, alternating, at a low rate. */
export async function benchPages(small: Side, large: Side, options: PagesOptions): Promise<Metric[]> {
  const sides = [small, large];
  const took = new Map<string, number[][]>();
  const kinds = sides.map(pageKinds);
  const names = Object.keys(kinds[0] ?? {});
  const pools = await Promise.all(
    sides.map(({ api }) =>
      Promise.all(Array.from({ length: CONNECTIONS }, () => HttpConnection.open(api.port))),
    ),
  );
  const requestPage = async (index: number, dueAt: number, counted: boolean) => {
    const side = index % 2;
    const turn = Math.floor(index / 2);
    const name = names[turn % names.length] ?? '';
    const path = kinds[side]?.[name]?.(toFraction(turn)) ?? '';
    // Round-robin: the server closes connections that are idle for seconds.
    const connection = pools[side]?.shift() ?? (await HttpConnection.open(sides[side]?.api.port ?? 0));
    const key = sides[side]?.database.organizations[0]?.apiKey ?? '';
    const { status, body } = await connection.send(
      `GET /payins?pageSize=${PAGE_SIZE}${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\n\r\n`,
    );
    pools[side]?.push(connection);
    if (status !== 200) throw new Error(`GET /payins?${path} failed with status ${status}: ${body}`);
    if (!counted) return;
    const both = took.get(name) ?? [[], []];
    took.set(name, both);
    both[side]?.push(performance.now() - dueAt);
  };
  await arrive(names.length * WARM_UP_EACH * 2, options.perSecond, (index, dueAt) =>
    requestPage(index, dueAt, false),
  );
  await arrive(names.length * options.pagesEach * 2, options.perSecond, (index, dueAt) =>
    requestPage(index, dueAt, true),
  );
  for (const connection of pools.flat()) connection.close();
  return [toMetric(took, small, large)];
}

/** Sends evenly spaced requests, regardless of response times, and passes each its intended send time. */
async function arrive(
  count: number,
  perSecond: number,
  requestPage: (index: number, dueAt: number) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  const inFlight: Promise<void>[] = [];
  for (let index = 0; index < count; index += 1) {
    const dueAt = startedAt + (index * 1000) / perSecond;
    const wait = dueAt - performance.now();
    if (wait > 0) await sleep(wait);
    // Measured from the actual send time: at a page every 10 ms, timer delay would dominate the latency.
    inFlight.push(requestPage(index, Math.max(dueAt, performance.now())));
  }
  await Promise.all(inFlight);
}

/** Spreads positions over the history without a pattern, identically in every run. */
function toFraction(turn: number): number {
  return ((turn + 1) * 0.618_033_988_749_895) % 1;
}

function toMetric(took: ReadonlyMap<string, readonly number[][]>, small: Side, large: Side): Metric {
  const sorted = (side: number, name?: string) =>
    [...took]
      .flatMap(([kind, both]) => (name === undefined || kind === name ? (both[side] ?? []) : []))
      .toSorted((a, b) => a - b);
  const p99 = (side: number, name?: string) => quantile(sorted(side, name), 0.99);
  const each = [...took.keys()].map(
    (name) =>
      `${name} ${p99(1, name).toFixed(1)} ÷ ${p99(0, name).toFixed(1)} ms (median ${quantile(sorted(1, name), 0.5).toFixed(1)} ÷ ${quantile(sorted(0, name), 0.5).toFixed(1)})`,
  );
  return atMost(TARGET, {
    id: 'P3',
    description: `p99 of a page of GET /payins at ${large.database.rows} rows ÷ at ${small.database.rows}`,
    value: p99(1) / p99(0),
    details: `${p99(1).toFixed(1)} ÷ ${p99(0).toFixed(1)} ms over all kinds; ${each.join('; ')}`,
    samples: {
      latency: [
        { name: `${small.database.rows} rows`, points: toCurve(sorted(0)) },
        { name: `${large.database.rows} rows`, points: toCurve(sorted(1)) },
      ],
    },
  });
}
