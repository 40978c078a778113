import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type CreatedPayout, PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { waitForAnswers } from './payout-steps.ts';

/** An order leaves within 20 s of its attempt and is processed within the 20 s of the simulator. */
const PAST_WINDOW_MS = 45_000;

const readTask = async (driver: PayoutDriver, { id }: CreatedPayout) => {
  const [row] = await driver.query<{ task: string; attempts: number; unsent: number }>(
    'select rail_task as task, attempts, unsent_attempts as unsent from caudal.payouts where id = $1',
    [id],
  );
  return row;
};

describe('a payout that the rail does not accept now', () => {
  let stack: Stack;
  let driver: PayoutDriver;
  beforeAll(async () => {
    stack = await startStack({ apis: 1, workers: 2, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
    driver = new PayoutDriver(stack);
    await driver.fund();
  });
  afterAll(() => stack?.stop());
  afterEach(async () => {
    await driver.simulator.clearFaults();
    await driver.checkLedger();
  });
  const limitRate = (times?: number) =>
    driver.simulator.addFault({
      rail: 'BRE_B',
      operation: 'order',
      fault: 'rate-limited',
      ...(times === undefined ? {} : { times }),
    });
  const cancel = ({ id }: CreatedPayout) =>
    stack.api.post<{ status?: string; code?: string }>(`/payouts/${id}/cancel`, {});

  it('is sent again without a poll, and executed once', async () => {
    await limitRate(2);
    const created = await driver.create();
    await driver.waitForStatus(created.id, 'CONFIRMED');
    expect(await waitForAnswers(driver, created, 3)).toEqual(['not_now', 'not_now', 'accepted']);
    expect(await driver.executions(created)).toBe(1);
    expect((await driver.simulator.stats()).orders.duplicates).toBe(0);
  });

  it('can be canceled, is never sent afterwards, and its money is available again', async () => {
    const { body: before } = await stack.api.get<{ availableInCents: number }>('/balance');
    await limitRate();
    const created = await driver.create();
    await waitForAnswers(driver, created, 1);
    // While an attempt is in flight, its task is the poll about it.
    await until('it waits to be sent again', async () => (await readTask(driver, created))?.task === 'send');
    await until('no attempt is in flight', async () => (await cancel(created)).status === 200);
    expect(await cancel(created)).toMatchObject({ status: 200, body: { status: 'CANCELED' } });
    await driver.simulator.clearFaults();
    await stack.shiftTime(PAST_WINDOW_MS);
    await driver.waitUntilIdle();
    expect(await driver.simulator.order(created.endToEndId)).toBeNull();
    expect(await driver.events(created.id)).toEqual(['payout.canceled']);
    const { body: after } = await stack.api.get<{ availableInCents: number }>('/balance');
    expect(after.availableInCents).toBe(before.availableInCents);
  });

  it('cannot be canceled when the rail may have an earlier order, and is polled before it is sent again', async () => {
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'order', fault: 'down', times: 1 });
    const created = await driver.create();
    expect(await waitForAnswers(driver, created, 1)).toEqual(['unknown']);
    await limitRate(1);
    await stack.shiftTime(PAST_WINDOW_MS);
    expect(await waitForAnswers(driver, created, 2)).toEqual(['unknown', 'not_now']);
    expect(await cancel(created)).toMatchObject({ status: 409, body: { code: 'payout_already_sent' } });
    expect(await readTask(driver, created)).toEqual({ task: 'poll', attempts: 2, unsent: 1 });
    await stack.shiftTime(PAST_WINDOW_MS);
    await driver.waitForStatus(created.id, 'CONFIRMED');
    expect(await waitForAnswers(driver, created, 3)).toEqual(['unknown', 'not_now', 'accepted']);
    expect(await driver.executions(created)).toBe(1);
  });
});

describe('a payout while nothing listens at the address of the rail', () => {
  let stack: Stack;
  let driver: PayoutDriver;
  beforeAll(async () => {
    // A free port could become another test's.
    const settings = { CAUDAL_WORKER_POLL_MS: '20', BREB_URL: 'http://127.0.0.1:1/breb' };
    stack = await startStack({ apis: 1, workers: 1, settings });
    driver = new PayoutDriver(stack);
    await driver.fund();
  });
  afterAll(() => stack?.stop());

  it('waits to be sent, is not listed as unknown, and can be canceled', async () => {
    const created = await driver.create();
    expect(await waitForAnswers(driver, created, 1)).toContain('not_sent');
    await stack.shiftTime(120_000);
    expect(await driver.command('payouts', 'unknown')).toContain('has an outcome');
    expect(await driver.command('payouts', 'show', created.id)).toContain('not_sent');
    await until('it is canceled', async () => {
      const { status } = await stack.api.post(`/payouts/${created.id}/cancel`, {});
      return status === 200;
    });
    expect((await driver.get(created.id)).status).toBe('CANCELED');
    await driver.checkLedger();
  });
});
