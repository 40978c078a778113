import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { until } from '../harness/until.ts';
import { type MadeEndpoint, type Merchant, WebhookStage } from './webhook-stage.ts';

// What a dead worker held is free thirty seconds of real time later.
vi.setConfig({ testTimeout: 120_000 });

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open({ workers: 0 });
});
afterAll(() => stage?.close());

/**
 * Where it dies, how often the event has come by then, and in the end at least. In this order none leaves behind what the
 * next one would take up before it dies.
 */
const DEATHS = [
  ['record deliveries: after commit', 1, 1],
  ['record deliveries: before commit', 1, 2],
  ['lease queues: after commit', 0, 1],
  ['dispatch events: before commit', 0, 1],
] as const;

interface Left {
  readonly merchant: Merchant;
  readonly endpoint: MadeEndpoint;
  readonly eventId: string;
}
const left: Left[] = [];

function arrivals({ endpoint, eventId }: Left) {
  return stage.sink.at(endpoint.path).filter(({ id }) => id === eventId);
}

it('a worker dies where it should, on the way of a delivery', async () => {
  for (const [failpoint, then] of DEATHS) {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    const each = { merchant, endpoint, eventId: await merchant.declined() };
    left.push(each);
    const worker = await startServer('worker', { ...stage.stack.settings, CAUDAL_FAILPOINT: failpoint });
    expect(await worker.exited, `it was killed: ${worker.output()}`).toBeNull();
    expect(arrivals(each), `at ${failpoint}`).toHaveLength(then);
  }
});

it('of two that come after it one is killed in the middle of 300 deliveries: the other takes over, and nothing is lost', async () => {
  const merchants = await Promise.all(Array.from({ length: 6 }, () => stage.merchant()));
  const endpoints = await Promise.all(merchants.map((merchant) => merchant.endpoint({}, { delayMs: 200 })));
  const ids = await Promise.all(merchants.map((merchant) => merchant.record(50)));
  const workers = await Promise.all([
    startServer('worker', stage.stack.settings),
    startServer('worker', stage.stack.settings),
  ]);
  const [killed, survivor] = workers;
  try {
    const arrived = () => endpoints.reduce((sum, { path }) => sum + stage.sink.ids(path).length, 0);
    await until('some have come', () => Promise.resolve(arrived() >= 30));
    killed.kill('SIGKILL');
    expect(await killed.exited).toBeNull();
    expect(arrived()).toBeLessThan(300);
    // Longer than a claim, and half of that again for a busy machine.
    await until('all have come', () => Promise.resolve(arrived() >= 300), 45_000);
    for (const [index, { path }] of endpoints.entries())
      expect(stage.sink.ids(path)).toEqual([...(ids[index] ?? [])].sort());
    for (const { merchant, endpoint, eventId } of left)
      await merchant.reaches(eventId, endpoint, 'DELIVERED', 1, 45_000);
    await until(
      'all is written down',
      async () => {
        const [row] = await stage.query<{ count: number }>(
          "select count(*)::int as count from caudal.webhook_deliveries where status = 'PENDING'",
        );
        return row?.count === 0;
      },
      45_000,
    );
  } finally {
    await survivor.stop();
  }
});

it('what the dead had sent and not written down came again under its id, with its body; what was written down did not', async () => {
  for (const [index, [failpoint, , atLeast]] of DEATHS.entries()) {
    const each = left[index];
    if (!each) throw new Error('the first test made them');
    const came = arrivals(each);
    // The one that was killed later may have sent them too; only what is written down is over.
    expect(came.length, `at ${failpoint}`).toBeGreaterThanOrEqual(atLeast);
    if (failpoint === 'record deliveries: after commit') expect(came).toHaveLength(1);
    for (const { body } of came) expect(body.equals(came[0]?.body ?? Buffer.alloc(0))).toBe(true);
    const delivery = await each.merchant.delivery(each.eventId, each.endpoint);
    expect(delivery?.attempts, `at ${failpoint}`).toMatchObject([{ statusCode: 200 }]);
  }
});
