import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../harness/until.ts';
import { type MadeEndpoint, WebhookStage } from './webhook-stage.ts';

/** What a merchant takes for "at once" on a machine where everything runs at the same time; a hanging answer takes ten. */
const AT_ONCE_MS = 4000;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

describe('an endpoint that never answers', () => {
  it('delays neither another of its organization nor those of others, however much waits for it', async () => {
    const [merchant, stranger] = [await stage.merchant(), await stage.merchant()];
    const hanging = await merchant.endpoint({}, 'hang');
    const healthy = await merchant.endpoint();
    const elsewhere = await stranger.endpoint();
    await merchant.record(50);
    await stage.sink.receives(hanging.path, 1);
    await stage.sink.receives(healthy.path, 50);
    const busySince = performance.now();
    for (let round = 0; round < 5; round += 1) {
      const began = performance.now();
      const [own, other] = [await merchant.declined(), await stranger.declined()];
      await stage.sink.receivesEvent(healthy.path, own, AT_ONCE_MS);
      await stage.sink.receivesEvent(elsewhere.path, other, AT_ONCE_MS);
      expect(performance.now() - began).toBeLessThan(2 * AT_ONCE_MS);
    }
    const tried = stage.sink.at(hanging.path).length;
    expect(tried, 'ten of its own at once, and no more until they are over').toBeLessThanOrEqual(10);
    const first = stage.sink.at(hanging.path)[0]?.id ?? '';
    const delivery = await merchant.reaches(first, hanging, 'PENDING', 1, 20_000);
    expect(delivery.attempts).toMatchObject([{ statusCode: null, error: 'timeout' }]);
    expect(delivery.attempts[0]?.durationMs).toBeGreaterThanOrEqual(9900);
    expect(performance.now() - busySince).toBeLessThan(20_000);
  });

  it('thirty such endpoints of one organization do not hold up a single event of another', async () => {
    const [merchant, stranger] = [await stage.merchant(), await stage.merchant()];
    const hanging: MadeEndpoint[] = [];
    for (let count = 0; count < 30; count += 1) hanging.push(await merchant.endpoint({}, 'hang'));
    const elsewhere = await stranger.endpoint();
    await merchant.record(20);
    await until('all hang', () =>
      Promise.resolve(hanging.every(({ path }) => stage.sink.at(path).length > 0)),
    );
    const eventId = await stranger.declined();
    await stage.sink.receivesEvent(elsewhere.path, eventId, AT_ONCE_MS);
    expect(stage.sink.ids(elsewhere.path)).toEqual([eventId]);
  });
});

describe('a burst', () => {
  it('2,000 deliveries of one organization do not hold up the single one of another that comes after them', async () => {
    const [merchant, stranger] = [await stage.merchant(), await stage.merchant()];
    // At ten at once it takes twenty seconds.
    const burst = await merchant.endpoint({}, { delayMs: 100 });
    const single = await stranger.endpoint();
    const ids = await merchant.record(2000);
    await stage.sink.receives(burst.path, 10);
    const eventId = await stranger.declined();
    await stage.sink.receivesEvent(single.path, eventId, AT_ONCE_MS);
    expect(stage.sink.at(burst.path).length, 'the burst is under way').toBeLessThan(1500);
    stage.sink.answer(burst.path, {});
    await until(
      'the burst has come',
      () => Promise.resolve(stage.sink.ids(burst.path).length === ids.length),
      30_000,
    );
    expect(stage.sink.ids(burst.path)).toEqual([...ids].sort());
  }, 60_000);
});
