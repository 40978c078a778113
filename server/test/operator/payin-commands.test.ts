import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutDriver } from '../harness/checkout-driver.ts';
import { forgePsePayment } from '../harness/forged-notice.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import type { PayinView } from '../harness/payin-driver.ts';
import { CUSTOMER, newReference } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { WebhookSink } from '../harness/webhook-sink.ts';

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
  await checkout.checkLedger();
});

const payins = (...args: readonly string[]) => runOperatorCommand(stack.settings, 'payins', ...args);
const endPayin = (id: string) =>
  payins('end', id, '--by', 'Laura', '--reason', 'PSE dice que no hubo pago', '--json');

async function runJson<T>(...args: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await payins(...args, '--json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as T;
}

async function findIds(...args: readonly string[]): Promise<string[]> {
  return (await runJson<{ id: string }[]>('find', ...args)).map(({ id }) => id);
}

/** The day in Colombia on which a payin was created. */
async function readCreationDay({ id }: Pick<PayinView, 'id'>): Promise<string> {
  const [row] = await checkout.outcomes.query<{ day: string }>(
    "select to_char(created_at at time zone 'America/Bogota', 'YYYY-MM-DD') as day from caudal.payins where id = $1",
    [id],
  );
  return row?.day ?? '';
}

/** Advances our business time only, so that the rail never ends a pending payment. */
async function shiftOurTime(ms: number): Promise<void> {
  await stack.database.query('select caudal.shift_time(make_interval(secs => $1))', [ms / 1000]);
}

/** A PSE payin that expired an hour ago and that the rail still reports as pending. */
async function createStuck(): Promise<{ payin: PayinView; reference: string }> {
  const created = await checkout.outcomes.pse();
  await shiftOurTime(120 * MINUTE);
  return created;
}

describe('payins find', () => {
  it('finds a payin of any organization by ID, reference, Bre-B key, and by amount on a day', async () => {
    const other = await stack.newOrganization();
    const reference = newReference();
    const { payin, key } = await checkout.outcomes.breb({ reference, amountInCents: 7_123_456 });
    const day = await readCreationDay(payin);
    expect(await findIds('--id', payin.id)).toEqual([payin.id]);
    expect(await findIds('--reference', reference)).toEqual([payin.id]);
    expect(await findIds('--key', key)).toEqual([payin.id]);
    expect(await findIds('--amount', '71234.56', '--day', day)).toEqual([payin.id]);
    expect(await findIds('--amount', '71234.56', '--from', day, '--to', day)).toEqual([payin.id]);
    expect(await findIds('--day', day, '--org', stack.organization.organizationId)).toContain(payin.id);
    expect(await findIds('--reference', reference, '--org', other.organizationId)).toEqual([]);
    expect(await findIds('--amount', '71234.57', '--day', day)).toEqual([]);
    expect(await findIds('--id', payin.id, '--amount', '1')).toEqual([]);
  });

  it('finds a PSE payin by CUS, by our reference at PSE and by its transaction ID', async () => {
    const { payin, reference } = await checkout.outcomes.pse();
    const transaction = await checkout.simulator.transaction(reference);
    expect(await findIds('--cus', transaction?.trazabilityCode ?? '')).toEqual([payin.id]);
    expect(await findIds('--transaction', reference)).toEqual([payin.id]);
    await checkout.simulator.endTransaction({ reference, state: 'OK' });
    await checkout.outcomes.waitForStatus(payin.id, 'CONFIRMED');
    expect(await findIds('--transaction', transaction?.transactionId ?? '')).toEqual([payin.id]);
  });

  it("finds the attempts of a payment link by the link's reference, newest first", async () => {
    const reference = newReference();
    const link = await checkout.link({ reference });
    const first = await checkout.pse(link);
    await checkout.simulator.endTransaction({ reference: first.reference, state: 'NOT_AUTHORIZED' });
    await checkout.outcomes.waitForStatus(first.payin.id, 'DECLINED');
    const second = await checkout.breb(link);
    expect(await findIds('--reference', reference)).toEqual([second.payin.id, first.payin.id]);
  });

  it('finds the payins of a day after the database clock was set back by two hours', async () => {
    const { payin } = await checkout.outcomes.breb({ amountInCents: 9_000_001 });
    await checkout.outcomes.query(
      "update caudal.payins set created_at = created_at - interval '2 hours' where id = $1",
      [payin.id],
    );
    expect(await findIds('--amount', '90000.01', '--day', await readCreationDay(payin))).toEqual([payin.id]);
  });

  it.each([
    ['an amount without a day', ['--amount', '49800']],
    ['nothing', []],
    ['an organization alone', ['--org', '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10']],
    ['a nonexistent day', ['--day', '2026-02-30']],
    ['a span of more than 31 days', ['--from', '2026-01-01', '--to', '2026-02-15']],
    ['a span without its end', ['--from', '2026-01-01']],
    ['a day and a span', ['--day', '2026-01-01', '--from', '2026-01-01', '--to', '2026-01-02']],
    ['an invalid ID', ['--id', 'order-1001']],
  ])('rejects a search for %s', async (_what, args) => {
    expect((await payins('find', ...args)).code).toBe(2);
  });
});

describe('payins show', () => {
  it('prints status, history, rail status, anomalies, events with deliveries and due work, with masked personal data', async () => {
    const sink = await WebhookSink.start();
    await stack.api.post('/webhook-endpoints', { url: sink.url('/hook'), events: ['payin.confirmed'] });
    const { payin, key } = await checkout.outcomes.breb({ inlineCustomer: CUSTOMER });
    const open = await until('the server has stored the registration of the key', async () => {
      const details = await runJson<{ nextWork: { task: string } | null }>('show', payin.id);
      return details.nextWork?.task === 'poll' && details;
    });
    expect(open).toMatchObject({
      id: payin.id,
      status: 'PROCESSING',
      brebKey: key,
      railReference: key,
      railStatus: { answered: true, state: 'open', payments: [] },
      nextWork: { task: 'poll' },
      history: [{ from: 'NONE', to: 'PROCESSING' }],
      anomalies: [],
      events: [],
    });
    await checkout.simulator.pay({ key }, { key, anyway: true });
    await checkout.outcomes.waitForStatus(payin.id, 'CONFIRMED');
    await checkout.outcomes.waitUntilIdle();
    const paid = await until('the event is delivered', async () => {
      const details = await runJson<{ events: { deliveries: { status: string }[] }[] }>('show', payin.id);
      return details.events[0]?.deliveries[0]?.status === 'DELIVERED' ? details : null;
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

  it('reports that the rail does not answer, and prints the rest, during an outage', async () => {
    const { payin } = await checkout.outcomes.pse();
    await checkout.simulator.addFault({ rail: 'PSE', operation: 'query', fault: 'down' });
    expect(await runJson('show', payin.id)).toMatchObject({
      status: 'PROCESSING',
      railStatus: { answered: false },
    });
  });

  it('fails for an unknown ID', async () => {
    expect((await payins('show', '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10')).code).toBe(1);
  });
});

describe('payins end', () => {
  it('ends a payin that its rail keeps pending: CANCELED with event, cause, author and reason', async () => {
    const { payin } = await createStuck();
    const { code, stdout } = await endPayin(payin.id);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { id: payin.id, status: 'CANCELED', decidedBy: 'operator' },
    ]);
    expect(await checkout.outcomes.get(payin.id)).toMatchObject({ status: 'CANCELED', errorCode: 'EXPIRED' });
    expect((await checkout.outcomes.events(payin.id)).map(({ event }) => event)).toEqual(['payin.canceled']);
    const shown = await runJson<{ history: { cause: string }[]; nextWork: unknown }>('show', payin.id);
    expect(shown.history.at(-1)?.cause).toBe('ended_by_operator');
    expect(shown.nextWork).toBeNull();
    const audit = await runOperatorCommand(stack.settings, 'audit', 'list');
    expect(audit.stdout).toMatch(new RegExp(`${payin.id}.*Laura.*PSE dice que no hubo pago`));
    expect(await endPayin(payin.id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('CANCELED') as string,
    });
  });

  it('raises an anomaly for a later payment', async () => {
    const { payin, reference } = await createStuck();
    await endPayin(payin.id);
    await checkout.simulator.endTransaction({ reference, state: 'OK', anyway: true });
    await until(
      'the anomaly is recorded',
      async () => (await checkout.outcomes.anomalies(payin.id)).length > 0,
    );
    expect(await checkout.outcomes.anomalies(payin.id)).toMatchObject([
      { kind: 'paid_late', cents: String(payin.amountInCents) },
    ]);
    expect((await checkout.outcomes.get(payin.id)).status).toBe('CANCELED');
  });

  it('ends a Bre-B payin whose key cannot be closed, and raises an anomaly for a later payment', async () => {
    const { payin, key } = await checkout.outcomes.breb();
    await checkout.simulator.addFault({ rail: 'BRE_B', operation: 'close', fault: 'down' });
    await shiftOurTime(120 * MINUTE);
    const { code, stdout, stderr } = await endPayin(payin.id);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'CANCELED', decidedBy: 'operator' });
    await checkout.simulator.pay({ key });
    await until(
      'the anomaly is recorded',
      async () => (await checkout.outcomes.anomalies(payin.id)).length > 0,
    );
    expect(await checkout.outcomes.anomalies(payin.id)).toMatchObject([{ kind: 'paid_late' }]);
  });

  it('closes the key of an ended Bre-B payin as soon as the rail answers', async () => {
    const { payin, key } = await checkout.outcomes.breb();
    await checkout.simulator.addFault({ rail: 'BRE_B', operation: 'close', fault: 'down' });
    await shiftOurTime(120 * MINUTE);
    expect((await endPayin(payin.id)).code).toBe(0);
    expect(await checkout.simulator.key(key)).toMatchObject({ closedAt: null });
    await checkout.simulator.clearFaults();
    await until('the key is closed', async () => {
      await shiftOurTime(MINUTE);
      return (await checkout.simulator.key(key))?.status === 'CLOSED';
    });
    expect(await checkout.outcomes.get(payin.id)).toMatchObject({ status: 'CANCELED' });
  });

  it('ends a payin for which the rail lists only a payment posted for another payin', async () => {
    const [created, other] = [await checkout.outcomes.pse(), await checkout.outcomes.pse()];
    const transaction = await checkout.simulator.transaction(created.reference);
    await forgePsePayment(
      stack,
      other.reference,
      transaction?.transactionId ?? '',
      other.payin.amountInCents,
    );
    await checkout.outcomes.waitForStatus(other.payin.id, 'CONFIRMED');
    await checkout.simulator.addFault({ rail: 'PSE', operation: 'notice', fault: 'lost-notice' });
    await checkout.simulator.endTransaction({ reference: created.reference, state: 'OK' });
    await shiftOurTime(120 * MINUTE);
    await until(
      'the anomaly is recorded',
      async () => (await checkout.outcomes.anomalies(created.payin.id)).length > 0,
    );
    expect(await checkout.outcomes.get(created.payin.id)).toMatchObject({ status: 'PROCESSING' });
    const { code, stdout, stderr } = await endPayin(created.payin.id);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'CANCELED', decidedBy: 'operator' });
    expect(await checkout.outcomes.transfers(created.payin.id)).toEqual([]);
  });

  it('is rejected while the rail does not answer', async () => {
    const { payin } = await createStuck();
    await checkout.simulator.addFault({ rail: 'PSE', operation: 'query', fault: 'down' });
    expect((await endPayin(payin.id)).code).toBe(1);
    await checkout.simulator.clearFaults();
    expect((await checkout.outcomes.get(payin.id)).status).toBe('PROCESSING');
  });

  it('is rejected when the rail lists a payment without notification, which confirms the payin', async () => {
    const { payin, reference } = await checkout.outcomes.pse();
    await checkout.simulator.addFault({ rail: 'PSE', operation: 'notice', fault: 'lost-notice' });
    await shiftOurTime(120 * MINUTE);
    await checkout.outcomes.waitUntilIdle();
    await checkout.simulator.endTransaction({ reference, state: 'OK', anyway: true });
    const rejected = await endPayin(payin.id);
    expect(rejected).toMatchObject({ code: 1, stderr: expect.stringMatching(/payment|CONFIRMED/) as string });
    await checkout.outcomes.waitForStatus(payin.id, 'CONFIRMED');
  });

  it("is rejected before expiry and within the rail's processing time afterwards", async () => {
    const { payin } = await checkout.outcomes.pse();
    expect(await endPayin(payin.id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('seconds') as string,
    });
    const expires = Date.parse((await runJson<{ expiresAt: string }>('show', payin.id)).expiresAt);
    const [row] = await checkout.outcomes.query<{ now: Date }>('select caudal.now() as now');
    await shiftOurTime(expires - (row?.now.getTime() ?? 0) + 1000);
    expect((await endPayin(payin.id)).code).toBe(1);
    await shiftOurTime(2 * MINUTE);
    expect((await endPayin(payin.id)).code).toBe(0);
  });

  it('releases the payment link of the attempt', async () => {
    const link = await checkout.link();
    const { payin } = await checkout.pse(link);
    await shiftOurTime(120 * MINUTE);
    expect((await endPayin(payin.id)).code).toBe(0);
    // The link has expired by now, so the released link becomes EXPIRED.
    await checkout.waitForStatus(link, 'EXPIRED');
    await checkout.checkInvariants();
  });

  it('is rejected without a reason', async () => {
    expect((await payins('end', '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10', '--by', 'Laura')).code).toBe(2);
  });
});
