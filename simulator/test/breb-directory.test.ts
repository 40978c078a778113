import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cleanUp, type Simulator, startSimulator } from './harness.ts';
import { type BrebClient, brebClient, call, freshKey, registration } from './wire-client.ts';

let simulator: Simulator;
let breb: BrebClient;

beforeAll(async () => {
  simulator = await startSimulator();
  breb = await brebClient(simulator);
});
afterEach(() => call(simulator, 'POST', '/control/time', { body: { shiftMs: 0 } }));
afterAll(cleanUp);

const resolve = (key: string) => breb('directory/resolve', { key });

test('the payout test keys resolve to the fictitious test holder, each lookup with a new resolution id', async () => {
  const keys = ['@TESTOK', '@TESTDECLINED', '@TESTTIMEOUT', '@TESTLOSTANSWER', '@testok'];
  const replies = await Promise.all(keys.map(resolve));
  for (const [index, reply] of replies.entries()) {
    expect(reply).toEqual({
      status: 200,
      body: {
        resolutionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        key: keys[index]?.toUpperCase(),
        keyType: 'ALPHANUMERIC',
        participant: { nit: '900000002', node: 'TFY', name: 'BANCO DE PRUEBAS' },
        account: { type: 'CAHO', number: '000900816987' },
        person: { type: 'N', documentType: 'CC', documentNumber: '1000000099', names: 'JANETH SMITH PRUEBA' },
      },
    });
  }
  const ids = new Set(replies.map(({ body }) => (body as { resolutionId: string }).resolutionId));
  expect(ids.size).toBe(keys.length);
});

test.each([
  ['@TESTSUSPENDED', '0005'],
  ['@TESTNOTFOUND', '0004'],
  ['@NOBODY123', '0004'],
  ['3001234567', '0004'],
  ['+573001234567', '0004'],
  ['0012345678', '0004'],
  ['ana@example.com', '0004'],
  ['1020304050', '0004'],
  ['', '4000'],
  ['@', '4000'],
  ['two words', '4000'],
  ['a-local-part-longer-than-thirty-1@example.com', '4000'],
  ['ABCDEFGHIJ123456789', '4000'],
])('resolving "%s" returns 422 with code %s', async (key, code) => {
  expect(await resolve(key)).toEqual({ status: 422, body: { code, message: expect.any(String) } });
});

test('a registered key resolves to the collecting participant until it is closed, then returns 0004', async () => {
  const item = registration(freshKey());
  expect((await resolve(item.key)).status).toBe(422);
  await breb('keys/register', { keys: [item] });
  expect(await resolve(item.key)).toMatchObject({
    status: 200,
    body: {
      key: item.key,
      keyType: 'ALPHANUMERIC',
      participant: { nit: '900000001', name: 'BANCO RECAUDADOR SIMULADO' },
      person: { type: 'L' },
    },
  });
  await breb('keys/close', { keys: [item.key] });
  expect(await resolve(item.key)).toMatchObject({ status: 422, body: { code: '0004' } });
});

test('an expired key does not resolve, but a query returns REGISTERED until it is closed', async () => {
  const item = registration(freshKey(), { expiresAt: new Date(Date.now() + 600_000).toISOString() });
  await breb('keys/register', { keys: [item] });
  await call(simulator, 'POST', '/control/time', { body: { shiftMs: 600_001 } });
  expect(await resolve(item.key)).toMatchObject({ status: 422, body: { code: '0004' } });
  expect((await breb('keys/query', { keys: [item.key] })).body).toMatchObject({
    results: [{ status: 'REGISTERED', expiresAt: item.expiresAt }],
  });
});
