import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectWithin, stopwatch, within } from '../../../scripts/testing/expect-within.ts';
import { until } from '../harness/until.ts';
import { type CreatedEndpoint, WebhookStage } from './webhook-stage.ts';

/** Upper limit for an immediate delivery on a busy machine; a hanging request takes ten seconds. */
const IMMEDIATE_MS = 4000;

let stage: WebhookStage;
/** Waits for an event that must arrive immediately. */
const waitForPromptEvent = (path: string, eventId: string) =>
  within('an immediate delivery', IMMEDIATE_MS, () => stage.sink.waitForEvent(path, eventId));
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

describe('an endpoint that never answers', () => {
  it('delays no other endpoint of its organization or of others, however long its backlog', async () => {
    const [merchant, otherMerchant] = [await stage.merchant(), await stage.merchant()];
    const hanging = await merchant.endpoint({}, 'hang');
    const healthy = await merchant.endpoint();
    const otherEndpoint = await otherMerchant.endpoint();
    await merchant.record(50);
    await stage.sink.waitForRequests(hanging.path, 1);
    await stage.sink.waitForRequests(healthy.path, 50);
    const busySince = stopwatch();
    for (let round = 0; round < 5; round += 1) {
      const elapsed = stopwatch();
      const [own, other] = [await merchant.declinePayout(), await otherMerchant.declinePayout()];
      await waitForPromptEvent(healthy.path, own);
      await waitForPromptEvent(otherEndpoint.path, other);
      expectWithin('both deliveries', elapsed(), 2 * IMMEDIATE_MS);
    }
    const tried = stage.sink.requestsTo(hanging.path).length;
    expect(tried, 'at most ten concurrent requests until they time out').toBeLessThanOrEqual(10);
    const first = stage.sink.requestsTo(hanging.path)[0]?.id ?? '';
    const delivery = await within('the timeout', 20_000, () =>
      merchant.waitForDelivery(first, hanging, 'PENDING', 1),
    );
    expect(delivery.attempts[0]).toMatchObject({ statusCode: null, error: 'timeout' });
    expect(delivery.attempts[0]?.durationMs).toBeGreaterThanOrEqual(9900);
    expectWithin('all rounds', busySince(), 20_000);
  });

  it('does not delay another organization, even as one of thirty such endpoints', async () => {
    const [merchant, otherMerchant] = [await stage.merchant(), await stage.merchant()];
    const hanging: CreatedEndpoint[] = [];
    for (let count = 0; count < 30; count += 1) hanging.push(await merchant.endpoint({}, 'hang'));
    const otherEndpoint = await otherMerchant.endpoint();
    await merchant.record(20);
    await until('all endpoints hang', () =>
      Promise.resolve(hanging.every(({ path }) => stage.sink.requestsTo(path).length > 0)),
    );
    const eventId = await otherMerchant.declinePayout();
    await waitForPromptEvent(otherEndpoint.path, eventId);
    expect(stage.sink.ids(otherEndpoint.path)).toEqual([eventId]);
  });
});

describe('a burst', () => {
  it('of 2,000 deliveries does not delay a later single delivery of another organization', async () => {
    const [merchant, otherMerchant] = [await stage.merchant(), await stage.merchant()];
    // At ten concurrent requests it takes twenty seconds.
    const burst = await merchant.endpoint({}, { delayMs: 100 });
    const single = await otherMerchant.endpoint();
    const ids = await merchant.record(2000);
    await stage.sink.waitForRequests(burst.path, 10);
    const eventId = await otherMerchant.declinePayout();
    await waitForPromptEvent(single.path, eventId);
    expect(stage.sink.requestsTo(burst.path).length, 'the burst is in progress').toBeLessThan(1500);
    stage.sink.answer(burst.path, {});
    await until('the burst is delivered', () =>
      Promise.resolve(stage.sink.ids(burst.path).length === ids.length),
    );
    expect(stage.sink.ids(burst.path)).toEqual([...ids].sort());
  });
});
