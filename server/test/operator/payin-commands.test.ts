import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { CheckoutDriver } from '../harness/checkout-driver.ts';
import { forgePsePayment } from '../harness/forged-notice.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import type { SeenPayin } from '../harness/payin-driver.ts';
import { CUSTOMER, newReference } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { WebhookSink } from '../harness/webhook-sink.ts';

vi.setConfig({ testTimeout: 60_000 });

const MINUTE = 60_000;

let stack: Stack;
let checkout: CheckoutDriver;
beforeAll(async () => {
  stack = await startStack({ workers: 1, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  checkout = new CheckoutDriver(stack);
});
afterAll(() => stack?.stop());
afterEach(async () => {
  await checkout.simulator.clearFaults();
  await checkout.booksAreWhole();
});

const payins = (...args: readonly string[]) => runOperatorCommand(stack.settings, 'payins', ...args);
const end = (id: string) =>
  payins('end', id, '--by', 'Laura', '--reason', 'PSE dice que no hubo pago', '--json');

async function json<T>(...args: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await payins(...args, '--json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as T;
}

async function found(...args: readonly string[]): Promise<string[]> {
  return (await json<{ id: string }[]>('find', ...args)).map(({ id }) => id);
}

/** The day in Colombia on which a payin was created. */
async function dayOf({ id }: Pick<SeenPayin, 'id'>): Promise<string> {
  const [row] = await checkout.outcomes.query<{ day: string }>(
    "select to_char(created_at at time zone 'America/Bogota', 'YYYY-MM-DD') as day from caudal.payins where id = $1",
    [id],
  );
  return row?.day ?? '';
}

/** Business time goes on for us and not for the rail, which therefore never ends what is pending. */
async function timePasses(ms: number): Promise<void> {
  await stack.database.query('select caudal.shift_time(make_interval(secs => $1))', [ms / 1000]);
}

/** A PSE payin that expired an hour ago, of which the rail goes on saying that it is pending. */
async function stuck(): Promise<{ payin: SeenPayin; reference: string }> {
  const made = await checkout.outcomes.pse();
  await timePasses(120 * MINUTE);
  return made;
}

describe('payins find', () => {
  it('finds a payin of any organization by its id, reference, Bre-B key and day, and by its amount on a day', async () => {
    const other = await stack.newOrganization();
    const reference = newReference();
    const { payin, key } = await checkout.outcomes.breb({ reference, amountInCents: 7_123_456 });
    const day = await dayOf(payin);
    expect(await found('--id', payin.id)).toEqual([payin.id]);
    expect(await found('--reference', reference)).toEqual([payin.id]);
    expect(await found('--key', key)).toEqual([payin.id]);
    expect(await found('--amount', '71234.56', '--day', day)).toEqual([payin.id]);
    expect(await found('--amount', '71234.56', '--from', day, '--to', day)).toEqual([payin.id]);
    expect(await found('--day', day, '--org', stack.organization.organizationId)).toContain(payin.id);
    expect(await found('--reference', reference, '--org', other.organizationId)).toEqual([]);
    expect(await found('--amount', '71234.57', '--day', day)).toEqual([]);
    expect(await found('--id', payin.id, '--amount', '1')).toEqual([]);
  });

  it('finds a PSE payin by its CUS, by our reference at PSE and by the number of its payment', async () => {
    const { payin, reference } = await checkout.outcomes.pse();
    const transaction = await checkout.simulator.transaction(reference);
    expect(await found('--cus', transaction?.trazabilityCode ?? '')).toEqual([payin.id]);
    expect(await found('--transaction', reference)).toEqual([payin.id]);
    await checkout.simulator.endTransaction({ reference, state: 'OK' });
    await checkout.outcomes.reaches(payin.id, 'CONFIRMED');
    expect(await found('--transaction', transaction?.transactionId ?? '')).toEqual([payin.id]);
  });

  it('finds the attempts of a payment link by the reference of the link, newest first', async () => {
    const reference = newReference();
    const link = await checkout.link({ reference });
    const first = await checkout.pse(link);
    await checkout.simulator.endTransaction({ reference: first.reference, state: 'NOT_AUTHORIZED' });
    await checkout.outcomes.reaches(first.payin.id, 'DECLINED');
    const second = await checkout.breb(link);
    expect(await found('--reference', reference)).toEqual([second.payin.id, first.payin.id]);
  });

  it('finds the payins of a day after the clock of the database was set back by two hours', async () => {
    const { payin } = await checkout.outcomes.breb({ amountInCents: 9_000_001 });
    await checkout.outcomes.query(
      "update caudal.payins set created_at = created_at - interval '2 hours' where id = $1",
      [payin.id],
    );
    expect(await found('--amount', '90000.01', '--day', await dayOf(payin))).toEqual([payin.id]);
  });

  it.each([
    ['an amount without a day', ['--amount', '49800']],
    ['nothing', []],
    ['an organization alone', ['--org', '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10']],
    ['a day that does not exist', ['--day', '2026-02-30']],
    ['a span of more than 31 days', ['--from', '2026-01-01', '--to', '2026-02-15']],
    ['a span without its end', ['--from', '2026-01-01']],
    ['a day and a span', ['--day', '2026-01-01', '--from', '2026-01-01', '--to', '2026-01-02']],
    ['what is no id', ['--id', 'order-1001']],
  ])('refuses a search for %s', async (_what, args) => {
    expect((await payins('find', ...args)).code).toBe(2);
  });
});

describe('payins show', () => {
  it('tells state, history, rail status, anomalies, events with deliveries and what is due, with masked personal data', async () => {
    const sink = await WebhookSink.start();
    await stack.api.post('/webhook-endpoints', { url: sink.url('/hook'), events: ['payin.confirmed'] });
    const { payin, key } = await checkout.outcomes.breb({ inlineCustomer: CUSTOMER });
    const open = await json<Record<string, unknown>>('show', payin.id);
    expect(open).toMatchObject({
      id: payin.id,
      status: 'PROCESSING',
      brebKey: key,
      railReference: key,
      railStatus: { answered: true, state: 'open', payments: [] },
      nextWork: { task: 'ask' },
      history: [{ from: 'NONE', to: 'PROCESSING' }],
      anomalies: [],
      events: [],
    });
    await checkout.simulator.pay({ key }, { key, anyway: true });
    await checkout.outcomes.reaches(payin.id, 'CONFIRMED');
    await checkout.outcomes.quiet();
    const paid = await until('the event is delivered', async () => {
      const seen = await json<{ events: { deliveries: { status: string }[] }[] }>('show', payin.id);
      return seen.events[0]?.deliveries[0]?.status === 'DELIVERED' ? seen : null;
    });
    expect(paid).toMatchObject({
      status: 'CONFIRMED',
      railStatus: { answered: true, payments: [{ amountInCents: payin.amountInCents }, {}] },
      history: [{}, { from: 'PROCESSING', to: 'CONFIRMED' }],
      anomalies: [{ kind: 'paid_again' }],
      events: [{ event: 'payin.confirmed', deliveries: [{ status: 'DELIVERED', attempts: 1 }] }],
    });
    const text = (await payins('show', payin.id)).stdout + JSON.stringify(paid);
    for (const secret of [CUSTOMER.name, CUSTOMER.idNumber, CUSTOMER.phone, CUSTOMER.email])
      expect(text).not.toContain(secret);
    await sink.close();
  });

  it('says that the rail gives no answer, and shows the rest, while the rail is away', async () => {
    const { payin } = await checkout.outcomes.pse();
    await checkout.simulator.addFault({ rail: 'PSE', operation: 'query', fault: 'down' });
    expect(await json('show', payin.id)).toMatchObject({
      status: 'PROCESSING',
      railStatus: { answered: false },
    });
  });

  it('fails for an id that does not exist', async () => {
    expect((await payins('show', '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10')).code).toBe(1);
  });
});

describe('payins end', () => {
  it('ends a payin that its rail keeps pending: CANCELED with its event, its cause, author and reason', async () => {
    const { payin } = await stuck();
    const { code, stdout } = await end(payin.id);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { id: payin.id, status: 'CANCELED', decidedBy: 'operator' },
    ]);
    expect(await checkout.outcomes.get(payin.id)).toMatchObject({ status: 'CANCELED', errorCode: 'EXPIRED' });
    expect((await checkout.outcomes.events(payin.id)).map(({ event }) => event)).toEqual(['payin.canceled']);
    const shown = await json<{ history: { cause: string }[]; nextWork: unknown }>('show', payin.id);
    expect(shown.history.at(-1)?.cause).toBe('ended_by_operator');
    expect(shown.nextWork).toBeNull();
    const audit = await runOperatorCommand(stack.settings, 'audit', 'list');
    expect(audit.stdout).toMatch(new RegExp(`${payin.id}.*Laura.*PSE dice que no hubo pago`));
    expect(await end(payin.id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('CANCELED') as string,
    });
  });

  it('makes an anomaly of money that comes later', async () => {
    const { payin, reference } = await stuck();
    await end(payin.id);
    await checkout.simulator.endTransaction({ reference, state: 'OK', anyway: true });
    await until('the anomaly', async () => (await checkout.outcomes.anomalies(payin.id)).length > 0);
    expect(await checkout.outcomes.anomalies(payin.id)).toMatchObject([
      { kind: 'paid_late', cents: String(payin.amountInCents) },
    ]);
    expect((await checkout.outcomes.get(payin.id)).status).toBe('CANCELED');
  });

  it('ends a Bre-B payin whose key the network leaves open, and makes an anomaly of a later payment', async () => {
    const { payin, key } = await checkout.outcomes.breb();
    await checkout.simulator.addFault({ rail: 'BRE_B', operation: 'close', fault: 'down' });
    await timePasses(120 * MINUTE);
    const { code, stdout, stderr } = await end(payin.id);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'CANCELED', decidedBy: 'operator' });
    await checkout.simulator.pay({ key });
    await until('the anomaly', async () => (await checkout.outcomes.anomalies(payin.id)).length > 0);
    expect(await checkout.outcomes.anomalies(payin.id)).toMatchObject([{ kind: 'paid_late' }]);
  });

  it('closes the key of a Bre-B payin that it ended, as soon as the network answers the close', async () => {
    const { payin, key } = await checkout.outcomes.breb();
    await checkout.simulator.addFault({ rail: 'BRE_B', operation: 'close', fault: 'down' });
    await timePasses(120 * MINUTE);
    expect((await end(payin.id)).code).toBe(0);
    expect(await checkout.simulator.key(key)).toMatchObject({ closedAt: null });
    await checkout.simulator.clearFaults();
    await until('the key is closed', async () => {
      await timePasses(MINUTE);
      return (await checkout.simulator.key(key))?.status === 'CLOSED';
    });
    expect(await checkout.outcomes.get(payin.id)).toMatchObject({ status: 'CANCELED' });
  });

  it('ends a payin under which the rail lists only a payment that is booked for another payin', async () => {
    const [made, other] = [await checkout.outcomes.pse(), await checkout.outcomes.pse()];
    const transaction = await checkout.simulator.transaction(made.reference);
    await forgePsePayment(
      stack,
      other.reference,
      transaction?.transactionId ?? '',
      other.payin.amountInCents,
    );
    await checkout.outcomes.reaches(other.payin.id, 'CONFIRMED');
    await checkout.simulator.addFault({ rail: 'PSE', operation: 'notice', fault: 'lost-notice' });
    await checkout.simulator.endTransaction({ reference: made.reference, state: 'OK' });
    await timePasses(120 * MINUTE);
    await until(
      'it is an anomaly',
      async () => (await checkout.outcomes.anomalies(made.payin.id)).length > 0,
    );
    expect(await checkout.outcomes.get(made.payin.id)).toMatchObject({ status: 'PROCESSING' });
    const { code, stdout, stderr } = await end(made.payin.id);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'CANCELED', decidedBy: 'operator' });
    expect(await checkout.outcomes.transfers(made.payin.id)).toEqual([]);
  });

  it('refuses while the rail does not answer', async () => {
    const { payin } = await stuck();
    await checkout.simulator.addFault({ rail: 'PSE', operation: 'query', fault: 'down' });
    expect((await end(payin.id)).code).toBe(1);
    await checkout.simulator.clearFaults();
    expect((await checkout.outcomes.get(payin.id)).status).toBe('PROCESSING');
  });

  it('refuses when the rail lists a payment that no notification told of, and confirms the payin', async () => {
    const { payin, reference } = await checkout.outcomes.pse();
    await checkout.simulator.addFault({ rail: 'PSE', operation: 'notice', fault: 'lost-notice' });
    await timePasses(120 * MINUTE);
    await checkout.outcomes.quiet();
    await checkout.simulator.endTransaction({ reference, state: 'OK', anyway: true });
    const refused = await end(payin.id);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/payment|CONFIRMED/) as string });
    await checkout.outcomes.reaches(payin.id, 'CONFIRMED');
  });

  it('refuses before the payin has expired, and within the processing time of the rail after it', async () => {
    const { payin } = await checkout.outcomes.pse();
    expect(await end(payin.id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('seconds') as string,
    });
    const expires = Date.parse((await json<{ expiresAt: string }>('show', payin.id)).expiresAt);
    const [row] = await checkout.outcomes.query<{ now: Date }>('select caudal.now() as now');
    await timePasses(expires - (row?.now.getTime() ?? 0) + 20_000);
    expect((await end(payin.id)).code).toBe(1);
    await timePasses(2 * MINUTE);
    expect((await end(payin.id)).code).toBe(0);
  });

  it('frees the payment link of the attempt', async () => {
    const link = await checkout.link();
    const { payin } = await checkout.pse(link);
    await timePasses(120 * MINUTE);
    expect((await end(payin.id)).code).toBe(0);
    // Its time is over by now, so that the free link expires.
    await checkout.reaches(link, 'EXPIRED');
    await checkout.allIsWell();
  });

  it('is refused without a reason', async () => {
    expect((await payins('end', '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10', '--by', 'Laura')).code).toBe(2);
  });
});
