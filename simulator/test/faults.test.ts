import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { stopwatch } from '../../scripts/testing/expect-within.ts';
import { cleanUp, eventually, type Simulator, startSimulator } from './harness.ts';
import {
  type BrebClient,
  brebClient,
  call,
  callAndLeave,
  freshKey,
  pseCall,
  pseOrder,
  registration,
} from './wire-client.ts';

let simulator: Simulator;
let breb: BrebClient;

beforeAll(async () => {
  simulator = await startSimulator();
  breb = await brebClient(simulator);
});
afterEach(() => call(simulator, 'DELETE', '/control/faults'));
afterAll(cleanUp);

async function addFault(fault: object): Promise<string> {
  const { body } = await call(simulator, 'POST', '/control/faults', { body: fault });
  return (body as { id: string }).id;
}

async function keyStored(key: string): Promise<boolean> {
  return (await call(simulator, 'GET', `/control/keys/${key}`)).status === 200;
}

async function listed(): Promise<object[]> {
  const { body } = await call(simulator, 'GET', '/control/faults');
  return (body as { faults: object[] }).faults;
}

async function waitUntilApplied(): Promise<void> {
  await eventually(
    async () => JSON.stringify(await listed()).includes('"applied":1'),
    () => 'the fault was applied',
  );
}

/** Attaches the handlers immediately: an open call may fail at any time while the test continues. */
const toOutcome = (reply: Promise<unknown>): Promise<string> =>
  reply.then(
    () => 'answered',
    () => 'aborted',
  );

const register = (key: string, signal?: AbortSignal) =>
  breb('keys/register', { keys: [registration(key)] }, signal);

test('down returns 503 without executing the call until removed, and does not affect other operations or the other rail', async () => {
  const key = freshKey();
  const id = await addFault({ rail: 'BRE_B', operation: 'register', fault: 'down' });
  expect((await register(key)).status).toBe(503);
  expect((await register(key)).status).toBe(503);
  expect((await breb('keys/query', { keys: [key] })).body).toMatchObject({
    results: [{ status: 'NOT_FOUND' }],
  });
  expect((await pseCall(simulator, 'banks')).status).toBe(200);
  expect(await call(simulator, 'DELETE', `/control/faults/${id}`)).toEqual({
    status: 200,
    body: { removed: 1 },
  });
  expect((await register(key)).status).toBe(200);
});

test('a fault with operation * applies to every operation of the rail, including token', async () => {
  await addFault({ rail: 'BRE_B', operation: '*', fault: 'down' });
  await addFault({ rail: 'PSE', operation: '*', fault: 'down' });
  const statuses = await Promise.all([
    call(simulator, 'POST', '/breb/oauth/token'),
    register(freshKey()),
    breb('keys/close', { keys: [freshKey()] }),
    breb('keys/query', { keys: [freshKey()] }),
    breb('directory/resolve', { key: '@TESTOK' }),
    breb('orders', { orders: [] }),
    breb('orders/query', {}),
    pseCall(simulator, 'banks'),
    pseCall(simulator, 'transactions', pseOrder('ref-down')),
    pseCall(simulator, 'transactions/query', { references: ['ref-down'] }),
  ]);
  expect(statuses.map(({ status }) => status)).toEqual(Array(10).fill(503));
});

test('a fault with times applies that many times, and faults apply in the order they were added', async () => {
  await addFault({ rail: 'PSE', operation: 'banks', fault: 'down', times: 2 });
  await addFault({ rail: 'PSE', operation: '*', fault: 'reset', times: 1 });
  expect((await pseCall(simulator, 'banks')).status).toBe(503);
  expect((await pseCall(simulator, 'banks')).status).toBe(503);
  await expect(pseCall(simulator, 'banks')).rejects.toThrow('fetch failed');
  expect((await pseCall(simulator, 'banks')).status).toBe(200);
  expect(await listed()).toMatchObject([
    { fault: 'down', times: 0, applied: 2 },
    { fault: 'reset', times: 0, applied: 1 },
  ]);
});

test('slow delays the answer', async () => {
  await addFault({ rail: 'BRE_B', operation: 'register', fault: 'slow', ms: 300 });
  const elapsedMs = stopwatch();
  expect((await register(freshKey())).status).toBe(200);
  expect(elapsedMs()).toBeGreaterThanOrEqual(295);
});

test('slow executes the call even when the client has disconnected', async () => {
  const key = freshKey();
  await addFault({ rail: 'BRE_B', operation: 'register', fault: 'slow', ms: 500 });
  await callAndLeave(simulator, 'keys/register', { keys: [registration(key)] });
  await eventually(
    () => keyStored(key),
    () => `${key} is registered`,
  );
  expect(await listed()).toMatchObject([{ fault: 'slow', applied: 1 }]);
});

test('hang neither executes nor answers the call until the client disconnects', async () => {
  const key = freshKey();
  const client = new AbortController();
  await addFault({ rail: 'BRE_B', operation: 'register', fault: 'hang' });
  const outcome = toOutcome(register(key, client.signal));
  await waitUntilApplied();
  // Another call completes in the meantime.
  expect((await breb('keys/query', { keys: [key] })).body).toMatchObject({
    results: [{ status: 'NOT_FOUND' }],
  });
  client.abort();
  expect(await outcome).toBe('aborted');
  expect(await keyStored(key)).toBe(false);
});

test('removing a hang fault closes its hung calls, even when its times are used up', async () => {
  const key = freshKey();
  const id = await addFault({ rail: 'BRE_B', operation: 'register', fault: 'hang', times: 1 });
  const outcome = toOutcome(register(key));
  await waitUntilApplied();
  expect((await register(freshKey())).status).toBe(200);
  await call(simulator, 'DELETE', `/control/faults/${id}`);
  expect(await outcome).toBe('aborted');
  expect(await keyStored(key)).toBe(false);
});

test('reset closes the connection without executing the call', async () => {
  const key = freshKey();
  await addFault({ rail: 'BRE_B', operation: 'register', fault: 'reset', times: 1 });
  await expect(register(key)).rejects.toThrow('fetch failed');
  expect(await keyStored(key)).toBe(false);
  expect((await register(key)).status).toBe(200);
});

test('lost-answer executes the call and closes the connection; a later query returns the real state', async () => {
  const key = freshKey();
  await addFault({ rail: 'BRE_B', operation: 'register', fault: 'lost-answer', times: 1 });
  await addFault({ rail: 'PSE', operation: 'create', fault: 'lost-answer', times: 1 });
  await expect(register(key)).rejects.toThrow('fetch failed');
  expect((await breb('keys/query', { keys: [key] })).body).toMatchObject({
    results: [{ status: 'REGISTERED' }],
  });

  await expect(pseCall(simulator, 'transactions', pseOrder('ref-lost'))).rejects.toThrow('fetch failed');
  const { body } = await pseCall(simulator, 'transactions/query', { references: ['ref-lost'] });
  const [found] = (body as { results: { state: string; transactionId: string }[] }).results;
  expect(found?.state).toBe('PENDING');
  const again = await pseCall(simulator, 'transactions', pseOrder('ref-lost'));
  expect(again.body).toMatchObject({ returnCode: 'SUCCESS', transactionId: found?.transactionId });
});

test('GET /control/stats counts calls, refused calls and faulted calls by operation', async () => {
  const stats = async () => (await call(simulator, 'GET', '/control/stats')).body as Stats;
  type Stats = Record<'calls' | 'refused' | 'faulted', { PSE: { banks: number } }>;
  const before = await stats();
  await pseCall(simulator, 'banks');
  await call(simulator, 'GET', '/pse/v1/banks');
  await addFault({ rail: 'PSE', operation: 'banks', fault: 'down', times: 1 });
  await pseCall(simulator, 'banks');
  await addFault({ rail: 'PSE', operation: 'banks', fault: 'slow', ms: 1, times: 1 });
  await pseCall(simulator, 'banks');
  const after = await stats();
  expect(after.calls.PSE.banks - before.calls.PSE.banks).toBe(4);
  expect(after.refused.PSE.banks - before.refused.PSE.banks).toBe(1);
  expect(after.faulted.PSE.banks - before.faulted.PSE.banks).toBe(2);
});

test('adding a fault with an invalid combination or an unknown field returns 400, and removing an unknown fault returns 404', async () => {
  const wrong = [
    { rail: 'PSE', operation: 'register', fault: 'down' },
    { rail: 'BRE_B', operation: 'create', fault: 'down' },
    { rail: 'VISA', operation: '*', fault: 'down' },
    { rail: 'PSE', operation: '*', fault: 'explode' },
    { rail: 'PSE', operation: '*', fault: 'down', times: 0 },
    { rail: 'PSE', operation: '*', fault: 'down', tmies: 1 },
    { rail: 'BRE_B', operation: 'resolve', fault: 'rejected' },
    { rail: 'BRE_B', operation: 'resolve', fault: 'rejected', code: '9999' },
    { rail: 'BRE_B', operation: 'resolve', fault: 'down', code: '5000' },
    { rail: 'BRE_B', operation: 'order', fault: 'rejected', code: '5000' },
    { rail: 'BRE_B', operation: 'notice', fault: 'rejected', code: '5000' },
  ];
  for (const body of wrong) {
    const reply = await call(simulator, 'POST', '/control/faults', { body });
    expect(reply).toEqual({ status: 400, body: { code: 'BAD_REQUEST', message: expect.any(String) } });
  }
  expect((await call(simulator, 'DELETE', '/control/faults/none')).status).toBe(404);
  expect(await listed()).toEqual([]);
});
