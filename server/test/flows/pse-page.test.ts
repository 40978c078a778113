import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
import { expectWithin, stopwatch, within } from '../../../scripts/testing/expect-within.ts';
import type { ApiClient, ApiResponse } from '../harness/api-client.ts';
import { CUSTOMER, newReference, psePayin, without } from '../harness/payin-requests.ts';
import { readPseReference } from '../harness/pse-reference.ts';
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

type Created = ApiResponse<PsePayin> & { readonly tookMs: number };

async function create(
  body: Record<string, unknown> = psePayin(),
  options: { api?: number; key?: string } = {},
): Promise<Created> {
  const elapsedMs = stopwatch();
  const headers = options.key === undefined ? {} : { 'idempotency-key': options.key };
  const answer = await apis[options.api ?? 0]?.post<PsePayin>('/payins', body, headers);
  if (answer?.status !== 201) throw new Error(`not created: ${answer?.text}`);
  return { ...answer, tookMs: elapsedMs() };
}

async function read(id: string, api = 0): Promise<PsePayin> {
  const answer = await apis[api]?.get<PsePayin & { anomalies: unknown }>(`/payins/${id}`);
  if (answer?.status !== 200) throw new Error(`not read: ${answer?.text}`);
  const { anomalies: _, ...payin } = answer.body;
  return payin;
}

const waitForStatus = (id: string, status: string, limitMs = 8000) =>
  within(`the change to ${status}`, limitMs, () =>
    until(`the payin is ${status}`, async () => {
      const payin = await read(id);
      return payin.status === status && payin;
    }),
  );

const readHistory = (id: string) =>
  stack.database.query<{ from_status: string; to_status: string; cause: string }>(
    `select from_status, to_status, cause from caudal.payin_history where payin_id = $1
     order by at, from_status <> 'NONE'`,
    [id],
  );

const findTransaction = async (id: string) =>
  simulator.transaction(await readPseReference(stack.database, id));
const countTransactions = async () => (await simulator.stats()).transactions;
const countCreateCalls = async () => (await simulator.stats()).calls.PSE['create'] ?? 0;

const WITHOUT_PAGE = { status: 'PENDING', errorCode: null, resultAt: null, sourceData: { pseUrl: null } };

describe('when PSE answers immediately', () => {
  it.each([0, 1])('API %i returns PROCESSING with the bank page URL', async (api) => {
    const before = await countTransactions();
    const { body } = await create(psePayin(), { api });
    expect(body).toMatchObject({ status: 'PROCESSING', errorCode: null, resultAt: null });
    const page = await fetch(body.sourceData.pseUrl ?? '');
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('49.800,00');
    expect(await countTransactions()).toBe(before + 1);
    expect(await read(body.id, 1 - api)).toEqual(body);
    expect(await readHistory(body.id)).toEqual([
      { from_status: 'NONE', to_status: 'PENDING', cause: 'created' },
      { from_status: 'PENDING', to_status: 'PROCESSING', cause: 'bank_page_known' },
    ]);
  });

  it('PSE receives our own reference and our return page', async () => {
    const reference = newReference();
    const pse = { bank: 'CO_DAVIPLATA', personType: 'BUSINESS' };
    const callbackUrl = 'https://shop.example.com/thanks';
    const { body } = await create(psePayin({ reference, pse, callbackUrl, amountInCents: 150_001 }));
    const transaction = await findTransaction(body.id);
    expect(transaction).toMatchObject({
      bankCode: '1551',
      personType: 1,
      amount: '1500.01',
      expiresAt: body.expiresAt,
      description: `Tienda Aurora: ${reference}`,
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
      rail_task: 'poll',
      in_seven_minutes: true,
    });
  });

  it('PSE accepts the order for a reference of 255 characters', async () => {
    const { body } = await create(psePayin({ reference: `${newReference()}-`.padEnd(255, 'ñ') }));
    expect(body.status).toBe('PROCESSING');
  });

  it('PSE is not called for a payin without a payer: pseUrl is our own page', async () => {
    const before = await countCreateCalls();
    const { body } = await create(without(psePayin(), 'inlineCustomer'));
    expect(body.status).toBe('PENDING');
    expect(body.sourceData.pseUrl).toMatch(new RegExp(`^${stack.settings['CAUDAL_CHECKOUT_URL']}/p/`));
    // Another payin completes meanwhile, so that a worker could have taken the first one by mistake.
    await create();
    expect(await countCreateCalls()).toBe(before + 1);
    expect(await findTransaction(body.id)).toBeNull();
  });
});

describe('when PSE rejects', () => {
  it.each([
    ['an amount of 100 cents', { amountInCents: 100 }, 'LIMIT_EXCEEDED'],
    ['an amount above its limit', { amountInCents: 999_999_999_999 }, 'LIMIT_EXCEEDED'],
    ['a bank that is down', { inlineCustomer: { ...CUSTOMER, idNumber: '1000000021' } }, 'BANK_UNAVAILABLE'],
  ])('%s: the creation returns PENDING and the payin is DECLINED', async (_what, changes, errorCode) => {
    const key = newReference();
    const request = psePayin(changes);
    const { body } = await create(request, { key });
    expect(body).toMatchObject(WITHOUT_PAGE);
    const declined = await waitForStatus(body.id, 'DECLINED');
    expect(declined).toMatchObject({ errorCode, sourceData: { pseUrl: null } });
    expect(declined.resultAt).toBe(declined.updatedAt);
    expect(Date.parse(declined.resultAt ?? '')).toBeGreaterThanOrEqual(Date.parse(body.createdAt));
    expect(await readHistory(body.id)).toEqual([
      { from_status: 'NONE', to_status: 'PENDING', cause: 'created' },
      { from_status: 'PENDING', to_status: 'DECLINED', cause: 'order_refused' },
    ]);
    const repeat = await create(request, { key, api: 1 });
    expect(repeat.body, 'a replay returns the creation, never a later state').toEqual(body);
    expect(repeat.headers.get('idempotent-replayed')).toBe('true');
  });
});

describe('when PSE is slow', () => {
  /** The other API processes of tests wait longer for a bank page. */
  const prompt: Child[] = [];
  beforeAll(async () => {
    const settings = { ...stack.settings, CAUDAL_PORT: '0', CAUDAL_TEST_DEADLINE_FACTOR: '1' };
    prompt.push(...(await Promise.all([startServer('api', settings), startServer('api', settings)])));
    for (const { ready } of prompt) apis.push(stack.api.at(`http://127.0.0.1:${String(ready['port'])}`));
  });
  afterAll(() => Promise.all(prompt.map((api) => api.stop())));

  it('the creation and its retry return PENDING after three seconds, and the same call still delivers the page', async () => {
    const [transactionsBefore, callsBefore] = [await countTransactions(), await countCreateCalls()];
    const slow = await simulator.addFault({
      rail: 'PSE',
      operation: 'create',
      fault: 'slow',
      ms: 6000,
      times: 1,
    });
    const request = psePayin();
    const key = newReference();
    const first = create(request, { key, api: 2 });
    await until('PSE is processing', async () => (await simulator.timesApplied(slow)) === 1);
    // PSE does not answer before the retry has returned, however late it was sent.
    stack.simulator.kill('SIGSTOP');
    const [created, repeat] = await Promise.all([first, create(request, { key, api: 3 })]).finally(() =>
      stack.simulator.kill('SIGCONT'),
    );
    for (const { body, tookMs } of [created, repeat]) {
      expect(body).toMatchObject(WITHOUT_PAGE);
      expect(tookMs).toBeGreaterThan(2800);
      expectWithin('the creation at a slow PSE', tookMs, 4500);
    }
    expect(repeat.body).toEqual(created.body);
    const opened = await waitForStatus(created.body.id, 'PROCESSING');
    expect((await fetch(opened.sourceData.pseUrl ?? '')).status).toBe(200);
    expect(await countCreateCalls()).toBe(callsBefore + 1);
    expect(await countTransactions()).toBe(transactionsBefore + 1);
    const late = await create(request, { key });
    expect(late.body, 'a later replay has the page').toEqual(opened);
  });

  it('retries at any API wait for the same call and return the same body', async () => {
    const callsBefore = await countCreateCalls();
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
    await until('PSE is processing', async () => (await simulator.timesApplied(slow)) === 1);
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
    expect(await countCreateCalls()).toBe(callsBefore + 1);
  });

  it('equal concurrent requests create one transaction and return one body', async () => {
    const [transactionsBefore, callsBefore] = [await countTransactions(), await countCreateCalls()];
    const request = psePayin();
    const key = newReference();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => create(request, { key, api: index % 2 })),
    );
    for (const { body } of answers) expect(body).toEqual(answers[0]?.body);
    expect(answers[0]?.body.status).toBe('PROCESSING');
    expect(await countCreateCalls()).toBe(callsBefore + 1);
    expect(await countTransactions()).toBe(transactionsBefore + 1);
  });
});

describe('a replay after the page is known', () => {
  it.each([
    ['CONFIRMED', "confirmed_amount_in_cents = amount_in_cents, settlement_status = 'PENDING_SETTLEMENT'"],
    ['DECLINED', "error_code = 'INSUFFICIENT_FUNDS'"],
    ['CANCELED', "error_code = 'PAYER_CANCELED'"],
  ])('returns PROCESSING with the page even when the payin is already %s', async (status, also) => {
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

describe('when a part fails', () => {
  it('a lost answer: the page arrives anyway, and PSE has one transaction', async () => {
    const before = await countTransactions();
    await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'lost-answer', times: 1 });
    const { body, tookMs } = await create();
    expect(body).toMatchObject(WITHOUT_PAGE);
    expectWithin('the creation whose answer is lost', tookMs, 2500);
    const opened = await waitForStatus(body.id, 'PROCESSING');
    expect(opened.sourceData.pseUrl).toBe((await findTransaction(body.id))?.bankUrl);
    expect(await countTransactions()).toBe(before + 1);
  });

  it('a lost lease: the late result of the stalled process changes nothing, and a worker gets the page', async () => {
    const before = await countTransactions();
    // As if another process took the payin over during the call, which may be too short to do it from here.
    await stack.database.query(`
      create function public.take_over() returns trigger language plpgsql as
        $$ begin
          new.lease_token = gen_random_uuid();
          new.leased_until = clock_timestamp() + interval '1 hour';
          return new;
        end $$;
      create trigger take_over before insert on caudal.payins for each row execute function public.take_over()`);
    const { body } = await create();
    await stack.database.query('drop function public.take_over cascade');
    expect(body).toMatchObject(WITHOUT_PAGE);
    expect((await read(body.id)).status).toBe('PENDING');
    expect(await countTransactions()).toBe(before + 1);

    await stack.database.query('update caudal.payins set leased_until = clock_timestamp() where id = $1', [
      body.id,
    ]);
    const opened = await waitForStatus(body.id, 'PROCESSING');
    expect(opened.sourceData.pseUrl).toBe((await findTransaction(body.id))?.bankUrl);
    expect(await countTransactions()).toBe(before + 1);
  });

  it('a killed API: a worker continues when its lease has expired', async () => {
    const hang = await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'hang', times: 1 });
    const request = psePayin();
    const broken = create(request, { api: 1 }).catch((error: unknown) => error);
    await until('PSE hangs', async () => (await simulator.timesApplied(hang)) === 1);
    stack.apis[1]?.kill('SIGKILL');
    await stack.apis[1]?.exited;
    expect(await broken).toBeInstanceOf(Error);
    const [row] = await stack.database.query<{ id: string }>(
      'update caudal.payins set leased_until = clock_timestamp() where reference = $1 returning id',
      [request['reference']],
    );
    if (!row) throw new Error('the payin was not committed before the PSE call');
    const opened = await waitForStatus(row.id, 'PROCESSING');
    const transaction = await findTransaction(row.id);
    expect(opened.sourceData.pseUrl).toBe(transaction?.bankUrl);
    expect(transaction?.description).toBe(`Tienda Aurora: ${String(request['reference'])}`);
  });
});

// API 1 is dead by now.
describe('a payin that expired during a PSE outage', () => {
  it('is not opened, and ends with EXPIRED once no call can be in flight', async () => {
    const down = await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'down' });
    const { body } = await create();
    await stack.database.query(
      "update caudal.payins set expires_at = caudal.now() - interval '1 second' where id = $1",
      [body.id],
    );
    await until('no call from before it expired is in flight', async () => {
      const [row] = await stack.database.query<{ free: boolean }>(
        'select lease_token is null as free from caudal.payins where id = $1',
        [body.id],
      );
      return row?.free;
    });
    await simulator.removeFault(down);
    await until('PSE was polled', async () => {
      const [row] = await stack.database.query<{ asked: boolean }>(
        "select rail_task = 'poll' and rail_due_at > caudal.now() + interval '4 minutes' as asked from caudal.payins where id = $1",
        [body.id],
      );
      return row?.asked;
    });
    expect((await read(body.id)).status).toBe('PENDING');
    // A "not found" is not final while an order could be in flight; five minutes later it is.
    await stack.shiftTime(6 * 60_000);
    expect(await waitForStatus(body.id, 'CANCELED')).toMatchObject({ errorCode: 'EXPIRED' });
    expect(await findTransaction(body.id)).toBeNull();
  });
});

describe('during a PSE outage', () => {
  const isCircuitOpen = async (process: { opsUrl: string }) =>
    (await readMetric(process, 'caudal_rail_circuit_open')) === 1;

  /** How many times a process has asked PSE for a page. */
  async function countPageCalls({ opsUrl }: { opsUrl: string }): Promise<number> {
    const text = await (await fetch(`${opsUrl}/metrics`)).text();
    const counts = text.matchAll(
      /^caudal_rail_call_seconds_count\{connector="pse",operation="open",[^}]*\} (\d+)$/gm,
    );
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  it('creations return PENDING quickly, and after repeated failures none waits for PSE', async () => {
    const [api] = stack.apis;
    if (!api) throw new Error('no API');
    const down = await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'down' });
    for (let failures = 0; failures < 5; failures += 1) {
      const { body, tookMs } = await create();
      expect(body).toMatchObject(WITHOUT_PAGE);
      expectWithin('a creation during the outage', tookMs, 1500);
    }
    expect(await isCircuitOpen(api)).toBe(true);
    // From here on every call hangs.
    await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'hang' });
    await simulator.removeFault(down);
    const callsBefore = await countPageCalls(api);
    expect(callsBefore).toBeGreaterThanOrEqual(5);
    const whileOpen = await Promise.all(Array.from({ length: 5 }, () => create()));
    for (const { body } of whileOpen) expect(body).toMatchObject(WITHOUT_PAGE);
    // One of them may be the probe that checks whether PSE is back.
    expect((await countPageCalls(api)) - callsBefore).toBeLessThanOrEqual(1);
    const [, , , fourth = 0] = whileOpen.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b);
    expectWithin('four of five creations while the circuit is open', fourth, 1500);
  });

  it('workers with an open circuit deliver all pages afterwards', async () => {
    await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'down' });
    const created = await Promise.all(Array.from({ length: 12 }, () => create()));
    await until('the circuits of both workers are open', async () => {
      const open = await Promise.all(stack.workers.map(isCircuitOpen));
      return open.every(Boolean);
    });
    for (const { body } of created) expect(await read(body.id)).toMatchObject(WITHOUT_PAGE);
    await simulator.clearFaults();
    for (const { body } of created) {
      const { sourceData } = await waitForStatus(body.id, 'PROCESSING', 12_000);
      expect(sourceData.pseUrl).toBe((await findTransaction(body.id))?.bankUrl);
    }
    await until('nothing is due any more', async () => {
      const [due] = await stack.database.query<{ count: number }>(
        `select count(*)::int from caudal.payins where rail_task = 'open'`,
      );
      return due?.count === 0;
    });
  });
});
