import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp, type Simulator, startSimulator } from './harness.ts';
import { type BrebClient, brebClient, call, freshKey, registration } from './wire-client.ts';

let simulator: Simulator;
let breb: BrebClient;

beforeAll(async () => {
  simulator = await startSimulator();
  breb = await brebClient(simulator);
});
afterAll(cleanUp);

test('a repeated registration with the same internal id returns REGISTERED and keeps the first registration', async () => {
  const first = registration(freshKey());
  const registered = { status: 200, body: { results: [{ key: first.key, status: 'REGISTERED' }] } };
  expect(await breb('keys/register', { keys: [first] })).toEqual(registered);
  expect(await breb('keys/register', { keys: [{ ...first, amount: '1.00', payer: null }] })).toEqual(
    registered,
  );

  const { body } = await call(simulator, 'GET', `/control/keys/${first.key}`);
  expect(body).toEqual({
    key: first.key,
    status: 'REGISTERED',
    code: null,
    internalId: first.internalId,
    amount: '49800.00',
    currency: 'COP',
    expiresAt: first.expiresAt,
    payer: first.payer,
    registeredAt: expect.stringMatching(/^\d{4}-.*Z$/),
    closedAt: null,
    payments: [],
  });
});

test('a registration of a registered key with another internal id is rejected with 4016, within one call and in a later call', async () => {
  const first = registration(freshKey());
  const other = registration(first.key);
  const rejected = { key: first.key, status: 'REJECTED', code: '4016', message: expect.any(String) };
  const together = await breb('keys/register', { keys: [first, other, first] });
  expect(together.body).toEqual({
    results: [{ key: first.key, status: 'REGISTERED' }, rejected, { key: first.key, status: 'REGISTERED' }],
  });
  expect((await breb('keys/register', { keys: [other] })).body).toEqual({ results: [rejected] });
});

test('exactly one of many parallel registrations of a key with different internal ids succeeds', async () => {
  const key = freshKey();
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => breb('keys/register', { keys: [registration(key)] })),
  );
  const statuses = replies.map(({ body }) => (body as { results: { status: string }[] }).results[0]?.status);
  expect(statuses.filter((status) => status === 'REGISTERED')).toHaveLength(1);
  expect(statuses.filter((status) => status === 'REJECTED')).toHaveLength(19);
});

test('an invalid key is rejected with 4000 and the other keys of the call are registered', async () => {
  const good = registration(freshKey());
  const bad = ['@abc12', '@ABCD', `@${'A'.repeat(21)}`, 'CDL12345', '@CDL-1234', ''].map((key) =>
    registration(key),
  );
  const { body } = await breb('keys/register', { keys: [...bad, good] });
  expect(body).toEqual({
    results: [
      ...bad.map(({ key }) => ({ key, status: 'REJECTED', code: '4000', message: expect.any(String) })),
      { key: good.key, status: 'REGISTERED' },
    ],
  });
});

test('registering a built-in test key is rejected with 4016', async () => {
  const { body } = await breb('keys/register', { keys: [registration('@TESTOK')] });
  expect(body).toMatchObject({ results: [{ status: 'REJECTED', code: '4016' }] });
});

test('closing an unregistered key is permanent: a later registration is rejected with 0004', async () => {
  const late = registration(freshKey());
  const closed = {
    status: 200,
    body: { results: [{ key: late.key, status: 'CLOSED', code: null, expiresAt: null, payments: [] }] },
  };
  expect(await breb('keys/close', { keys: [late.key] })).toEqual(closed);
  expect((await breb('keys/register', { keys: [late] })).body).toMatchObject({
    results: [{ key: late.key, status: 'REJECTED', code: '0004' }],
  });
  expect(await breb('keys/close', { keys: [late.key] })).toEqual(closed);
  expect((await call(simulator, 'GET', `/control/keys/${late.key}`)).body).toMatchObject({
    status: 'CLOSED',
    internalId: null,
    registeredAt: null,
    closedAt: expect.any(String),
  });
});

test('registering a closed key again is rejected with 0004, even with the same internal id', async () => {
  const item = registration(freshKey());
  await breb('keys/register', { keys: [item] });
  await breb('keys/close', { keys: [item.key] });
  expect((await breb('keys/register', { keys: [item] })).body).toMatchObject({
    results: [{ status: 'REJECTED', code: '0004' }],
  });
});

test('a key query returns REGISTERED, CLOSED and NOT_FOUND in the order of the request', async () => {
  const [open, closed, tombstone] = [registration(freshKey()), registration(freshKey()), freshKey()];
  const unknown = freshKey();
  await breb('keys/register', { keys: [open, closed] });
  await breb('keys/close', { keys: [closed.key, tombstone] });
  const { body } = await breb('keys/query', { keys: [unknown, closed.key, open.key, tombstone] });
  expect(body).toEqual({
    results: [
      { key: unknown, status: 'NOT_FOUND', code: null, expiresAt: null, payments: [] },
      { key: closed.key, status: 'CLOSED', code: null, expiresAt: closed.expiresAt, payments: [] },
      { key: open.key, status: 'REGISTERED', code: null, expiresAt: open.expiresAt, payments: [] },
      { key: tombstone, status: 'CLOSED', code: null, expiresAt: null, payments: [] },
    ],
  });
});

test('one call registers, queries or closes 500 keys and answers in the order of the request', async () => {
  const items = Array.from({ length: 500 }, () => registration(freshKey()));
  const keys = items.map(({ key }) => key);
  const registered = await breb('keys/register', { keys: items });
  expect(registered.body).toEqual({ results: keys.map((key) => ({ key, status: 'REGISTERED' })) });
  const queried = await breb('keys/query', { keys });
  expect(queried.body).toMatchObject({ results: keys.map((key) => ({ key, status: 'REGISTERED' })) });
  const closed = await breb('keys/close', { keys });
  expect(closed.body).toMatchObject({
    results: keys.map((key) => ({ key, status: 'CLOSED', payments: [] })),
  });
});

test('a key call with no keys, more than 500 keys or a malformed item returns 400 and changes nothing', async () => {
  const good = registration(freshKey());
  const tooMany = Array.from({ length: 501 }, () => registration(freshKey()));
  const bodies = [
    '{"keys":',
    '',
    {},
    { keys: [] },
    { keys: tooMany },
    { keys: [good, { ...good, amount: '49800' }] },
    { keys: [good, { ...good, amount: 49800 }] },
    { keys: [good, { ...good, internalId: 'x' }] },
    { keys: [good, { ...good, currency: 'USD' }] },
    { keys: [good, { ...good, expiresAt: 'tomorrow' }] },
  ];
  const replies = await Promise.all(bodies.map((body) => breb('keys/register', body)));
  for (const reply of replies) {
    expect(reply).toEqual({ status: 400, body: { code: 'BAD_REQUEST', message: expect.any(String) } });
  }
  expect((await breb('keys/close', { keys: [] })).status).toBe(400);
  expect((await breb('keys/query', { keys: Array.from({ length: 501 }, freshKey) })).status).toBe(400);
  expect((await call(simulator, 'GET', `/control/keys/${good.key}`)).status).toBe(404);
});
