import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../harness/until.ts';
import { type EventBody, expectStatus, type Merchant, WebhookStage } from './webhook-stage.ts';

interface EventPage {
  readonly data: readonly Omit<EventBody, 'deliveries'>[];
  readonly pageInfo: {
    readonly hasNext: boolean;
    readonly hasPrevious: boolean;
    readonly nextCursor: string | null;
    readonly previousCursor: string | null;
  };
}

/** Events recorded in one transaction have one timestamp. */
interface Batch {
  readonly event: 'payout.declined' | 'payin.confirmed';
  readonly ids: readonly string[];
  readonly at: number;
}

let stage: WebhookStage;
let merchant: Merchant;
const batches: Batch[] = [];
beforeAll(async () => {
  stage = await WebhookStage.open({ workers: 0 });
  merchant = await stage.merchant();
  const otherMerchant = await stage.merchant();
  for (const [event, count] of [
    ['payout.declined', 7],
    ['payin.confirmed', 5],
    ['payout.declined', 6],
    ['payin.confirmed', 5],
  ] as const) {
    const ids = await merchant.record(count, event);
    await otherMerchant.record(2, event);
    const { createdAt } = await merchant.event(ids[0] ?? '');
    const at = Date.parse(createdAt);
    batches.push({ event, ids, at });
    await until('the next batch has another timestamp', async () => {
      const [row] = await stage.query<{ now: Date }>('select caudal.now() as now');
      return row !== undefined && row.now.getTime() > at;
    });
  }
});
afterAll(() => stage?.close());

/** Newest first. */
function idsOf(...selected: readonly (Batch | undefined)[]): string[] {
  return selected
    .flatMap((batch) => batch?.ids ?? [])
    .sort()
    .reverse();
}

async function page(query: Readonly<Record<string, string>>): Promise<EventPage> {
  const answer = await merchant.api.get<EventPage>(`/events?${new URLSearchParams(query).toString()}`);
  return expectStatus(answer, 200);
}

async function fetchPages(
  query: Readonly<Record<string, string>>,
  direction: 'nextCursor' | 'previousCursor',
  from: EventPage,
): Promise<EventPage[]> {
  const pages = [from];
  for (let cursor = from.pageInfo[direction]; cursor !== null; ) {
    const next = await page({ ...query, cursor });
    pages.push(next);
    cursor = next.pageInfo[direction];
  }
  return pages;
}

function idsIn(pages: readonly EventPage[]): string[] {
  return pages.flatMap(({ data }) => data.map(({ id }) => id));
}

const iso = (ms: number) => new Date(ms).toISOString();

describe('GET /events', () => {
  it('lists the events of the organization, newest first, with the body of GET /events/{id}', async () => {
    const { data, pageInfo } = await page({ pageSize: '100' });
    expect(data.map(({ id }) => id)).toEqual(idsOf(...batches));
    expect(data.map(({ createdAt }) => Date.parse(createdAt))).toEqual(
      batches.toReversed().flatMap(({ ids, at }) => ids.map(() => at)),
    );
    expect(pageInfo).toEqual({ hasNext: false, hasPrevious: false, nextCursor: null, previousCursor: null });
    const { deliveries: _, ...event } = await merchant.event(data[0]?.id ?? '');
    expect(data[0]).toEqual(event);
  });

  it.each([
    ['all', {}, () => batches],
    [
      'of one event name',
      { event: 'payin.confirmed' },
      () => batches.filter(({ event }) => event === 'payin.confirmed'),
    ],
    [
      'of another event name',
      { event: 'payout.declined' },
      () => batches.filter(({ event }) => event === 'payout.declined'),
    ],
  ] as const)(
    'pages through the events, %s, without gaps or duplicates in both directions',
    async (_, filter, expectedBatches) => {
      const query = { pageSize: '4', ...filter };
      const forward = await fetchPages(query, 'nextCursor', await page(query));
      expect(idsIn(forward)).toEqual(idsOf(...expectedBatches()));
      expect(forward.slice(0, -1).map(({ data }) => data.length)).toEqual(forward.slice(1).map(() => 4));
      expect(forward[0]?.pageInfo.hasPrevious).toBe(false);
      expect(forward.at(-1)?.pageInfo.hasNext).toBe(false);
      const last = forward.at(-1);
      if (!last) throw new Error('no page');
      const backward = await fetchPages(query, 'previousCursor', last);
      expect(idsIn(backward.toReversed())).toEqual(idsOf(...expectedBatches()));
    },
  );

  it('returns an empty list for an event name without events', async () => {
    expect((await page({ event: 'payout.confirmed' })).data).toEqual([]);
  });

  it('filters from createdFrom (inclusive) to createdTo (exclusive)', async () => {
    const [first, second, third, fourth] = batches;
    const between = async (bounds: Readonly<Record<string, string>>) =>
      idsIn([await page({ pageSize: '100', ...bounds })]);
    const [from, to] = [second?.at ?? 0, third?.at ?? 0];
    expect(await between({ createdFrom: iso(from), createdTo: iso(to) })).toEqual(idsOf(second));
    expect(await between({ createdFrom: iso(from + 1), createdTo: iso(to + 1) })).toEqual(idsOf(third));
    expect(await between({ createdFrom: iso(from) })).toEqual(idsOf(second, third, fourth));
    expect(await between({ createdTo: iso(to) })).toEqual(idsOf(first, second));
    expect(await between({ createdFrom: iso(to), createdTo: iso(to) })).toEqual([]);
    expect(await between({ createdFrom: iso(from), event: 'payout.declined' })).toEqual(idsOf(third));
  });

  it('pages through the events from createdFrom', async () => {
    const [, ...later] = batches;
    const query = { pageSize: '3', createdFrom: iso(later[0]?.at ?? 0) };
    expect(idsIn(await fetchPages(query, 'nextCursor', await page(query)))).toEqual(idsOf(...later));
  });

  it('accepts a cursor only with the filters it was created with', async () => {
    const { pageInfo } = await page({ pageSize: '4', event: 'payin.confirmed' });
    const cursor = pageInfo.nextCursor ?? '';
    const { status, body } = await merchant.api.get<{ code: string }>(`/events?pageSize=4&cursor=${cursor}`);
    expect([status, body.code]).toEqual([400, 'cursor_invalid']);
  });

  // Last, because it adds events that the other tests would count.
  it('does not shift pages when events occur between two requests', async () => {
    const before = idsOf(...batches);
    const first = await page({ pageSize: '10' });
    const ids = await merchant.record(3);
    const forward = await fetchPages({ pageSize: '10' }, 'nextCursor', first);
    expect(idsIn(forward)).toEqual(before);
    const last = forward.at(-1);
    if (!last) throw new Error('no page');
    const backward = await fetchPages({ pageSize: '10' }, 'previousCursor', last);
    expect(idsIn(backward.toReversed())).toEqual([
      ...idsOf({ event: 'payout.declined', ids, at: 0 }),
      ...before,
    ]);
  });
});
