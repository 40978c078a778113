import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeliveryConcurrency } from '../../src/flows/webhooks/delivery-concurrency.ts';
import { dispatchEvents } from '../../src/webhooks/delivery.store.ts';
import { leaseQueues } from '../../src/webhooks/queue.store.ts';
import { until } from '../harness/until.ts';
import { type CreatedEndpoint, WebhookStage } from './webhook-stage.ts';

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open({ workers: 0 });
});
afterAll(() => stage?.close());

/** Makes an endpoint due since this many seconds. */
async function makeDue(endpoint: CreatedEndpoint, seconds: number, backlogged: boolean): Promise<void> {
  await stage.query(
    'update caudal.webhook_queues set due_at = caudal.now() - make_interval(secs => $2), backlogged = $3 where endpoint_id = $1',
    [endpoint.id, seconds, backlogged],
  );
}

async function leaseEndpoints(limit: number): Promise<string[]> {
  const queues = await stage.inProcess.deps.system.transaction('lease queues', (tx) =>
    leaseQueues(tx, randomUUID(), limit, 0),
  );
  return queues.map(({ endpointId }) => endpointId);
}

describe('backlogged queues', () => {
  it('are leased after the others although due longer, with a quarter of the slots guaranteed', async () => {
    const merchant = await stage.merchant();
    const created: CreatedEndpoint[] = [];
    for (let count = 0; count < 12; count += 1) created.push(await merchant.endpoint());
    const [backlogged, fresh] = [created.slice(0, 6), created.slice(6)];
    for (const endpoint of backlogged) await makeDue(endpoint, 60, true);
    for (const endpoint of fresh) await makeDue(endpoint, 1, false);
    const first = await leaseEndpoints(4);
    expect(first.filter((id) => fresh.some((endpoint) => endpoint.id === id))).toHaveLength(4);
    expect(first).toHaveLength(5);
    const second = await leaseEndpoints(4);
    expect(second.filter((id) => fresh.some((endpoint) => endpoint.id === id))).toHaveLength(2);
    expect(second).toHaveLength(4);
  });

  it('are marked when a hundred events are dispatched to them', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    const isBacklogged = async () => {
      const [queue] = await stage.query<{ backlogged: boolean }>(
        'select backlogged from caudal.webhook_queues where endpoint_id = $1',
        [endpoint.id],
      );
      return queue?.backlogged;
    };
    const dispatchAll = () =>
      stage.inProcess.deps.system.transaction('dispatch events', (tx) => dispatchEvents(tx, 'oldest', 500));
    await merchant.record(99);
    expect(await dispatchAll()).toMatchObject({ events: 99 });
    expect(await isBacklogged()).toBe(false);
    await merchant.record(100);
    expect(await dispatchAll()).toMatchObject({ events: 100 });
    expect(await isBacklogged()).toBe(true);
  });
});

describe('the dispatch order', () => {
  it('alternates between the newest recent events and the oldest', async () => {
    const merchant = await stage.merchant();
    const [old = ''] = await merchant.record(1);
    const [fresh = ''] = await merchant.record(1);
    const dispatch = (first: 'oldest' | 'newest') =>
      stage.inProcess.deps.system.transaction('dispatch events', (tx) => dispatchEvents(tx, first, 1));
    const listUndispatched = async () => {
      const rows = await stage.query<{ id: string }>(
        'select id from caudal.events where undispatched and organization_id = $1 order by id',
        [merchant.id],
      );
      return rows.map(({ id }) => id);
    };
    await dispatch('newest');
    expect(await listUndispatched()).toEqual([old]);
    const [newer = ''] = await merchant.record(1);
    await dispatch('oldest');
    expect(await listUndispatched()).toEqual([newer]);
    await stage.shiftTime(5 * 60_000);
    // No longer recent.
    expect(await dispatch('newest')).toMatchObject({ events: 0 });
    expect(await dispatch('oldest')).toMatchObject({ events: 1 });
    expect(fresh < newer).toBe(true);
  });
});

describe('delivery slots', () => {
  it('are released after waiting a second for an answer, and taken again when it arrives', async () => {
    let notifications = 0;
    const concurrency = new DeliveryConcurrency(() => {
      notifications += 1;
    });
    const slots = Array.from({ length: concurrency.free().queues }, () => concurrency.acquire(false));
    expect(concurrency.free().queues).toBe(0);
    await until('they are released', () => Promise.resolve(concurrency.slow === slots.length));
    expect(notifications).toBeGreaterThan(0);
    // The limit may have decreased, if the event loop was late.
    expect(concurrency.free().queues).toBe(concurrency.limit);
    for (const slot of slots) slot.progress();
    expect(concurrency.slow).toBe(0);
    for (const slot of slots) slot.release();
    expect(concurrency.taken).toBe(0);
  });

  it('limit the share of failing endpoints', () => {
    const concurrency = new DeliveryConcurrency(() => undefined);
    const before = concurrency.free();
    for (let count = 0; count < 256; count += 1) concurrency.acquire(true);
    expect(before.failing).toBeGreaterThan(0);
    expect(concurrency.free().failing).toBe(0);
  });
});
