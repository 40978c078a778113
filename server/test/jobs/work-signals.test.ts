import { afterEach, describe, expect, it } from 'vitest';
import { PayinDriver } from '../harness/payin-driver.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { WebhookSink } from '../harness/webhook-sink.ts';

/** The longest there is: an idle worker polls every fifty seconds, so that only signals explain what is done sooner. */
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

const listeners = (of: Stack) =>
  of.database.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and application_name = 'caudal-listen' and query ilike 'listen%'",
  );

/** A payment and a payout from their creation to the merchant's webhooks. @returns the events that arrived */
async function payAndPayOut(of: Stack, withinMs: number): Promise<string[]> {
  const payins = new PayinDriver(of);
  const { payin, key } = await payins.breb();
  await payins.simulator.pay({ key });
  await payins.reaches(payin.id, 'CONFIRMED', withinMs);
  const payouts = new PayoutDriver(of);
  await payouts.fund();
  const { id } = await payouts.create();
  await payouts.reaches(id, 'CONFIRMED', withinMs);
  const requests = await sink?.receives('/hook', 2, withinMs);
  return (requests ?? []).map(({ body }) => (JSON.parse(body.toString()) as { event: string }).event).sort();
}

const BOTH = ['payin.confirmed', 'payout.confirmed'];

describe('work that an API process committed', () => {
  it('is taken up by an idle worker of another process long before its next poll', async () => {
    const running = await start(RARE_POLLS);
    await until('the worker listens', async () => (await listeners(running)).length === 1);
    expect(await payAndPayOut(running, SIGNALED_WITHIN_MS)).toEqual(BOTH);
  }, 60_000);

  it('is taken up at once again after the connection of the listener was cut', async () => {
    const running = await start(RARE_POLLS);
    const [first] = await until('the worker listens', async () => {
      const found = await listeners(running);
      return found.length === 1 && found;
    });
    await running.database.query('select pg_terminate_backend($1)', [first?.pid]);
    await until('the worker listens again', async () =>
      (await listeners(running)).some(({ pid }) => pid !== first?.pid),
    );
    expect(await payAndPayOut(running, SIGNALED_WITHIN_MS)).toEqual(BOTH);
  }, 60_000);

  it('is taken up within the interval of the poll when notifications are disabled', async () => {
    const running = await start({ CAUDAL_WORK_NOTIFICATIONS: 'no' });
    expect(await payAndPayOut(running, 15_000)).toEqual(BOTH);
    expect(await listeners(running)).toEqual([]);
  }, 60_000);
});
