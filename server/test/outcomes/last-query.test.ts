import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PayinDriver } from '../harness/payin-driver.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let payins: PayinDriver;
let payouts: PayoutDriver;
// Long enough that a slow machine does not make the last poll before the test's payment.
const PROCESSING_MS = 20 * 60_000;
beforeAll(async () => {
  const settings = { CAUDAL_WORKER_POLL_MS: '20', BREB_MAX_PROCESSING_MS: String(PROCESSING_MS) };
  stack = await startStack({ workers: 1, settings });
  payins = new PayinDriver(stack);
  payouts = new PayoutDriver(stack);
  await payouts.fund();
});
afterAll(() => stack?.stop());
afterEach(async () => {
  await payins.simulator.clearFaults();
  await payouts.checkLedger();
});

const loseNotices = () =>
  payins.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice' });

describe('the last status poll, with a rail processing time of twenty minutes', () => {
  it('finds a payment executed more than a minute after the payin expired', async () => {
    const { payin, key } = await payins.breb();
    await stack.shiftTime(61 * 60_000);
    await payins.waitForStatus(payin.id, 'CANCELED');
    await stack.shiftTime(61_000);
    await payins.waitUntilIdle();
    await loseNotices();
    await payins.simulator.pay({ key, anyway: true });
    await stack.shiftTime(PROCESSING_MS);
    await until('the payment is found', async () => (await payins.anomalies(payin.id)).length > 0);
    expect(await payins.anomalies(payin.id)).toMatchObject([{ kind: 'paid_late' }]);
  });

  it('finds an order executed more than a minute after its payout was declined', async () => {
    const { id, endToEndId } = await payouts.create({ key: '@TESTTIMEOUT' });
    await until('its answer is recorded', async () => (await payouts.attempts(id))[0]?.answer);
    await payins.simulator.endOrder({ endToEndId, outcome: 'REJECTED', code: '4010' });
    await payouts.waitForStatus(id, 'DECLINED');
    await stack.shiftTime(61_000);
    await payouts.waitUntilIdle();
    await loseNotices();
    await payins.simulator.endOrder({ endToEndId, outcome: 'SETTLED', anyway: true });
    await stack.shiftTime(PROCESSING_MS);
    await until('the execution is found', async () => (await payouts.anomalies(id)).length > 0);
    expect(await payouts.anomalies(id)).toMatchObject([{ kind: 'sent_late' }]);
  });
});
