import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { brebPayin } from '../harness/payin-requests.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { WebhookSink } from '../harness/webhook-sink.ts';
import { type DoctorReport, runDoctor } from './doctor-report.ts';

let stack: Stack;
let driver: PayoutDriver;
let sink: WebhookSink;
beforeAll(async () => {
  [stack, sink] = await Promise.all([
    startStack({ apis: 1, workers: 1, settings: { CAUDAL_WORKER_POLL_MS: '20' } }),
    WebhookSink.start(),
  ]);
  driver = new PayoutDriver(stack);
  await driver.fund();
});
afterAll(async () => {
  await stack?.stop();
  await sink?.close();
});
afterEach(() => driver.simulator.clearFaults());

/**
 * Repeats doctor until the check matches: work in progress takes a moment.
 * @param prepare runs before each doctor, for states that change with time
 */
function waitForReport(
  name: string,
  text: RegExp,
  prepare = (): Promise<unknown> => Promise.resolve(),
): Promise<DoctorReport> {
  return until(`doctor reports ${text} for ${name}`, async () => {
    await prepare();
    const report = await runDoctor(stack.settings);
    if (!text.test(report.check(name).message)) throw new Error(report.check(name).message);
    return report;
  });
}

describe('caudal doctor reports', () => {
  it('keys that wait for registration: how many and for how long', async () => {
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'register', fault: 'down' });
    const created = await stack.api.post('/payins', brebPayin());
    expect(created.status).toBe(201);
    const waitedFor = (seconds: number) => () =>
      stack.database.query(
        'update caudal.breb_keys set minted_at = caudal.now() - make_interval(secs => $1)',
        [seconds],
      );
    const young = await waitForReport(
      'keys waiting',
      /^1 Bre-B key waits for registration, the oldest for \d s/,
      waitedFor(0),
    );
    expect(young.check('keys waiting').status).toBe('ok');
    const waiting = await waitForReport(
      'keys waiting',
      /oldest for [2-5]\d s: payers cannot pay to it yet/,
      waitedFor(20),
    );
    expect(waiting.check('keys waiting').status).toBe('warn');
    expect(waiting.check('keys waiting').todo).toContain('rail BRE_B');
    const long = await waitForReport('keys waiting', /oldest for (?:[89]\d|1[01]\d) s/, waitedFor(80));
    expect(long.code).toBe(1);
    expect(long.check('keys waiting').status).toBe('fail');
    await driver.simulator.clearFaults();
    await waitForReport('keys waiting', /all Bre-B keys are registered/);
  });

  it('a failing endpoint with owner, start and error, but not one that its owner disabled', async () => {
    sink.answer('/failing', { status: 500 });
    sink.answer('/gone', { status: 410 });
    const created = await Promise.all(
      ['/failing', '/gone', '/resting'].map((path) =>
        stack.api.post<{ id: string }>('/webhook-endpoints', { url: sink.url(path) }),
      ),
    );
    const [failing, gone, resting] = created.map(({ body }) => body.id);
    await stack.api.request('PATCH', `/webhook-endpoints/${resting}`, { body: { status: 'DISABLED' } });
    // An uncovered payout is declined immediately, with an event.
    await driver.create({ amountInCents: 900_000_000 });
    const { code, check } = await waitForReport(
      'endpoints',
      /failing since[\s\S]*disabled: gone|disabled: gone[\s\S]*failing since/,
    );
    expect(code).toBe(0);
    expect(check('endpoints').status).toBe('warn');
    const { organizationId } = stack.organization;
    expect(check('endpoints').message).toMatch(
      new RegExp(
        `Tienda Aurora \\(${organizationId}\\), endpoint ${failing}: failing since \\d{4}-\\S+Z, \\d+ attempts? in a row, last: .*500`,
      ),
    );
    expect(check('endpoints').message).toContain(`endpoint ${gone}: disabled`);
    expect(check('endpoints').message).not.toContain(resting);
  });

  it('a payout without an outcome and an unmatched payment, with the commands that list them', async () => {
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'order-query', fault: 'down' });
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'order', fault: 'down' });
    const { id } = await driver.create();
    await until(
      'it was sent',
      async () =>
        (await driver.query('select from caudal.payouts where id = $1 and attempts > 0', [id])).length > 0,
    );
    await stack.shiftTime(70_000);
    const unknown = await waitForReport('payouts', /^1 payout sent over a minute ago without an outcome/);
    expect(unknown.check('payouts')).toMatchObject({ status: 'warn', todo: 'caudal payouts unknown' });
    expect(unknown.check('payouts').message).toContain(id);

    await driver.simulator.pay({ key: '@SOMEBODYELSESKEY', amount: '77.00', anyway: true });
    const anomaly = await waitForReport('anomalies', /^1 anomaly waits for a decision/);
    expect(anomaly.check('anomalies')).toMatchObject({ status: 'warn', todo: 'caudal anomalies list' });
  });

  it('a paused rail, with author and reason', async () => {
    await driver.command('rails', 'pause', '--rail', 'PSE', '--reason', 'work at night', '--by', 'Laura');
    const { check } = await until('doctor finds no failure', async () => {
      const report = await runDoctor(stack.settings);
      return report.code === 0 && report;
    });
    expect(check('pauses')).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(/^PSE for every organization since \S+Z by Laura \(work at night\)$/),
      todo: 'to resume: caudal rails resume --rail PSE --by NAME',
    });
    await driver.command('rails', 'resume', '--rail', 'PSE');
  });

  it('rail notifications that are not processed', async () => {
    await Promise.all(stack.workers.map((worker) => worker.stop()));
    await driver.simulator.pay({ key: '@NOBODYSKEY', amount: '1.00', anyway: true });
    await until('it is stored', async () => {
      const rows = await driver.query("select from caudal.rail_notices where task = 'apply'", []);
      return rows.length > 0;
    });
    // The rail repeats a notification until it has read the acknowledgement, so on a busy machine
    // doctor counts more than one.
    const waiting = await waitForReport(
      'notices',
      /^(?:1 unprocessed rail notice|\d+ unprocessed rail notices), the oldest for [345]\d s/,
      () =>
        stack.database.query(
          "update caudal.rail_notices set received_at = caudal.now() - interval '30 seconds' where task = 'apply'",
        ),
    );
    expect(waiting.check('notices')).toMatchObject({
      status: 'warn',
      todo: expect.stringContaining('caudal worker'),
    });
  });
});
