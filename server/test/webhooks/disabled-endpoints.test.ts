import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMetric } from '../harness/read-metric.ts';
import { until } from '../harness/until.ts';
import { type MadeEndpoint, type Merchant, WebhookStage } from './webhook-stage.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

/** How many endpoints the worker disabled so far. */
async function disabledSoFar(): Promise<number> {
  const [worker] = stage.stack.workers;
  return worker ? readMetric(worker, 'caudal_webhook_endpoints_disabled_total').catch(() => 0) : 0;
}

/** What the log has about it; it is written after the commit that a client sees. */
function disabledInLog(endpoint: MadeEndpoint): Promise<string[]> {
  return until('the log says so', () => {
    const [worker] = stage.stack.workers;
    const lines = worker?.output().split('\n') ?? [];
    const about = lines.filter(
      (line) => line.includes('A WEBHOOK ENDPOINT WAS DISABLED') && line.includes(endpoint.id),
    );
    return Promise.resolve(about.length > 0 && about);
  });
}

/** Time goes on until an endpoint has been tried for so long. */
async function failFor(merchant: Merchant, endpoint: MadeEndpoint, days: number): Promise<void> {
  for (let hours = 0; hours < days * 24; hours += 12) {
    if ((await merchant.get(endpoint)).status === 'DISABLED') return;
    const before = await attemptsOf(endpoint);
    await stage.stack.shiftTime(12 * HOUR);
    // In half a day nothing may be due; then the next shift is the one.
    await until(
      'it was tried, or has nothing to try',
      async () => (await attemptsOf(endpoint)) > before || !(await isDue(endpoint)),
    );
  }
}

async function attemptsOf({ id }: MadeEndpoint): Promise<number> {
  const [row] = await stage.query<{ count: number }>(
    'select count(*)::int as count from caudal.webhook_attempts where endpoint_id = $1',
    [id],
  );
  return row?.count ?? 0;
}

async function isDue({ id }: MadeEndpoint): Promise<boolean> {
  const rows = await stage.query(
    'select 1 from caudal.webhook_queues where endpoint_id = $1 and (due_at <= caudal.now() or leased_until is not null)',
    [id],
  );
  return rows.length > 0;
}

describe('an endpoint is disabled', () => {
  it('at once by a 410, told in its reason, the log and a metric', async () => {
    const merchant = await stage.merchant();
    const gone = await merchant.endpoint({}, { status: 410 });
    const other = await merchant.endpoint();
    const before = await disabledSoFar();
    const eventId = await merchant.declined();
    expect(await merchant.disabled(gone)).toMatchObject({ disabledReason: 'gone' });
    expect(await merchant.delivery(eventId, gone)).toMatchObject({
      status: 'PENDING',
      attempts: [{ statusCode: 410 }],
      nextAttemptAt: null,
    });
    await until('the metric says so', async () => (await disabledSoFar()) === before + 1);
    const [line, ...more] = await disabledInLog(gone);
    expect(more).toEqual([]);
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      organizationId: merchant.id,
      webhookEndpointId: gone.id,
      reason: 'gone',
    });
    expect(line).not.toContain(gone.path);
    await stage.sink.receivesEvent(other.path, eventId);
    expect((await merchant.get(other)).status).toBe('ENABLED');
  });

  it('not by a 410 of an address that it no longer has', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 410, delayMs: 1500 });
    const first = await merchant.declined();
    await stage.sink.receivesEvent(endpoint.path, first);
    const path = stage.newPath();
    await merchant.change(endpoint, { url: stage.sink.url(path) });
    await merchant.reaches(first, endpoint, 'PENDING', 1);
    const second = await merchant.declined();
    await stage.sink.receivesEvent(path, second);
    expect(await merchant.get(endpoint)).toMatchObject({ status: 'ENABLED', disabledReason: null });
  });

  it('not because of days in which there was nothing to send', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 500 });
    const test = await merchant.declined();
    await merchant.reaches(test, endpoint, 'PENDING', 1);
    // Its time is over: nothing is left in the line.
    await stage.query('update caudal.webhook_deliveries set give_up_at = caudal.now() where event_id = $1', [
      test,
    ]);
    await stage.stack.shiftTime(MINUTE);
    await merchant.reaches(test, endpoint, 'FAILED');
    await stage.shiftHeard(10 * DAY);
    await merchant.reaches(await merchant.declined(), endpoint, 'PENDING', 1);
    expect(await merchant.get(endpoint)).toMatchObject({ status: 'ENABLED', disabledReason: null });
  });

  it('after five days without one success, and not before', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 500 });
    const eventId = await merchant.declined();
    await merchant.reaches(eventId, endpoint, 'PENDING', 1);
    await failFor(merchant, endpoint, 4.5);
    expect(await merchant.get(endpoint)).toMatchObject({ status: 'ENABLED', disabledReason: null });
    await failFor(merchant, endpoint, 2);
    expect(await merchant.disabled(endpoint)).toMatchObject({
      disabledReason: 'no_success_5d',
    });
    expect(await disabledInLog(endpoint)).toHaveLength(1);
  });

  it('not while something reaches it in between', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 500 });
    const refused = await merchant.declined();
    await merchant.reaches(refused, endpoint, 'PENDING', 1);
    await failFor(merchant, endpoint, 4);
    stage.sink.answerBy(endpoint.path, ({ id }) => ({ status: id === refused ? 500 : 200 }));
    await stage.sink.receivesEvent(endpoint.path, await merchant.test(endpoint));
    await failFor(merchant, endpoint, 4);
    expect(await merchant.get(endpoint)).toMatchObject({ status: 'ENABLED' });
  });
});

describe('what is held while an endpoint is disabled', () => {
  it('comes once it is enabled again: what waited, and what happened meanwhile', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 410 }, {});
    const before = await merchant.declined();
    await merchant.disabled(endpoint);
    const meanwhile = [await merchant.declined(), await merchant.declined()];
    await merchant.dispatched();
    await stage.stack.shiftTime(2 * DAY);
    // Another line is worked after theirs would have been.
    const witness = await merchant.endpoint();
    await stage.sink.receivesEvent(witness.path, await merchant.test(witness));
    expect(stage.sink.at(endpoint.path)).toHaveLength(1);
    for (const eventId of meanwhile)
      expect(await merchant.delivery(eventId, endpoint)).toMatchObject({
        status: 'PENDING',
        attempts: [],
        nextAttemptAt: null,
      });
    await merchant.change(endpoint, { status: 'ENABLED' });
    for (const eventId of [before, ...meanwhile]) await merchant.reaches(eventId, endpoint, 'DELIVERED');
    expect(stage.sink.ids(endpoint.path)).toEqual([before, ...meanwhile].sort());
  });

  it('only if it is younger than thirty days: what is older has FAILED, and a replay brings it', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 410 }, {});
    const first = await merchant.declined();
    await merchant.disabled(endpoint);
    const old = await merchant.declined();
    await merchant.dispatched();
    await stage.stack.shiftTime(20 * DAY);
    const young = await merchant.declined();
    await merchant.dispatched();
    await stage.stack.shiftTime(11 * DAY);
    await merchant.change(endpoint, { status: 'ENABLED' });
    await merchant.reaches(young, endpoint, 'DELIVERED', 1);
    for (const eventId of [first, old]) await merchant.reaches(eventId, endpoint, 'FAILED');
    expect(stage.sink.at(endpoint.path).map(({ id }) => id)).toEqual([first, young]);
    await merchant.api.request('POST', `/events/${old}/replay`);
    await merchant.reaches(old, endpoint, 'DELIVERED', 1);
  });

  it('a merchant disables and enables: nothing comes in between, everything after', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    await merchant.change(endpoint, { status: 'DISABLED' });
    const held = await merchant.record(120);
    await merchant.dispatched();
    const witness = await merchant.endpoint();
    await stage.sink.receivesEvent(witness.path, await merchant.test(witness));
    expect(stage.sink.at(endpoint.path)).toEqual([]);
    await merchant.change(endpoint, { status: 'ENABLED' });
    await stage.sink.receives(endpoint.path, held.length);
    await merchant.lineRests(endpoint);
    expect(stage.sink.at(endpoint.path)).toHaveLength(held.length);
    expect(stage.sink.ids(endpoint.path)).toEqual([...held].sort());
  });

  it('does not come when something else of the endpoint is changed', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    await merchant.change(endpoint, { status: 'DISABLED' });
    const eventId = await merchant.declined();
    await merchant.dispatched();
    expect(
      await merchant.change(endpoint, { description: 'still closed', url: stage.sink.url(endpoint.path) }),
    ).toMatchObject({
      status: 'DISABLED',
      disabledReason: 'by_owner',
    });
    const witness = await merchant.endpoint();
    await stage.sink.receivesEvent(witness.path, await merchant.test(witness));
    expect(stage.sink.at(endpoint.path)).toEqual([]);
    expect(await merchant.delivery(eventId, endpoint)).toMatchObject({
      status: 'PENDING',
      nextAttemptAt: null,
    });
  });
});

describe('an endpoint that moves', () => {
  it('a new address is tried at once, however long the old one has been failing', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 500 });
    const waiting = await merchant.declined();
    await merchant.reaches(waiting, endpoint, 'PENDING', 1);
    await failFor(merchant, endpoint, 2);
    const attempts = await attemptsOf(endpoint);
    const fresh = await merchant.declined();
    await merchant.dispatched();
    const path = stage.newPath();
    await merchant.change(endpoint, { url: stage.sink.url(path) });
    await stage.sink.receivesEvent(path, fresh, 5000);
    await merchant.reaches(fresh, endpoint, 'DELIVERED');
    // The one that failed keeps its time.
    expect(await attemptsOf(endpoint)).toBeGreaterThan(attempts);
    await stage.stack.shiftTime(DAY * 1.1);
    await merchant.reaches(waiting, endpoint, 'DELIVERED');
    await stage.sink.receivesEvent(path, waiting);
  });
});

describe('an event that does not open', () => {
  it('stops no other, and waits for somebody to look into it', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    await merchant.change(endpoint, { status: 'DISABLED' });
    const [broken = '', sound = ''] = await merchant.record(2);
    await stage.query("update caudal.events set payload = '\\x00' where id = $1", [broken]);
    await merchant.change(endpoint, { status: 'ENABLED' });
    await stage.sink.receivesEvent(endpoint.path, sound);
    await merchant.reaches(sound, endpoint, 'DELIVERED');
    const [row] = await stage.query<{ status: string; attempts: number; later: boolean }>(
      "select status, attempts, next_attempt_at > caudal.now() + interval '5 minutes' as later from caudal.webhook_deliveries where event_id = $1",
      [broken],
    );
    expect(row).toEqual({ status: 'PENDING', attempts: 0, later: true });
    expect(stage.sink.at(endpoint.path).map(({ id }) => id)).toEqual([sound]);
  });
});
