import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tx } from '../../src/db/tx.ts';
import { recordTestEvent } from '../../src/events/event.store.ts';
import {
  findEncryptedEvents,
  findEvent,
  findEventsByIds,
  listEventIdsAfter,
  listEvents,
} from '../../src/events/event-list.store.ts';
import { SYSTEM } from '../../src/kit/actor.ts';
import {
  dispatchEvents,
  insertTestDelivery,
  oldestUndispatched,
  readDueDeliveries,
  recordAttempts,
} from '../../src/webhooks/delivery.store.ts';
import { listAttempts, listDeliveries, listEventDeliveries } from '../../src/webhooks/delivery-list.store.ts';
import {
  changeEndpoint,
  deleteEndpoint,
  disableEndpoints,
  findCreationResponse,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  rotateSecret,
  storeCreationResponse,
} from '../../src/webhooks/endpoint.store.ts';
import {
  leaseQueues,
  lockQueue,
  pauseQueues,
  queueBacklog,
  releaseQueues,
  resumeQueue,
} from '../../src/webhooks/queue.store.ts';
import { replayBatch } from '../../src/webhooks/replay.store.ts';
import { singleKeyRing } from '../harness/key-ring.ts';
import { openPlans, organizationScans, type Plans, sequentialScans } from '../harness/plans.ts';

const ID = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';
const BYTES = Buffer.alloc(16);
const NOW = new Date();
const QUEUE = { organizationId: ID, endpointId: ID } as const;
const POSITION = { direction: 'older', id: ID } as const;

let plans: Plans;
beforeAll(async () => {
  plans = await openPlans();
});
afterAll(() => plans.close());

describe('the plan of each statement about events, with empty tables', () => {
  it.each<[string, (tx: Tx) => Promise<unknown>]>([
    ['dispatch the newest', (tx) => dispatchEvents(tx, 'newest', 500)],
    ['dispatch the oldest', (tx) => dispatchEvents(tx, 'oldest', 500)],
    ['oldest undispatched', (tx) => oldestUndispatched(tx)],
    ['lease queues', (tx) => leaseQueues(tx, ID, 100, 100)],
    ['take deliveries', (tx) => readDueDeliveries(tx, [{ ...QUEUE, limit: 100 }])],
    ['encrypted events', (tx) => findEncryptedEvents(tx, [{ organizationId: ID, eventId: ID }])],
    [
      'record attempts',
      (tx) =>
        recordAttempts(
          tx,
          [{ ...QUEUE, eventId: ID, replays: 0, attempt: null, status: 'FAILED', retryAfterMs: null }],
          0,
        ),
    ],
    [
      'release queues',
      (tx) => releaseQueues(tx, [{ ...QUEUE, leaseToken: ID, restMs: 0, full: false, result: 'success' }]),
    ],
    ['lock a queue', (tx) => lockQueue(tx, ID, ID)],
    ['resume a queue', (tx) => resumeQueue(tx, ID, ID)],
    ['pause queues', (tx) => pauseQueues(tx, [{ organizationId: ID, id: ID }])],
    [
      'disable endpoints',
      (tx) => disableEndpoints(tx, [{ organizationId: ID, id: ID, encryptedUrl: BYTES, reason: 'gone' }]),
    ],
    [
      'insert an endpoint',
      (tx) =>
        insertEndpoint(tx, {
          organizationId: ID,
          id: ID,
          encryptedUrl: BYTES,
          events: null,
          description: null,
          encryptedStaticHeader: null,
          encryptedSecret: BYTES,
          createdBy: SYSTEM,
        }),
    ],
    ['find an endpoint', (tx) => findEndpoint(tx, ID, ID)],
    ['the stored creation response', (tx) => findCreationResponse(tx, ID, ID)],
    ['store a creation response', (tx) => storeCreationResponse(tx, ID, ID, BYTES)],
    ['list endpoints', (tx) => listEndpoints(tx, ID, 50)],
    ['change an endpoint', (tx) => changeEndpoint(tx, ID, ID, {}, 'by_owner')],
    ['rotate a secret', (tx) => rotateSecret(tx, ID, ID, BYTES, 1)],
    ['delete an endpoint', (tx) => deleteEndpoint(tx, ID, ID)],
    [
      'record a test event',
      (tx) =>
        recordTestEvent(tx, { organizationId: ID, id: ID, endpointId: ID, createdAt: NOW }, singleKeyRing()),
    ],
    ['insert a test delivery', (tx) => insertTestDelivery(tx, ID, ID, ID)],
    ['replay one', (tx) => replayBatch(tx, ID, { kind: 'one', eventId: ID }, ID)],
    ['replay failed', (tx) => replayBatch(tx, ID, { kind: 'failed', from: NOW }, ID)],
    ['replay a range', (tx) => replayBatch(tx, ID, { kind: 'range', from: NOW, to: NOW }, ID)],
    ['list events', (tx) => listEvents(tx, ID, {}, null, 11)],
    ['list events from a cursor', (tx) => listEvents(tx, ID, {}, POSITION, 11)],
    ['events of a resource', (tx) => listEvents(tx, ID, { resourceId: ID }, null, 11)],
    ['find an event', (tx) => findEvent(tx, ID, ID)],
    ['event IDs since', (tx) => listEventIdsAfter(tx, ID, ID, null, 100)],
    ['event IDs of a name since', (tx) => listEventIdsAfter(tx, ID, ID, 'payin.confirmed', 100)],
    ['events by IDs', (tx) => findEventsByIds(tx, ID, [ID])],
    ['list deliveries', (tx) => listDeliveries(tx, ID, ID, null, 11)],
    ['list deliveries from a cursor', (tx) => listDeliveries(tx, ID, ID, POSITION, 11)],
    ['deliveries of an event', (tx) => listEventDeliveries(tx, ID, ID)],
    [
      'attempts',
      (tx) =>
        listAttempts(tx, ID, [
          {
            event_id: ID,
            delivery_id: ID,
            endpoint_id: ID,
            event: 'x',
            status: 'PENDING',
            next_attempt_at: null,
            created_at: NOW,
            attempts: 1,
          },
        ]),
    ],
    ['queue backlog', (tx) => queueBacklog(tx)],
  ])('has no sequential scan of a growing table: %s', async (name, use) => {
    const plan = await plans.of(use);
    expect(sequentialScans(plan)).toEqual([]);
    expect(/list/.test(name) ? [] : organizationScans(plan)).toEqual([]);
  });

  it.each<[string, (tx: Tx) => Promise<unknown>]>([
    ['a page', (tx) => listEvents(tx, ID, { event: 'payin.confirmed' }, null, 11)],
    ['a stream', (tx) => listEventIdsAfter(tx, ID, ID, 'payin.confirmed', 100)],
  ])('finds events of a name by index: %s', async (_, use) => {
    const scans = (await plans.of(use)).filter((line) => line.includes('Scan using'));
    for (const scan of scans) expect(scan).toMatch(/organization_id_event_id_idx/);
  });

  it.each<[string, (tx: Tx) => Promise<unknown>]>([
    ['dispatch the newest', (tx) => dispatchEvents(tx, 'newest', 500)],
    ['dispatch the oldest', (tx) => dispatchEvents(tx, 'oldest', 500)],
    ['replay a range', (tx) => replayBatch(tx, ID, { kind: 'range', from: NOW, to: NOW }, ID)],
  ])('finds the endpoints of an event by organization, without deleted ones: %s', async (_, use) => {
    const plan = await plans.of(use);
    const scans = plan.flatMap((line, index) =>
      / on webhook_endpoints /.test(line) ? [[line.trim(), plan[index + 1]?.trim()]] : [],
    );
    expect(scans.length).toBeGreaterThan(0);
    for (const [scan, condition] of scans) {
      expect(scan).toMatch(/Scan using webhook_endpoints_living/);
      expect(condition).toMatch(/^Index Cond: \(organization_id = /);
    }
  });

  it.each<[string, (tx: Tx) => Promise<unknown>]>([
    ['take deliveries', (tx) => readDueDeliveries(tx, [{ ...QUEUE, limit: 100 }])],
    [
      'release queues',
      (tx) => releaseQueues(tx, [{ ...QUEUE, leaseToken: ID, restMs: 0, full: false, result: 'success' }]),
    ],
  ])('finds due deliveries by index among all of an endpoint: %s', async (_name, use) => {
    const scans = (await plans.of(use)).filter((line) => /Scan .*webhook_deliveries_\d{6}/.test(line));
    expect(scans.length).toBeGreaterThan(0);
    expect(scans.filter((line) => !/endpoint_id_next_attempt_at_idx/.test(line))).toEqual([]);
  });
});
