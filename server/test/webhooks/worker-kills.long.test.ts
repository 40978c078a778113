import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { within } from '../../../scripts/testing/expect-within.ts';
import { until } from '../harness/until.ts';
import { type CreatedEndpoint, type Merchant, WebhookStage } from './webhook-stage.ts';

// The lease of a dead worker expires after thirty seconds of real time.

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open({ workers: 0 });
});
afterAll(() => stage?.close());

/**
 * Failpoint, number of requests received by then, and minimum in the end. In this order no worker leaves work
 * that the next one would pick up before it is killed.
 */
const CRASHES = [
  ['record deliveries: after commit', 1, 1],
  ['record deliveries: before commit', 1, 2],
  ['lease queues: after commit', 0, 1],
  ['dispatch events: before commit', 0, 1],
] as const;

interface InterruptedDelivery {
  readonly merchant: Merchant;
  readonly endpoint: CreatedEndpoint;
  readonly eventId: string;
}
const interrupted: InterruptedDelivery[] = [];

function findRequests({ endpoint, eventId }: InterruptedDelivery) {
  return stage.sink.requestsTo(endpoint.path).filter(({ id }) => id === eventId);
}

it('a worker is killed at each failpoint of a delivery', async () => {
  for (const [failpoint, receivedByThen] of CRASHES) {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    const each = { merchant, endpoint, eventId: await merchant.declinePayout() };
    interrupted.push(each);
    const worker = await startServer('worker', { ...stage.stack.settings, CAUDAL_FAILPOINT: failpoint });
    expect(await worker.exited, `expected the worker to be killed: ${worker.output()}`).toBeNull();
    expect(findRequests(each), `at ${failpoint}`).toHaveLength(receivedByThen);
  }
});

it('one of two workers is killed during 300 deliveries: the other takes over, and none is lost', async () => {
  const merchants = await Promise.all(Array.from({ length: 6 }, () => stage.merchant()));
  const endpoints = await Promise.all(merchants.map((merchant) => merchant.endpoint({}, { delayMs: 200 })));
  const ids = await Promise.all(merchants.map((merchant) => merchant.record(50)));
  const workers = await Promise.all([
    startServer('worker', stage.stack.settings),
    startServer('worker', stage.stack.settings),
  ]);
  const [killed, survivor] = workers;
  try {
    const countArrived = () => endpoints.reduce((sum, { path }) => sum + stage.sink.ids(path).length, 0);
    await until('some deliveries arrived', () => Promise.resolve(countArrived() >= 30));
    killed.kill('SIGKILL');
    expect(await killed.exited).toBeNull();
    expect(countArrived()).toBeLessThan(300);
    // Longer than a lease, plus half of it for a busy machine.
    await until('all deliveries arrived', () => Promise.resolve(countArrived() >= 300));
    for (const [index, { path }] of endpoints.entries())
      expect(stage.sink.ids(path)).toEqual([...(ids[index] ?? [])].sort());
    for (const { merchant, endpoint, eventId } of interrupted)
      await within('the takeover', 45_000, () => merchant.waitForDelivery(eventId, endpoint, 'DELIVERED', 1));
    await until('all results are recorded', async () => {
      const [row] = await stage.query<{ count: number }>(
        "select count(*)::int as count from caudal.webhook_deliveries where status = 'PENDING'",
      );
      return row?.count === 0;
    });
  } finally {
    await survivor.stop();
  }
});

it('a delivery whose result was not recorded is repeated with the same ID and body; a recorded one is not', async () => {
  for (const [index, [failpoint, , atLeast]] of CRASHES.entries()) {
    const each = interrupted[index];
    if (!each) throw new Error('the first test creates them');
    const received = findRequests(each);
    // The worker killed later may have sent them too; only recorded results are final.
    expect(received.length, `at ${failpoint}`).toBeGreaterThanOrEqual(atLeast);
    if (failpoint === 'record deliveries: after commit') expect(received).toHaveLength(1);
    for (const { body } of received) expect(body.equals(received[0]?.body ?? Buffer.alloc(0))).toBe(true);
    const delivery = await each.merchant.delivery(each.eventId, each.endpoint);
    expect(delivery?.attempts, `at ${failpoint}`).toMatchObject([{ statusCode: 200 }]);
  }
});
