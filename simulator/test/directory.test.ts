import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cleanUp, type Simulator } from './harness.ts';
import {
  ask,
  executionsOf,
  listKey,
  order,
  passTime,
  resolutionOf,
  send,
  startOrderSimulator,
  untilEnded,
} from './order-driver.ts';
import { addFault, journal, keyOf } from './payer.ts';
import { type BrebClient, brebClient, call, freshKey, registration } from './wire-client.ts';

let simulator: Simulator;
let breb: BrebClient;

beforeAll(async () => {
  simulator = await startOrderSimulator();
  breb = await brebClient(simulator);
});
afterEach(() => call(simulator, 'DELETE', '/control/faults'));
afterAll(cleanUp);

const ANA = { type: 'N', documentType: 'CC', documentNumber: '1020304050', names: 'ANA PENA' };
const LUIS = { type: 'N', documentType: 'CC', documentNumber: '5040302010', names: 'LUIS ROJAS' };

const resolve = (key: string) => breb('directory/resolve', { key });

/** Puts a key of Ana's there and looks it up. */
async function lookedUp(): Promise<{ key: string; resolutionId: string }> {
  const key = freshKey();
  await listKey(simulator, { key, holder: { person: ANA } });
  return { key, resolutionId: await resolutionOf(breb, key) };
}

async function endOf(key: string, resolutionId: string | null) {
  const sent = order(key, { resolutionId });
  expect(await send(breb, sent)).toMatchObject([{ status: 'PROCESSING' }]);
  const { status, code } = await untilEnded(simulator, sent.endToEndId);
  expect(await executionsOf(simulator, sent.endToEndId)).toHaveLength(status === 'SETTLED' ? 1 : 0);
  return [status, code];
}

test('a key that is put there resolves to its holder, is paid, and is nobody else’s to register', async () => {
  const key = freshKey();
  const answer = await listKey(simulator, { key: key.toLowerCase(), holder: { person: ANA } });
  expect(answer).toMatchObject({ status: 200, body: { key, status: 'ACTIVE', holder: { person: ANA } } });
  expect(await resolve(key)).toMatchObject({
    status: 200,
    body: { key, keyType: 'ALPHANUMERIC', participant: { nit: '900000002' }, person: ANA },
  });
  expect(await endOf(key, null)).toEqual(['SETTLED', null]);
  const { body } = await breb('keys/register', { keys: [registration(key)] });
  expect(body).toMatchObject({ results: [{ status: 'REJECTED', code: '4016' }] });
  expect((await journal(simulator, 'breb.directory')).at(-1)).toMatchObject({
    key,
    status: 'ACTIVE',
    holder: { person: ANA },
  });
});

test('a bank is named where the directory knows its name, and an e-mail address is one key in any case', async () => {
  const participant = { nit: '900000003', node: 'ENT' };
  await listKey(simulator, {
    key: 'Named@Example.com',
    holder: { participant: { ...participant, name: 'BANCO X' } },
  });
  await listKey(simulator, { key: 'unnamed@example.com', holder: { participant } });
  expect((await resolve('named@EXAMPLE.com')).body).toMatchObject({
    key: 'named@example.com',
    participant: { ...participant, name: 'BANCO X' },
  });
  expect((await resolve('unnamed@example.com')).body).toHaveProperty('participant', participant);
});

test.each(['3009998877', 'ana.pena@example.com', '0012345678', '79123456'])(
  'a key of any type can be put there and paid: %s',
  async (key) => {
    expect((await resolve(key)).status).toBe(422);
    await listKey(simulator, { key });
    expect(await endOf(key, await resolutionOf(breb, key))).toEqual(['SETTLED', null]);
  },
);

test.each([
  ['SUSPENDED_BY_CLIENT', '0005'],
  ['SUSPENDED_BY_PARTICIPANT', '0006'],
])(
  'a key that is %s is refused with %s to lookups and orders, until it is active again',
  async (status, code) => {
    const { key, resolutionId } = await lookedUp();
    await listKey(simulator, { key, status });
    expect(await resolve(key)).toMatchObject({ status: 422, body: { code } });
    expect(await endOf(key, resolutionId)).toEqual(['REJECTED', code]);
    await listKey(simulator, { key, status: 'ACTIVE' });
    expect(await resolve(key)).toMatchObject({ status: 200, body: { person: ANA } });
    expect(await endOf(key, resolutionId)).toEqual(['SETTLED', null]);
  },
);

test('a key that is taken out is unknown to lookups and orders, a test key too, and can come back', async () => {
  const { key, resolutionId } = await lookedUp();
  expect(await listKey(simulator, { key, holder: null })).toEqual({
    status: 200,
    body: { key, status: null, holder: null },
  });
  expect(await resolve(key)).toMatchObject({ status: 422, body: { code: '0004' } });
  expect(await endOf(key, resolutionId)).toEqual(['REJECTED', '0004']);
  await listKey(simulator, { key: '@TESTOK', holder: null });
  expect(await resolve('@TESTOK')).toMatchObject({ status: 422, body: { code: '0004' } });
  await listKey(simulator, { key: '@TESTOK' });
  expect(await endOf('@TESTOK', null)).toEqual(['SETTLED', null]);
});

test('an order whose resolution is good settles; each resolution serves many', async () => {
  const { key, resolutionId } = await lookedUp();
  expect(await endOf(key, resolutionId)).toEqual(['SETTLED', null]);
  expect(await endOf(key, resolutionId)).toEqual(['SETTLED', null]);
});

test('a holder who changes between lookup and order, or between order and settlement, is 4008', async () => {
  const { key, resolutionId } = await lookedUp();
  const underWay = order(key, { resolutionId });
  await send(breb, underWay);
  await listKey(simulator, { key, holder: { person: LUIS } });
  expect(await untilEnded(simulator, underWay.endToEndId)).toMatchObject({
    status: 'REJECTED',
    code: '4008',
  });
  expect(await endOf(key, resolutionId)).toEqual(['REJECTED', '4008']);
  // Who asks for no check gets none, and a new lookup is good again.
  expect(await endOf(key, null)).toEqual(['SETTLED', null]);
  expect(await endOf(key, await resolutionOf(breb, key))).toEqual(['SETTLED', null]);
  await listKey(simulator, { key, holder: { person: ANA } });
  expect(await endOf(key, resolutionId)).toEqual(['SETTLED', null]);
});

test('the account belongs to the holder: a key that moved to another bank is 4008 as well', async () => {
  const { key, resolutionId } = await lookedUp();
  await listKey(simulator, { key, holder: { account: { type: 'DBMO', number: '3001112233' } } });
  expect(await endOf(key, resolutionId)).toEqual(['REJECTED', '4008']);
});

test('a resolution of another key, or of nobody, is 4008', async () => {
  const { key, resolutionId } = await lookedUp();
  // Her other key leads to the same account, and still it is not the one that was looked up.
  expect(await endOf((await lookedUp()).key, resolutionId)).toEqual(['REJECTED', '4008']);
  expect(await endOf(key, 'never-given')).toEqual(['REJECTED', '4008']);
  expect(await endOf('@TESTDECLINED', resolutionId)).toEqual(['REJECTED', '4008']);
});

test('a resolution is good for ten minutes, counted to the intake of the order', async () => {
  const { key, resolutionId } = await lookedUp();
  await passTime(simulator, 590_000);
  // It settles half a minute later, past the ten.
  expect(await endOf(key, resolutionId)).toEqual(['SETTLED', null]);
  expect(await endOf(key, resolutionId)).toEqual(['REJECTED', '4008']);
});

test('a key that collects resolves, but an order to it is 4016 and pays nothing: it would pay itself', async () => {
  const item = registration(freshKey());
  await breb('keys/register', { keys: [item] });
  expect(await endOf(item.key, await resolutionOf(breb, item.key))).toEqual(['REJECTED', '4016']);
  expect((await keyOf(simulator, item.key)).payments).toEqual([]);
  expect(await listKey(simulator, { key: item.key })).toMatchObject({
    status: 409,
    body: { code: 'KEY_TAKEN' },
  });
  await breb('keys/close', { keys: [item.key] });
  expect(await endOf(item.key, null)).toEqual(['REJECTED', '0004']);
});

test.each(['4001', '5000', '5001', '5005', '0006'])(
  'the fault rejected makes lookups answer %s so often, remembers nothing, and leaves orders alone',
  async (code) => {
    const fault = { rail: 'BRE_B', operation: 'resolve', fault: 'rejected', code, times: 1 };
    await addFault(simulator, fault);
    const sent = order('@TESTOK');
    expect(await send(breb, sent)).toMatchObject([{ status: 'PROCESSING' }]);
    expect(await resolve('@TESTOK')).toEqual({ status: 422, body: { code, message: expect.any(String) } });
    expect((await resolve('@TESTOK')).status).toBe(200);
    expect(await ask(breb, sent.endToEndId)).toMatchObject([{ status: 'PROCESSING' }]);
  },
);

test('a body that cannot be is 400', async () => {
  const wrong = [
    { key: 'two words' },
    { key: '@GOODKEY', status: 'CANCELED' },
    { key: '@GOODKEY', holder: { person: { names: 'half a person' } } },
    { key: '@GOODKEY', holdre: null },
    {},
  ];
  for (const body of wrong) expect((await listKey(simulator, body)).status).toBe(400);
  expect(await resolve('@GOODKEY')).toMatchObject({ status: 422, body: { code: '0004' } });
});
