import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cleanUp, type Simulator, startSimulator } from './harness.ts';
import { basic, call, fetchToken } from './wire-client.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterEach(() => call(simulator, 'POST', '/control/time', { body: { shiftMs: 0 } }));
afterAll(cleanUp);

const GRANT = { grant_type: 'client_credentials' };
const QUERY = { keys: ['@CDLTEST1'] };
const validBasic = basic('caudal-dev', 'dev-breb-secret');

const query = (authorization?: string) =>
  call(simulator, 'POST', '/breb/v1/keys/query', {
    body: QUERY,
    ...(authorization === undefined ? {} : { authorization }),
  });

const expiryMs = (token: string) => Number(/^Bearer (\d+)\./.exec(token)?.[1]);

async function nowMs(): Promise<number> {
  const { body } = await call(simulator, 'GET', '/control/time');
  return Date.parse((body as { now: string }).now);
}

test('POST /breb/oauth/token issues a token for valid credentials, by form or JSON body, that authorizes other calls', async () => {
  const expected = { access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600 };
  const byJson = await call(simulator, 'POST', '/breb/oauth/token', {
    authorization: validBasic,
    body: GRANT,
  });
  expect(byJson).toEqual({ status: 200, body: expected });
  const byForm = await fetch(`${simulator.url}/breb/oauth/token`, {
    method: 'POST',
    headers: { authorization: validBasic },
    body: new URLSearchParams(GRANT),
  });
  expect(byForm.status).toBe(200);
  const token = (await byForm.json()) as { access_token: string };
  expect(token).toEqual(expected);
  expect((await query(`Bearer ${token.access_token}`)).status).toBe(200);
});

test('POST /breb/oauth/token returns 401 invalid_client for wrong, missing or incomplete credentials', async () => {
  const wrong = [
    basic('caudal-dev', 'dev-pse-secret'),
    basic('other', 'dev-breb-secret'),
    basic('caudal-dev', ''),
    'Basic !!!',
    'Bearer x',
  ];
  for (const authorization of wrong) {
    const reply = await call(simulator, 'POST', '/breb/oauth/token', { authorization, body: GRANT });
    expect(reply).toEqual({ status: 401, body: { error: 'invalid_client' } });
  }
  const none = await call(simulator, 'POST', '/breb/oauth/token', { body: GRANT });
  expect(none).toEqual({ status: 401, body: { error: 'invalid_client' } });
});

test('POST /breb/oauth/token returns 400 unsupported_grant_type for another grant type', async () => {
  const body = { grant_type: 'password' };
  const reply = await call(simulator, 'POST', '/breb/oauth/token', { authorization: validBasic, body });
  expect(reply).toEqual({ status: 400, body: { error: 'unsupported_grant_type' } });
});

test('a Bre-B call without a token or with a forged token returns 401 UNAUTHORIZED', async () => {
  const token = await fetchToken(simulator);
  const extended = token.replace(/^Bearer \d+/, `Bearer ${expiryMs(token) + 86_400_000}`);
  for (const authorization of [undefined, validBasic, 'Bearer x', `${token}x`, extended]) {
    expect(await query(authorization)).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
  }
});

test("a token expires after one hour on the simulator's clock", async () => {
  const from = await nowMs();
  const token = await fetchToken(simulator);
  // The token contains its expiry, so that no request has to arrive at an exact time.
  expect(expiryMs(token)).toBeGreaterThanOrEqual(from + 3_600_000);
  expect(expiryMs(token)).toBeLessThanOrEqual((await nowMs()) + 3_600_000);
  await call(simulator, 'POST', '/control/time', { body: { shiftMs: 3_000_000 } });
  expect((await query(token)).status).toBe(200);
  await call(simulator, 'POST', '/control/time', { body: { shiftMs: 3_600_000 } });
  expect(await query(token)).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
});

test('a PSE call with wrong or missing credentials returns 401 FAIL_ACCESSDENIED', async () => {
  const denied = { status: 401, body: { code: 'FAIL_ACCESSDENIED' } };
  expect(await call(simulator, 'GET', '/pse/v1/banks')).toEqual(denied);
  expect(await call(simulator, 'GET', '/pse/v1/banks', { authorization: validBasic })).toEqual(denied);
  const body = { references: ['r'] };
  expect(await call(simulator, 'POST', '/pse/v1/transactions/query', { body })).toEqual(denied);
});

test('environment variables set the accepted credentials', async () => {
  const own = await startSimulator({
    env: {
      SIM_BREB_CLIENT_ID: 'shop',
      SIM_BREB_CLIENT_SECRET: 'own: breb',
      SIM_PSE_ENTITY: 'shop-pse',
      SIM_PSE_SECRET: 'own-pse',
    },
  });
  const token = (authorization: string) =>
    call(own, 'POST', '/breb/oauth/token', { authorization, body: GRANT });
  expect((await token(basic('shop', 'own: breb'))).status).toBe(200);
  expect((await token(validBasic)).status).toBe(401);
  const banks = (authorization: string) => call(own, 'GET', '/pse/v1/banks', { authorization });
  expect((await banks(basic('shop-pse', 'own-pse'))).status).toBe(200);
  expect((await banks(basic('caudal-dev', 'dev-pse-secret'))).status).toBe(401);
});

test("POST /control/time shifts the simulator's clock and GET /control/time returns the shift", async () => {
  const from = Date.now();
  const shifted = await call(simulator, 'POST', '/control/time', { body: { shiftMs: 86_400_000 } });
  expect(shifted).toEqual({ status: 200, body: { now: expect.any(String), shiftMs: 86_400_000 } });
  const { body } = await call(simulator, 'GET', '/control/time');
  const unshiftedMs = Date.parse((body as { now: string }).now) - 86_400_000;
  expect(unshiftedMs).toBeGreaterThanOrEqual(from);
  expect(unshiftedMs).toBeLessThanOrEqual(Date.now());
  expect((await call(simulator, 'POST', '/control/time', { body: { shiftMs: 'x' } })).status).toBe(400);
});
