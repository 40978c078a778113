import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp, type Simulator, startSimulator } from './harness.ts';
import { call, pseCall, pseOrder } from './wire-client.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({ args: ['--public-url', 'http://banks.example:8080/'] });
});
afterAll(cleanUp);

type Created = { transactionId: string; trazabilityCode: string; bankUrl: string };

const create = (order: object) => pseCall(simulator, 'transactions', order);
const query = (...references: string[]) => pseCall(simulator, 'transactions/query', { references });

/** Opens the bank page at the real listening address. */
const openBank = (bankUrl: string) => fetch(bankUrl.replace('http://banks.example:8080', simulator.url));

test('GET /pse/v1/banks returns every bank code once, with its name', async () => {
  const { status, body } = await pseCall(simulator, 'banks');
  expect(status).toBe(200);
  const { banks } = body as { banks: { code: string; name: string }[] };
  expect(banks).toContainEqual({ code: '1007', name: 'BANCOLOMBIA' });
  expect(banks).toContainEqual({ code: '1507', name: 'NEQUI' });
  expect(new Set(banks.map(({ code }) => code)).size).toBe(47);
});

test('creating a transaction returns its ids and bank URL, and a query returns PENDING', async () => {
  const { status, body } = await create(pseOrder('ref-create'));
  const { transactionId, trazabilityCode, bankUrl } = body as Created;
  expect(status).toBe(200);
  expect(body).toEqual({
    returnCode: 'SUCCESS',
    transactionId: expect.any(String),
    trazabilityCode: expect.stringMatching(/^\d{10}$/),
    transactionCycle: expect.stringMatching(/^\d+$/),
    bankUrl: expect.any(String),
  });
  expect(bankUrl).toMatch(new RegExp(`^http://banks\\.example:8080/bank/${transactionId}\\?t=[\\w-]{22}$`));
  const known = { transactionId, trazabilityCode, bankUrl, amount: '49800.00', reason: null };
  const unknown = { transactionId: null, trazabilityCode: null, bankUrl: null, amount: null, reason: null };
  expect((await query('ref-unknown', 'ref-create')).body).toEqual({
    results: [
      { reference: 'ref-unknown', state: 'NOT_FOUND', ...unknown },
      { reference: 'ref-create', state: 'PENDING', ...known },
    ],
  });
  expect((await call(simulator, 'GET', '/control/transactions/ref-create')).body).toMatchObject({
    ...pseOrder('ref-create'),
    ...known,
    expiresAt: null,
    state: 'PENDING',
  });
});

test('repeated creations with the same reference return the same answer, also in parallel', async () => {
  const order = pseOrder('ref-parallel', { expiresAt: '2100-01-01T00:00:00.000Z' });
  const replies = await Promise.all(Array.from({ length: 20 }, () => create(order)));
  const later = await create({ ...order, description: 'Otra' });
  expect(new Set([...replies, later].map((reply) => JSON.stringify(reply))).size).toBe(1);
  expect(later.body).toMatchObject({ returnCode: 'SUCCESS' });
});

test('every transaction has a unique id and CUS', async () => {
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) => create(pseOrder(`ref-own-${index}`))),
  );
  const created = replies.map(({ body }) => body as Created);
  expect(new Set(created.map(({ trazabilityCode }) => trazabilityCode)).size).toBe(20);
  expect(new Set(created.map(({ transactionId }) => transactionId)).size).toBe(20);
});

test('creating with a known reference and another amount or bank returns FAIL_TRANSACTIONNOTALLOWED and changes nothing', async () => {
  const first = await create(pseOrder('ref-conflict'));
  const rejected = { status: 200, body: { returnCode: 'FAIL_TRANSACTIONNOTALLOWED' } };
  expect(await create(pseOrder('ref-conflict', { amount: '49800.01' }))).toEqual(rejected);
  expect(await create(pseOrder('ref-conflict', { bankCode: '1507' }))).toEqual(rejected);
  expect(await create(pseOrder('ref-conflict'))).toEqual(first);
});

test('an invalid bank, amount or payer returns its PSE code and creates no transaction', async () => {
  const payer = { ...pseOrder('x').payer, documentNumber: '1000000021' };
  const cases: [object, string][] = [
    [{ bankCode: '9999' }, 'FAIL_BANKNOTEXISTSORDISABLED'],
    [{ amount: '1499.99' }, 'FAIL_INVALIDAMOUNT'],
    [{ amount: '1500.00' }, 'SUCCESS'],
    [{ amount: '115520000.00' }, 'SUCCESS'],
    [{ amount: '115520000.01' }, 'FAIL_EXCEEDEDLIMIT'],
    [{ payer }, 'FAIL_BANKUNREACHEABLE'],
  ];
  for (const [index, [changes, returnCode]] of cases.entries()) {
    const reference = `ref-rejected-${index}`;
    expect(await create(pseOrder(reference, changes))).toMatchObject({ status: 200, body: { returnCode } });
    const state = returnCode === 'SUCCESS' ? 'PENDING' : 'NOT_FOUND';
    expect((await query(reference)).body).toMatchObject({ results: [{ reference, state }] });
  }
});

test('a malformed creation or query returns 400', async () => {
  const malformed = [
    { reference: 'r'.repeat(33) },
    { reference: '' },
    { personType: 2 },
    { returnUrl: 'javascript:alert(1)' },
    { returnUrl: `https://example.com/${'a'.repeat(250)}` },
    { amount: '49800.0' },
    { payer: null },
  ];
  for (const changes of malformed) {
    const reply = await create(pseOrder('ref-malformed', changes));
    expect(reply).toEqual({ status: 400, body: { code: 'BAD_REQUEST', message: expect.any(String) } });
  }
  expect((await query()).status).toBe(400);
  expect((await query(...Array.from({ length: 501 }, (_, index) => `r${index}`))).status).toBe(400);
});

test('one call queries 500 references', async () => {
  const references = Array.from({ length: 500 }, (_, index) => `ref-bulk-${index}`);
  const { body } = await query(...references);
  expect(body).toMatchObject({ results: references.map((reference) => ({ reference, state: 'NOT_FOUND' })) });
});

test('the bank page returns 404 for an unknown transaction or a wrong secret', async () => {
  const { body } = await create(pseOrder('ref-secret'));
  const { bankUrl } = body as Created;
  expect((await openBank(bankUrl.replace(/t=.*/, 't=wrong'))).status).toBe(404);
  expect((await openBank(bankUrl.replace(/\?t=.*/, ''))).status).toBe(404);
  expect((await openBank('http://banks.example:8080/bank/nothing?t=x')).status).toBe(404);
});
