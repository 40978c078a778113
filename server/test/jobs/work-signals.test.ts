import { afterEach, describe, expect, it } from 'vitest';
import { within } from '../../../scripts/testing/expect-within.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { WebhookSink } from '../harness/webhook-sink.ts';

/** The maximum: an idle worker polls every fifty seconds, so that only signals explain faster processing. */
const RARE_POLLS = { CAUDAL_WORKER_POLL_MS: '10000' };
const SIGNALED_WITHIN_MS = 6000;

let stack: Stack | null = null;
let sink: WebhookSink | null = null;
afterEach(async () => {
  await sink?.close();
  await stack?.stop();
  stack = null;
  sink = null;
});

async function start(settings: Record<string, string>, workers = 1): Promise<Stack> {
  sink = await WebhookSink.start();
  stack = await startStack({ apis: 1, workers, settings });
  const { status } = await stack.api.post('/webhook-endpoints', { url: sink.url('/hook') });
  expect(status).toBe(201);
  return stack;
}

const findListeners = (runningStack: Stack) =>
  runningStack.database.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and application_name = 'caudal-listen' and query ilike 'listen%' and state = 'idle'",
  );

/** Runs a payin and a payout from creation to webhook. @returns the received event names */
async function runPayinAndPayout(runningStack: Stack, limitMs: number): Promise<string[]> {
  const payins = new PayinDriver(runningStack);
  const { payin, key } = await payins.breb();
  await payins.simulator.pay({ key });
  await within('the payin', limitMs, () => payins.waitForStatus(payin.id, 'CONFIRMED'));
  const payouts = new PayoutDriver(runningStack);
  await payouts.fund();
  const { id } = await payouts.create();
  await within('the payout', limitMs, () => payouts.waitForStatus(id, 'CONFIRMED'));
  const received = await within('the webhooks', limitMs, () =>
    until('both events are received', async () => {
      const requests = sink?.requestsTo('/hook') ?? [];
      // A delivery is repeated when its answer was late.
      const byId = new Map(requests.map(({ id: eventId, body }) => [eventId, body]));
      return byId.size >= 2 && [...byId.values()];
    }),
  );
  return received.map((body) => (JSON.parse(body.toString()) as { event: string }).event).sort();
}

const BOTH = ['payin.confirmed', 'payout.confirmed'];

describe('work committed by an API process', () => {
  it('is processed by an idle worker process long before its next poll', async () => {
    const running = await start(RARE_POLLS);
    await until('the worker listens', async () => (await findListeners(running)).length === 1);
    expect(await runPayinAndPayout(running, SIGNALED_WITHIN_MS)).toEqual(BOTH);
  });

  it('is processed immediately again after the listener connection was cut', async () => {
    const running = await start(RARE_POLLS);
    const [first] = await until('the worker listens', async () => {
      const found = await findListeners(running);
      return found.length === 1 && found;
    });
    await running.database.query('select pg_terminate_backend($1)', [first?.pid]);
    await until('the worker listens again', async () =>
      (await findListeners(running)).some(({ pid }) => pid !== first?.pid),
    );
    expect(await runPayinAndPayout(running, SIGNALED_WITHIN_MS)).toEqual(BOTH);
  });

  it('is processed within the poll interval when notifications are disabled', async () => {
    const running = await start({ CAUDAL_WORK_NOTIFICATIONS: 'no' });
    expect(await runPayinAndPayout(running, 15_000)).toEqual(BOTH);
    expect(await findListeners(running)).toEqual([]);
  });
});
