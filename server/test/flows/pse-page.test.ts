import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, ApiClient } from '../harness/api-client.ts';
import { CUSTOMER, newReference, psePayin, without } from '../harness/payin-requests.ts';
import { pseReferenceOf } from '../harness/pse-reference.ts';
import { readMetric } from '../harness/read-metric.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let simulator: SimulatorControl;
let apis: ApiClient[];
beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 2 });
  simulator = new SimulatorControl(stack.simulatorUrl);
  apis = stack.apis.map((api) => stack.api.at(api.url));
});
afterAll(() => stack?.stop());
afterEach(() => simulator.clearFaults());

interface PsePayin {
  readonly id: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly resultAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly sourceData: { readonly pseUrl: string | null; readonly bank: string };
}

type Created = Answer<PsePayin> & { readonly tookMs: number };

async function create(
  body: Record<string, unknown> = psePayin(),
  options: { api?: number; key?: string } = {},
): Promise<Created> {
  const start = performance.now();
  const headers = options.key === undefined ? {} : { 'idempotency-key': options.key };
  const answer = await apis[options.api ?? 0]?.post<PsePayin>('/payins', body, headers);
  if (answer?.status !== 201) throw new Error(`not created: ${answer?.text}`);
  return { ...answer, tookMs: performance.now() - start };
}

async function read(id: string, api = 0): Promise<PsePayin> {
  const answer = await apis[api]?.get<PsePayin & { anomalies: unknown }>(`/payins/${id}`);
  if (answer?.status !== 200) throw new Error(`not read: ${answer?.text}`);
  const { anomalies: _, ...payin } = answer.body;
  return payin;
}

const inStatus = (id: string, status: string, withinMs = 8000) =>
  until(
    `the payin is ${status}`,
    async () => {
      const payin = await read(id);
      return payin.status === status && payin;
    },
    withinMs,
  );

const history = (id: string) =>
  stack.database.query<{ from_status: string; to_status: string; cause: string }>(
    `select from_status, to_status, cause from caudal.payin_history where payin_id = $1
     order by at, from_status <> 'NONE'`,
    [id],
  );

const transactionOf = async (id: string) => simulator.transaction(await pseReferenceOf(stack.database, id));
const transactions = async () => (await simulator.stats()).transactions;
const createCalls = async () => (await simulator.stats()).calls.PSE['create'] ?? 0;

const WITHOUT_PAGE = { status: 'PENDING', errorCode: null, resultAt: null, sourceData: { pseUrl: null } };

describe('when PSE answers at once', () => {
  it.each([0, 1])('API %i answers PROCESSING with the address of the bank page', async (api) => {
    const before = await transactions();
    const { body } = await create(psePayin(), { api });
    expect(body).toMatchObject({ status: 'PROCESSING', errorCode: null, resultAt: null });
    const page = await fetch(body.sourceData.pseUrl ?? '');
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('49.800,00');
    expect(await transactions()).toBe(before + 1);
    expect(await read(body.id, 1 - api)).toEqual(body);
    expect(await history(body.id)).toEqual([
      { from_status: 'NONE', to_status: 'PENDING', cause: 'created' },
      { from_status: 'PENDING', to_status: 'PROCESSING', cause: 'bank_page_known' },
    ]);
  });

  it('PSE is told the order under a reference of ours, with our own page to return to', async () => {
    const reference = newReference();
    const pse = { bank: 'CO_DAVIPLATA', personType: 'BUSINESS' };
    const callbackUrl = 'https://shop.example.com/thanks';
    const { body } = await create(psePayin({ reference, pse, callbackUrl, amountInCents: 150_001 }));
    const transaction = await transactionOf(body.id);
    expect(transaction).toMatchObject({
      bankCode: '1551',
      personType: 1,
      amount: '1500.01',
      expiresAt: body.expiresAt,
      description: reference,
      payer: { documentType: 'CC', documentNumber: CUSTOMER.idNumber, email: CUSTOMER.email },
    });
    expect(transaction?.bankUrl).toBe(body.sourceData.pseUrl);
    expect(transaction?.reference).toMatch(/^[0-9A-Z]{1,32}$/);
    expect(transaction?.returnUrl).toMatch(
      new RegExp(`^${stack.settings['CAUDAL_CHECKOUT_URL']}/p/[\\w-]{40,}$`),
    );
    expect(transaction?.returnUrl.length).toBeLessThanOrEqual(255);
    const [row] = await stack.database.query(
      `select pse_transaction_id, pse_cus, lease_token, rail_task, rail_due_at - created_at = interval '7 minutes' as in_seven_minutes
       from caudal.payins where id = $1`,
      [body.id],
    );
    expect(row).toEqual({
      pse_transaction_id: transaction?.transactionId,
      pse_cus: transaction?.trazabilityCode,
      lease_token: null,
      rail_task: 'ask',
      in_seven_minutes: true,
    });
  });

  it('a reference of 255 characters does not keep PSE from taking the order', async () => {
    const { body } = await create(psePayin({ reference: `${newReference()}-`.padEnd(255, 'ñ') }));
    expect(body.status).toBe('PROCESSING');
  });

  it('nothing is asked of PSE for a payin whose payer is not known: our page stands in for the bank', async () => {
    const before = await createCalls();
    const { body } = await create(without(psePayin(), 'inlineCustomer'));
    expect(body.status).toBe('PENDING');
    expect(body.sourceData.pseUrl).toMatch(new RegExp(`^${stack.settings['CAUDAL_CHECKOUT_URL']}/p/`));
    // Another payin goes the whole way meanwhile, so a worker had its chance to take the first one by mistake.
    await create();
    expect(await createCalls()).toBe(before + 1);
    expect(await transactionOf(body.id)).toBeNull();
  });
});

describe('when PSE refuses', () => {
  it.each([
    ['an amount of 100 cents', { amountInCents: 100 }, 'LIMIT_EXCEEDED'],
    ['more than it carries', { amountInCents: 999_999_999_999 }, 'LIMIT_EXCEEDED'],
    ['a bank that is down', { inlineCustomer: { ...CUSTOMER, idNumber: '1000000021' } }, 'BANK_UNAVAILABLE'],
  ])('%s: the creation answers PENDING and the payin is DECLINED', async (_what, changes, errorCode) => {
    const key = newReference();
    const request = psePayin(changes);
    const { body } = await create(request, { key });
    expect(body).toMatchObject(WITHOUT_PAGE);
    const declined = await inStatus(body.id, 'DECLINED');
    expect(declined).toMatchObject({ errorCode, sourceData: { pseUrl: null } });
    expect(declined.resultAt).toBe(declined.updatedAt);
    expect(Date.parse(declined.resultAt ?? '')).toBeGreaterThanOrEqual(Date.parse(body.createdAt));
    expect(await history(body.id)).toEqual([
      { from_status: 'NONE', to_status: 'PENDING', cause: 'created' },
      { from_status: 'PENDING', to_status: 'DECLINED', cause: 'order_refused' },
    ]);
    const repeat = await create(request, { key, api: 1 });
    expect(repeat.body, 'a repeat shows the creation, never a later state').toEqual(body);
    expect(repeat.headers.get('idempotent-replayed')).toBe('true');
  });
});

describe('when PSE is slow', () => {
  it('the creation and its repeat answer PENDING after three seconds, and the same call still brings the page', async () => {
    const [transactionsBefore, callsBefore] = [await transactions(), await createCalls()];
    const slow = await simulator.addFault({
      rail: 'PSE',
      operation: 'create',
      fault: 'slow',
      ms: 3600,
      times: 1,
    });
    const request = psePayin();
    const key = newReference();
    const first = create(request, { key });
    await until('PSE is thinking', async () => (await simulator.struck(slow)) === 1);
    const [created, repeat] = await Promise.all([first, create(request, { key, api: 1 })]);
    for (const { body, tookMs } of [created, repeat]) {
      expect(body).toMatchObject(WITHOUT_PAGE);
      expect(tookMs).toBeGreaterThan(2800);
      expect(tookMs).toBeLessThan(4500);
    }
    expect(repeat.body).toEqual(created.body);
    const paid = await inStatus(created.body.id, 'PROCESSING');
    expect((await fetch(paid.sourceData.pseUrl ?? '')).status).toBe(200);
    expect(await createCalls()).toBe(callsBefore + 1);
    expect(await transactions()).toBe(transactionsBefore + 1);
    const late = await create(request, { key });
    expect(late.body, 'a later repeat has the page').toEqual(paid);
  });

  it('repeats at any API join the wait, and all get the same body', async () => {
    const callsBefore = await createCalls();
    const slow = await simulator.addFault({
      rail: 'PSE',
      operation: 'create',
      fault: 'slow',
      ms: 1200,
      times: 1,
    });
    const request = psePayin();
    const key = newReference();
    const first = create(request, { key });
    await until('PSE is thinking', async () => (await simulator.struck(slow)) === 1);
    const [created, elsewhere, here] = await Promise.all([
      first,
      create(request, { key, api: 1 }),
      create(request, { key }),
    ]);
    expect(created.body.status).toBe('PROCESSING');
    expect(created.body.sourceData.pseUrl).toMatch(/^http/);
    expect(elsewhere.body).toEqual(created.body);
    expect(here.body).toEqual(created.body);
    expect(created.headers.get('idempotent-replayed')).toBeNull();
    expect(elsewhere.headers.get('idempotent-replayed')).toBe('true');
    expect(here.headers.get('idempotent-replayed')).toBe('true');
    expect(await createCalls()).toBe(callsBefore + 1);
  });

  it('equal requests in the same instant create one transaction and get one body', async () => {
    const [transactionsBefore, callsBefore] = [await transactions(), await createCalls()];
    const request = psePayin();
    const key = newReference();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => create(request, { key, api: index % 2 })),
    );
    for (const { body } of answers) expect(body).toEqual(answers[0]?.body);
    expect(answers[0]?.body.status).toBe('PROCESSING');
    expect(await createCalls()).toBe(callsBefore + 1);
    expect(await transactions()).toBe(transactionsBefore + 1);
  });
});

describe('a repeat after the page is known', () => {
  it.each([
    ['CONFIRMED', "confirmed_amount_in_cents = amount_in_cents, settlement_status = 'PENDING_SETTLEMENT'"],
    ['DECLINED', "error_code = 'INSUFFICIENT_FUNDS'"],
    ['CANCELED', "error_code = 'PAYER_CANCELED'"],
  ])('renders PROCESSING with the page even when the payin is %s by now', async (status, also) => {
    const request = psePayin();
    const key = newReference();
    const { body } = await create(request, { key });
    expect(body.status).toBe('PROCESSING');
    await stack.database.query(
      `update caudal.payins set status = $2, result_at = caudal.now(), updated_at = caudal.now() + interval '1 second', ${also}
       where id = $1`,
      [body.id, status],
    );
    expect((await read(body.id)).status).toBe(status);
    for (const api of [0, 1]) expect((await create(request, { key, api })).body).toEqual(body);
  });
});

describe('when something is lost on the way', () => {
  it('an answer: the page comes all the same, and PSE has one transaction', async () => {
    const before = await transactions();
    await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'lost-answer', times: 1 });
    const { body, tookMs } = await create();
    expect(body).toMatchObject(WITHOUT_PAGE);
    expect(tookMs).toBeLessThan(2500);
    const paid = await inStatus(body.id, 'PROCESSING');
    expect(paid.sourceData.pseUrl).toBe((await transactionOf(body.id))?.bankUrl);
    expect(await transactions()).toBe(before + 1);
  });

  it('the claim: a late result of the process that slept changes nothing, and a worker brings the page', async () => {
    const before = await transactions();
    const slow = await simulator.addFault({
      rail: 'PSE',
      operation: 'create',
      fault: 'slow',
      ms: 1000,
      times: 1,
    });
    const request = psePayin();
    const creating = create(request);
    await until('PSE is thinking', async () => (await simulator.struck(slow)) === 1);
    const takeOver = `update caudal.payins set lease_token = gen_random_uuid(), leased_until = clock_timestamp() + interval '1 hour'
      where reference = $1 returning id`;
    await stack.database.query(takeOver, [request['reference']]);
    const { body } = await creating;
    expect(body).toMatchObject(WITHOUT_PAGE);
    expect((await read(body.id)).status).toBe('PENDING');
    expect(await transactions()).toBe(before + 1);

    await stack.database.query('update caudal.payins set leased_until = clock_timestamp() where id = $1', [
      body.id,
    ]);
    const paid = await inStatus(body.id, 'PROCESSING');
    expect(paid.sourceData.pseUrl).toBe((await transactionOf(body.id))?.bankUrl);
    expect(await transactions()).toBe(before + 1);
  });

  it('the API itself: a worker goes on when its claim has ended', async () => {
    const hang = await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'hang', times: 1 });
    const request = psePayin();
    const broken = create(request, { api: 1 }).catch((error: unknown) => error);
    await until('PSE hangs', async () => (await simulator.struck(hang)) === 1);
    stack.apis[1]?.kill('SIGKILL');
    await stack.apis[1]?.exited;
    expect(await broken).toBeInstanceOf(Error);
    const [row] = await stack.database.query<{ id: string }>(
      'update caudal.payins set leased_until = clock_timestamp() where reference = $1 returning id',
      [request['reference']],
    );
    if (!row) throw new Error('the payin was not committed before PSE was asked');
    const paid = await inStatus(row.id, 'PROCESSING');
    expect(paid.sourceData.pseUrl).toBe((await transactionOf(row.id))?.bankUrl);
  });
});

// API 1 is dead by now.
describe('a payin that expired while PSE was away', () => {
  it('is not opened any more, and ends as EXPIRED once nothing can be under way', async () => {
    const down = await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'down' });
    const { body } = await create();
    await stack.database.query(
      "update caudal.payins set expires_at = caudal.now() - interval '1 second' where id = $1",
      [body.id],
    );
    await simulator.removeFault(down);
    await until('PSE was asked how it stands', async () => {
      const [row] = await stack.database.query<{ asked: boolean }>(
        "select rail_task = 'ask' and rail_due_at > caudal.now() + interval '4 minutes' as asked from caudal.payins where id = $1",
        [body.id],
      );
      return row?.asked;
    });
    expect((await read(body.id)).status).toBe('PENDING');
    // "Not found" is no last word while an order could still be on its way: five minutes later it is.
    await stack.shiftTime(6 * 60_000);
    expect(await inStatus(body.id, 'CANCELED')).toMatchObject({ errorCode: 'EXPIRED' });
    expect(await transactionOf(body.id)).toBeNull();
  });
});

describe('when PSE is away', () => {
  const circuitOpen = async (process: { opsUrl: string }) =>
    (await readMetric(process, 'caudal_rail_circuit_open')) === 1;

  it('creations answer PENDING quickly, and after repeated failures none waits for it', async () => {
    const [api] = stack.apis;
    if (!api) throw new Error('no API');
    const down = await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'down' });
    for (let failures = 0; failures < 5; failures += 1) {
      const { body, tookMs } = await create();
      expect(body).toMatchObject(WITHOUT_PAGE);
      expect(tookMs).toBeLessThan(1500);
    }
    expect(await circuitOpen(api)).toBe(true);
    // From here on a call that is made hangs: who answers quickly has made none.
    await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'hang' });
    await simulator.removeFault(down);
    const held = await Promise.all(Array.from({ length: 5 }, () => create()));
    for (const { body } of held) expect(body).toMatchObject(WITHOUT_PAGE);
    // One of them may be the probe that looks whether PSE is back.
    expect(held.filter(({ tookMs }) => tookMs < 1500).length).toBeGreaterThanOrEqual(4);
  });

  it('workers whose own circuit opened bring all the pages after it is back', async () => {
    await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'down' });
    const created = await Promise.all(Array.from({ length: 12 }, () => create()));
    await until('both workers have given up for now', async () => {
      const open = await Promise.all(stack.workers.map(circuitOpen));
      return open.every(Boolean);
    });
    for (const { body } of created) expect(await read(body.id)).toMatchObject(WITHOUT_PAGE);
    await simulator.clearFaults();
    for (const { body } of created) {
      const { sourceData } = await inStatus(body.id, 'PROCESSING', 12_000);
      expect(sourceData.pseUrl).toBe((await transactionOf(body.id))?.bankUrl);
    }
    await until('nothing is due any more', async () => {
      const [due] = await stack.database.query<{ count: number }>(
        `select count(*)::int from caudal.payins where rail_task = 'open'`,
      );
      return due?.count === 0;
    });
  });
});
