import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cleanUp, type Simulator } from './harness.ts';
import {
  getExecutions,
  getResolutionId,
  listKey,
  order,
  passTime,
  queryOrders,
  send,
  startOrderSimulator,
  untilEnded,
} from './order-driver.ts';
import { addFault, getKey, journal } from './payer.ts';
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

/** Adds a key of Ana to the directory and resolves it. */
async function listAndResolve(): Promise<{ key: string; resolutionId: string }> {
  const key = freshKey();
  await listKey(simulator, { key, holder: { person: ANA } });
  return { key, resolutionId: await getResolutionId(breb, key) };
}

async function sendAndGetEnd(key: string, resolutionId: string | null) {
  const sent = order(key, { resolutionId });
  expect(await send(breb, sent)).toMatchObject([{ status: 'PROCESSING' }]);
  const { status, code } = await untilEnded(simulator, sent.endToEndId);
  expect(await getExecutions(simulator, sent.endToEndId)).toHaveLength(status === 'SETTLED' ? 1 : 0);
  return [status, code];
}

test('a key added by the control API resolves to its holder, can be paid and cannot be registered', async () => {
  const key = freshKey();
  const answer = await listKey(simulator, { key: key.toLowerCase(), holder: { person: ANA } });
  expect(answer).toMatchObject({ status: 200, body: { key, status: 'ACTIVE', holder: { person: ANA } } });
  expect(await resolve(key)).toMatchObject({
    status: 200,
    body: { key, keyType: 'ALPHANUMERIC', participant: { nit: '900000002' }, person: ANA },
  });
  expect(await sendAndGetEnd(key, null)).toEqual(['SETTLED', null]);
  const { body } = await breb('keys/register', { keys: [registration(key)] });
  expect(body).toMatchObject({ results: [{ status: 'REJECTED', code: '4016' }] });
  expect((await journal(simulator, 'breb.directory')).at(-1)).toMatchObject({
    key,
    status: 'ACTIVE',
    holder: { person: ANA },
  });
});

test('a lookup returns the participant name only if it is set, and e-mail keys are case-insensitive', async () => {
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
  'a key of any type can be added to the directory and paid: %s',
  async (key) => {
    expect((await resolve(key)).status).toBe(422);
    await listKey(simulator, { key });
    expect(await sendAndGetEnd(key, await getResolutionId(breb, key))).toEqual(['SETTLED', null]);
  },
);

test.each([
  ['SUSPENDED_BY_CLIENT', '0005'],
  ['SUSPENDED_BY_PARTICIPANT', '0006'],
])('lookups of and orders to a %s key fail with %s until it is ACTIVE again', async (status, code) => {
  const { key, resolutionId } = await listAndResolve();
  await listKey(simulator, { key, status });
  expect(await resolve(key)).toMatchObject({ status: 422, body: { code } });
  expect(await sendAndGetEnd(key, resolutionId)).toEqual(['REJECTED', code]);
  await listKey(simulator, { key, status: 'ACTIVE' });
  expect(await resolve(key)).toMatchObject({ status: 200, body: { person: ANA } });
  expect(await sendAndGetEnd(key, resolutionId)).toEqual(['SETTLED', null]);
});

test('lookups of and orders to a removed key fail with 0004, test keys included, until it is added again', async () => {
  const { key, resolutionId } = await listAndResolve();
  expect(await listKey(simulator, { key, holder: null })).toEqual({
    status: 200,
    body: { key, status: null, holder: null },
  });
  expect(await resolve(key)).toMatchObject({ status: 422, body: { code: '0004' } });
  expect(await sendAndGetEnd(key, resolutionId)).toEqual(['REJECTED', '0004']);
  await listKey(simulator, { key: '@TESTOK', holder: null });
  expect(await resolve('@TESTOK')).toMatchObject({ status: 422, body: { code: '0004' } });
  await listKey(simulator, { key: '@TESTOK' });
  expect(await sendAndGetEnd('@TESTOK', null)).toEqual(['SETTLED', null]);
});

test('an order with a valid resolution settles, and several orders can use the same resolution', async () => {
  const { key, resolutionId } = await listAndResolve();
  expect(await sendAndGetEnd(key, resolutionId)).toEqual(['SETTLED', null]);
  expect(await sendAndGetEnd(key, resolutionId)).toEqual(['SETTLED', null]);
});

test('an order is rejected with 4008 when the holder changes after the lookup or after the intake', async () => {
  const { key, resolutionId } = await listAndResolve();
  const underWay = order(key, { resolutionId });
  await send(breb, underWay);
  await listKey(simulator, { key, holder: { person: LUIS } });
  expect(await untilEnded(simulator, underWay.endToEndId)).toMatchObject({
    status: 'REJECTED',
    code: '4008',
  });
  expect(await sendAndGetEnd(key, resolutionId)).toEqual(['REJECTED', '4008']);
  // An order without a resolution is not checked, and a new lookup is valid.
  expect(await sendAndGetEnd(key, null)).toEqual(['SETTLED', null]);
  expect(await sendAndGetEnd(key, await getResolutionId(breb, key))).toEqual(['SETTLED', null]);
  await listKey(simulator, { key, holder: { person: ANA } });
  expect(await sendAndGetEnd(key, resolutionId)).toEqual(['SETTLED', null]);
});

test('an order is rejected with 4008 when the account of the key changes after the lookup', async () => {
  const { key, resolutionId } = await listAndResolve();
  await listKey(simulator, { key, holder: { account: { type: 'DBMO', number: '3001112233' } } });
  expect(await sendAndGetEnd(key, resolutionId)).toEqual(['REJECTED', '4008']);
});

test('an order with an unknown resolution or the resolution of another key is rejected with 4008', async () => {
  const { key, resolutionId } = await listAndResolve();
  // The other key has the same holder and account, but it is not the key of the resolution.
  expect(await sendAndGetEnd((await listAndResolve()).key, resolutionId)).toEqual(['REJECTED', '4008']);
  expect(await sendAndGetEnd(key, 'unknown-resolution')).toEqual(['REJECTED', '4008']);
  expect(await sendAndGetEnd('@TESTDECLINED', resolutionId)).toEqual(['REJECTED', '4008']);
});

test('a resolution is valid for ten minutes until the intake of the order, not until its settlement', async () => {
  const { key, resolutionId } = await listAndResolve();
  // isFresh has the exact limit in a unit test; here a slow machine has a minute left.
  await passTime(simulator, 540_000);
  // The order settles two minutes later, after the ten minutes.
  expect(await sendAndGetEnd(key, resolutionId)).toEqual(['SETTLED', null]);
  expect(await sendAndGetEnd(key, resolutionId)).toEqual(['REJECTED', '4008']);
});

test('a registered key resolves, but an order to it is rejected with 4016, because payer and payee are the same account', async () => {
  const item = registration(freshKey());
  await breb('keys/register', { keys: [item] });
  expect(await sendAndGetEnd(item.key, await getResolutionId(breb, item.key))).toEqual(['REJECTED', '4016']);
  expect((await getKey(simulator, item.key)).payments).toEqual([]);
  expect(await listKey(simulator, { key: item.key })).toMatchObject({
    status: 409,
    body: { code: 'KEY_TAKEN' },
  });
  await breb('keys/close', { keys: [item.key] });
  expect(await sendAndGetEnd(item.key, null)).toEqual(['REJECTED', '0004']);
});

test.each(['4001', '5000', '5001', '5005', '0006'])(
  'the fault rejected returns %s for the configured number of lookups and does not affect orders',
  async (code) => {
    const fault = { rail: 'BRE_B', operation: 'resolve', fault: 'rejected', code, times: 1 };
    await addFault(simulator, fault);
    const sent = order('@TESTOK');
    expect(await send(breb, sent)).toMatchObject([{ status: 'PROCESSING' }]);
    expect(await resolve('@TESTOK')).toEqual({ status: 422, body: { code, message: expect.any(String) } });
    expect((await resolve('@TESTOK')).status).toBe(200);
    expect(await queryOrders(breb, sent.endToEndId)).toMatchObject([{ status: 'PROCESSING' }]);
  },
);

test('POST /control/directory returns 400 for an invalid body', async () => {
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
