import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeliveryConcurrency } from '../../src/flows/webhooks/delivery-concurrency.ts';
import { dispatchEvents } from '../../src/webhooks/delivery.store.ts';
import { leaseQueues } from '../../src/webhooks/queue.store.ts';
import { until } from '../harness/until.ts';
import { type MadeEndpoint, WebhookStage } from './webhook-stage.ts';

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open({ workers: 0 });
});
afterAll(() => stage?.close());

/** Due since so many seconds. */
async function due(endpoint: MadeEndpoint, seconds: number, behind: boolean): Promise<void> {
  await stage.query(
    'update caudal.webhook_queues set due_at = caudal.now() - make_interval(secs => $2), behind = $3 where endpoint_id = $1',
    [endpoint.id, seconds, behind],
  );
}

async function claimed(most: number): Promise<string[]> {
  const lines = await stage.inside.deps.system.transaction('lease queues', (tx) =>
    leaseQueues(tx, randomUUID(), most, 0),
  );
  return lines.map(({ endpointId }) => endpointId);
}

describe('lines in which much waits', () => {
  it('come after the others, though they wait for longer, and have a quarter of the places in any case', async () => {
    const merchant = await stage.merchant();
    const made: MadeEndpoint[] = [];
    for (let count = 0; count < 12; count += 1) made.push(await merchant.endpoint());
    const [behind, fresh] = [made.slice(0, 6), made.slice(6)];
    for (const endpoint of behind) await due(endpoint, 60, true);
    for (const endpoint of fresh) await due(endpoint, 1, false);
    const first = await claimed(4);
    expect(first.filter((id) => fresh.some((endpoint) => endpoint.id === id))).toHaveLength(4);
    expect(first).toHaveLength(5);
    const second = await claimed(4);
    expect(second.filter((id) => fresh.some((endpoint) => endpoint.id === id))).toHaveLength(2);
    expect(second).toHaveLength(4);
  });

  it('are known from when much is put into them', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    const isBehind = async () => {
      const [line] = await stage.query<{ behind: boolean }>(
        'select behind from caudal.webhook_queues where endpoint_id = $1',
        [endpoint.id],
      );
      return line?.behind;
    };
    const dispatchAll = () =>
      stage.inside.deps.system.transaction('dispatch events', (tx) => dispatchEvents(tx, 'oldest', 500));
    await merchant.record(99);
    expect(await dispatchAll()).toBe(99);
    expect(await isBehind()).toBe(false);
    await merchant.record(100);
    expect(await dispatchAll()).toBe(100);
    expect(await isBehind()).toBe(true);
  });
});

describe('which events are dispatched first', () => {
  it('the newest of late, and in turn with them the oldest', async () => {
    const merchant = await stage.merchant();
    const [old = ''] = await merchant.record(1);
    const [fresh = ''] = await merchant.record(1);
    const take = (first: 'oldest' | 'newest') =>
      stage.inside.deps.system.transaction('dispatch events', (tx) => dispatchEvents(tx, first, 1));
    const left = async () => {
      const rows = await stage.query<{ id: string }>(
        'select id from caudal.events where undispatched and organization_id = $1 order by id',
        [merchant.id],
      );
      return rows.map(({ id }) => id);
    };
    await take('newest');
    expect(await left()).toEqual([old]);
    const [newer = ''] = await merchant.record(1);
    await take('oldest');
    expect(await left()).toEqual([newer]);
    await stage.shiftHeard(5 * 60_000);
    // No longer of late.
    expect(await take('newest')).toBe(0);
    expect(await take('oldest')).toBe(1);
    expect(fresh < newer).toBe(true);
  });
});

describe('places of lines', () => {
  it('are given up by who has waited for an answer for a second, and taken again when one comes', async () => {
    let told = 0;
    const places = new DeliveryConcurrency(() => {
      told += 1;
    });
    const taken = Array.from({ length: places.free().queues }, () => places.take(false));
    expect(places.free().queues).toBe(0);
    await until('they are given up', () => Promise.resolve(places.slow === taken.length));
    expect(told).toBeGreaterThan(0);
    expect(places.free().queues).toBeGreaterThanOrEqual(taken.length);
    for (const place of taken) place.progress();
    expect(places.slow).toBe(0);
    for (const place of taken) place.leave();
    expect(places.taken).toBe(0);
  });

  it('of those that fail are a share of all', () => {
    const places = new DeliveryConcurrency(() => undefined);
    const before = places.free();
    for (let count = 0; count < 256; count += 1) places.take(true);
    expect(before.failing).toBeGreaterThan(0);
    expect(places.free().failing).toBe(0);
  });
});
