import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { brebPayin } from '../harness/payin-requests.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { WebhookSink } from '../harness/webhook-sink.ts';
import { type Examined, examined } from './examined.ts';

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

/** Looks until it says so: work that is under way has its moment. */
function says(name: string, text: RegExp): Promise<Examined> {
  return until(
    `doctor says ${text} of ${name}`,
    async () => {
      const found = await examined(stack.settings);
      if (!text.test(found.of(name).says)) throw new Error(found.of(name).says);
      return found;
    },
    15_000,
  );
}

describe('caudal doctor names', () => {
  it('keys that wait to be registered: how many, and for how long', async () => {
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'register', fault: 'down' });
    const created = await stack.api.post('/payins', brebPayin());
    expect(created.status).toBe(201);
    const young = await says('keys waiting', /^1 key waits to be registered at Bre-B, the oldest for \d+ s/);
    const { status, says: words } = young.of('keys waiting');
    // Asking may itself take long on a machine with better things to do.
    expect(status).toBe(/for \d s/.test(words) ? 'ok' : 'warn');
    await stack.shiftTime(20_000);
    const waiting = await says('keys waiting', /oldest for [2-5]\d s: until then nobody can pay to it/);
    expect(waiting.of('keys waiting').status).toBe('warn');
    expect(waiting.of('keys waiting').todo).toContain('rail BRE_B');
    await stack.shiftTime(60_000);
    const long = await says('keys waiting', /oldest for (?:[89]\d|1[01]\d) s/);
    expect(long.code).toBe(1);
    expect(long.of('keys waiting').status).toBe('fail');
    await driver.simulator.clearFaults();
    await says('keys waiting', /every key is registered/);
  }, 40_000);

  it('an endpoint that fails, whose it is, since when and with what; not one that its owner disabled', async () => {
    sink.answer('/failing', { status: 500 });
    sink.answer('/gone', { status: 410 });
    const made = await Promise.all(
      ['/failing', '/gone', '/resting'].map((path) =>
        stack.api.post<{ id: string }>('/webhook-endpoints', { url: sink.url(path) }),
      ),
    );
    const [failing, gone, resting] = made.map(({ body }) => body.id);
    await stack.api.request('PATCH', `/webhook-endpoints/${resting}`, { body: { status: 'DISABLED' } });
    // What the balance does not cover ends at once, with an event.
    await driver.create({ amountInCents: 900_000_000 });
    const { code, of } = await says(
      'endpoints',
      /failing since[\s\S]*disabled: it answered 410 Gone|disabled: it answered 410 Gone[\s\S]*failing since/,
    );
    expect(code).toBe(0);
    expect(of('endpoints').status).toBe('warn');
    const { organizationId } = stack.organization;
    expect(of('endpoints').says).toMatch(
      new RegExp(
        `Tienda Aurora \\(${organizationId}\\), endpoint ${failing}: failing since \\d{4}-\\S+Z, \\d+ attempts? in a row, last: .*500`,
      ),
    );
    expect(of('endpoints').says).toContain(`endpoint ${gone}: disabled`);
    expect(of('endpoints').says).not.toContain(resting);
  }, 30_000);

  it('a payout without an outcome and money that fits nothing, with the commands that list them', async () => {
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'order-query', fault: 'down' });
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'order', fault: 'down' });
    const { id } = await driver.create();
    await until(
      'it was sent',
      async () =>
        (await driver.query('select from caudal.payouts where id = $1 and attempts > 0', [id])).length > 0,
    );
    await stack.shiftTime(70_000);
    const unknown = await says('payouts', /^1 payout sent over a minute ago without an outcome/);
    expect(unknown.of('payouts')).toMatchObject({ status: 'warn', todo: 'caudal payouts unknown' });
    expect(unknown.of('payouts').says).toContain(id);

    await driver.simulator.pay({ key: '@SOMEBODYELSESKEY', amount: '77.00', anyway: true });
    const anomaly = await says('anomalies', /^1 anomaly waits for a decision/);
    expect(anomaly.of('anomalies')).toMatchObject({ status: 'warn', todo: 'caudal anomalies list' });
  }, 40_000);

  it('a rail that somebody paused, with who and why', async () => {
    await driver.command('rails', 'pause', '--rail', 'PSE', '--reason', 'work at night', '--by', 'Laura');
    const { code, of } = await examined(stack.settings);
    expect(code).toBe(0);
    expect(of('pauses')).toMatchObject({
      status: 'warn',
      says: expect.stringMatching(/^PSE for everybody since \S+Z by Laura \(work at night\)$/),
      todo: 'when it is over: caudal rails resume --rail PSE --by NAME',
    });
    await driver.command('rails', 'resume', '--rail', 'PSE');
  });

  it('messages of rails that nobody has dealt with', async () => {
    await Promise.all(stack.workers.map((worker) => worker.stop()));
    await driver.simulator.pay({ key: '@NOBODYSKEY', amount: '1.00', anyway: true });
    await until(
      'it is stored',
      async () => (await driver.query("select from caudal.rail_notices where task = 'apply'", [])).length > 0,
    );
    await stack.shiftTime(30_000);
    const waiting = await says('notices', /^1 message of rails not dealt with, the oldest for [345]\d s/);
    expect(waiting.of('notices')).toMatchObject({
      status: 'warn',
      todo: expect.stringContaining('caudal worker'),
    });
  }, 30_000);
});
