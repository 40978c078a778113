import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectWithin, within } from '../../../scripts/testing/expect-within.ts';
import { until } from '../harness/until.ts';
import { type BatchStep, type CreatedEndpoint, type Merchant, WebhookStage } from './webhook-stage.ts';

/** Seconds of pause after the first failed batch, the second, and so on. */
const PAUSES_SECONDS = [1, 2, 4, 8, 16, 32, 60, 60];
const PENDING = 60;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
  await stage.keepHistory();
});
afterAll(() => stage?.close());

/** An endpoint with this answer and many pending deliveries before the first attempt. */
async function backloggedEndpoint(status: number) {
  const merchant = await stage.merchant();
  const endpoint = await merchant.endpoint({}, { status });
  await merchant.change(endpoint, { status: 'DISABLED' });
  const ids = await merchant.record(PENDING);
  await merchant.waitUntilDispatched();
  await merchant.change(endpoint, { status: 'ENABLED' });
  return { merchant, endpoint, ids };
}

/** Advances business time to the next due time of the queue until it has had `count` batches. */
async function waitForBatches(endpoint: CreatedEndpoint, count: number): Promise<BatchStep[]> {
  for (;;) {
    const batches = await stage.batches(endpoint);
    if (batches.length >= count) return batches.slice(0, count);
    const { seconds } = await until('the queue pauses', async () => {
      const [queue] = await stage.query<{ seconds: number }>(
        `select greatest(0, extract(epoch from due_at - caudal.now()))::float8 as seconds from caudal.webhook_queues
         where endpoint_id = $1 and leased_until is null and failures >= $2 and due_at is not null`,
        [endpoint.id, batches.length],
      );
      return queue;
    });
    // Never further than the due time: an earlier batch would start the next pause from there.
    await stage.stack.shiftTime(Math.ceil(seconds * 1000));
    await until('it was attempted', async () => (await stage.batches(endpoint)).length > batches.length);
  }
}

async function countDelivered({ id }: Merchant): Promise<number> {
  const [row] = await stage.query<{ count: number }>(
    "select count(*)::int as count from caudal.webhook_deliveries where organization_id = $1 and status = 'DELIVERED'",
    [id],
  );
  return row?.count ?? 0;
}

describe('an endpoint that answers 500 with a backlog', () => {
  let merchant: Merchant;
  let endpoint: CreatedEndpoint;
  let ids: string[];
  let batches: BatchStep[];
  beforeAll(async () => {
    ({ merchant, endpoint, ids } = await backloggedEndpoint(500));
    batches = await waitForBatches(endpoint, PAUSES_SECONDS.length + 1);
  });

  it('stops its batch after the first failure: at most ten requests were in flight by then', () => {
    expect(batches[0]?.attempts).toBeGreaterThanOrEqual(1);
    expect(batches[0]?.attempts).toBeLessThanOrEqual(10);
  });

  it('then gets one delivery per batch', async () => {
    expect(batches.slice(1).map(({ attempts }) => attempts)).toEqual(PAUSES_SECONDS.map(() => 1));
    // A later batch may be in progress.
    await until('every request is recorded, none twice', async () => {
      const recorded = await stage.batches(endpoint);
      return (
        recorded.reduce((sum, { attempts }) => sum + attempts, 0) ===
        stage.sink.requestsTo(endpoint.path).length
      );
    });
  });

  it('pauses after each failed batch, twice as long each time and at most a minute', () => {
    const seconds = (to: Date | null | undefined, from: Date | undefined) =>
      ((to?.getTime() ?? Number.NaN) - (from?.getTime() ?? Number.NaN)) / 1000;
    const pauses = batches.slice(0, -1).map(({ releasedAt, restUntil }) => seconds(restUntil, releasedAt));
    expect(pauses).toEqual(PAUSES_SECONDS);
    for (const [index, pause] of PAUSES_SECONDS.entries()) {
      const gap = seconds(batches[index + 1]?.leasedAt, batches[index]?.releasedAt);
      expect(gap, `after ${index + 1}`).toBeGreaterThanOrEqual(pause);
      // The short pauses may end before this test observes them; for the long ones the test adds little time.
      if (index >= 4) expectWithin(`pause ${index + 1}`, gap * 1000, pause * 1500);
    }
  });

  it('gets all deliveries that were never attempted as soon as one succeeds, without a pause', async () => {
    const tried = new Set(stage.sink.ids(endpoint.path));
    const neverAttempted = ids.filter((id) => !tried.has(id));
    expect(neverAttempted.length).toBeGreaterThan(PENDING / 2);
    stage.sink.answer(endpoint.path, {});
    await stage.stack.shiftTime(60_000);
    await within('delivery of the backlog', 5000, () =>
      until('it has received them', async () => (await countDelivered(merchant)) >= neverAttempted.length),
    );
    expect(stage.sink.ids(endpoint.path)).toEqual([...ids].sort());
    const [queue] = await stage.query(
      'select failures, failing_since from caudal.webhook_queues where endpoint_id = $1',
      [endpoint.id],
    );
    expect(queue).toEqual({ failures: 0, failing_since: null });
  });
});
