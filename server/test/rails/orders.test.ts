import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { freePort } from '../../../scripts/stack/free-port.ts';
import { startSimulator } from '../../../scripts/stack/processes.ts';
import { expectWithin, stopwatch } from '../../../scripts/testing/expect-within.ts';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import { cents } from '../../src/kit/money.ts';
import { readReceiverKey } from '../../src/payouts/receiver-key.ts';
import { brebNotice } from '../../src/rails/breb/translate.ts';
import { payoutFailpoints, withPayoutFailpoints } from '../../src/rails/with-failpoints.ts';
import { type FaultyPeer, json, startFaultyPeer } from '../harness/faulty-peer.ts';
import { afterToken, connectBreb, payOrder } from '../harness/rails-under-test.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { until } from '../harness/until.ts';
import { useProductionDeadlines, waitPatientlyForAnswers } from './patient-answers.ts';

waitPatientlyForAnswers();

let folder: string;
let simulatorProcess: Child & { readonly url: string };
let simulator: SimulatorControl;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'caudal-orders-'));
  simulatorProcess = await startSimulator(folder);
  simulator = new SimulatorControl(simulatorProcess.url);
});
afterAll(async () => {
  await simulatorProcess?.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Connector = ReturnType<typeof connectBreb>;
const opened: Connector[] = [];
const peers: FaultyPeer[] = [];
afterEach(async () => {
  await simulator.clearFaults();
  await Promise.all(opened.splice(0).map((connector) => connector.disconnect()));
  await Promise.all(peers.splice(0).map((peer) => peer.stop()));
});

function connect(url = simulatorProcess.url, secret?: string): Connector {
  const connector = secret === undefined ? connectBreb(url) : connectBreb(url, secret);
  opened.push(connector);
  return connector;
}

async function startNode(reply: Parameters<typeof startFaultyPeer>[0]): Promise<FaultyPeer> {
  const started = await startFaultyPeer(afterToken(reply));
  peers.push(started);
  return started;
}

/** Control calls that `SimulatorControl` does not cover. */
async function control<T>(path: string, body?: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const post = body && { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${simulatorProcess.url}/control${path}`, post ?? {});
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const findExecutions = async (endToEndId: string) =>
  (await control<{ endToEndId: string; executionId: string }[]>('/executions')).filter(
    (execution) => execution.endToEndId === endToEndId,
  );

async function queryOrder(connector: Connector, endToEndId: string) {
  const [answer] = await connector.queryOrders([endToEndId]);
  if (answer?.kind !== 'yes') throw new Error(`${endToEndId} is ${JSON.stringify(answer)}`);
  return answer.value;
}

async function waitForFinalStatus(connector: Connector, endToEndId: string) {
  await until('the order has ended', async () => {
    return (await queryOrder(connector, endToEndId)).state !== 'processing';
  });
  return queryOrder(connector, endToEndId);
}

const accepted = { kind: 'yes', value: 'accepted' };
const duplicate = { kind: 'yes', value: 'duplicate' };
const unknown = expect.objectContaining({ kind: 'unknown', cause: expect.stringMatching(/./) as string });
const requestBodies = ({ calls }: FaultyPeer) =>
  calls.filter(({ path }) => path !== '/breb/oauth/token').map(({ body }) => body);

describe('the Bre-B connector for payouts', () => {
  it('declares complete and valid capabilities', () => {
    const { capabilities } = connect();
    expect(capabilities).toMatchObject({
      rail: 'BRE_B',
      maxPayBatch: 100,
      maxStatusBatch: 500,
      resolutionMs: 600_000,
    });
    expect(capabilities).toMatchObject({ rejectsDuplicateOrders: true, maxProcessingMs: 20_000 });
  });

  it('sends an order that is accepted and then settled with amount and execution', async () => {
    const connector = connect();
    const order = payOrder({ amount: cents(4_980_005n) });
    expect(await connector.pay([order])).toEqual([accepted]);
    const status = await waitForFinalStatus(connector, order.endToEndId);
    const [execution] = await findExecutions(order.endToEndId);
    expect(status).toEqual({
      endToEndId: order.endToEndId,
      state: 'settled',
      executionId: execution?.executionId,
      amount: 4_980_005n,
      errorCode: null,
    });
  });

  it('sends the payee key, the payer name and the payer NIT', async () => {
    const order = payOrder({ amount: cents(5n), resolutionId: 'R1', key: '3001234567' });
    const peer = await startNode(() =>
      json({ results: [{ endToEndId: order.endToEndId, status: 'PROCESSING' }] }),
    );
    expect(await connect(peer.url).pay([order])).toEqual([accepted]);
    expect(peer.calls.at(-1)?.path).toBe('/breb/v1/orders');
    expect(requestBodies(peer)).toEqual([
      {
        orders: [
          {
            internalId: order.payoutId,
            endToEndId: order.endToEndId,
            resolutionId: 'R1',
            initiation: 'KEY',
            amount: '0.05',
            currency: 'COP',
            creditor: { key: '3001234567' },
            payer: { documentType: 'NIT', documentNumber: '900000001', name: 'Comercio SAS' },
          },
        ],
      },
    ]);
  });

  it('pays and queries full batches in one call and returns answers in order', async () => {
    const connector = connect();
    const orders = Array.from({ length: connector.capabilities.maxPayBatch }, () => payOrder());
    expect(await connector.pay(orders)).toEqual(orders.map(() => accepted));
    const ids = Array.from({ length: connector.capabilities.maxStatusBatch }, () => payOrder().endToEndId);
    ids.splice(250, orders.length, ...orders.map(({ endToEndId }) => endToEndId));
    const answers = await connector.queryOrders(ids);
    expect(answers.map((answer) => answer.kind === 'yes' && answer.value.endToEndId)).toEqual(ids);
    expect(
      answers.filter((answer) => answer.kind === 'yes' && answer.value.state === 'not_found'),
    ).toHaveLength(ids.length - orders.length);
  });

  it('executes an order once however many processes send it', async () => {
    const connectors = [connect(), connect(), connect()];
    const order = payOrder();
    const answers = await Promise.all(
      [...connectors, ...connectors].map((connector) => connector.pay([order])),
    );
    expect(
      answers.flat().filter((answer) => answer.kind === 'yes' && answer.value === 'accepted'),
    ).toHaveLength(1);
    expect(
      answers.flat().filter((answer) => answer.kind === 'yes' && answer.value === 'duplicate'),
    ).toHaveLength(5);
    await waitForFinalStatus(connect(), order.endToEndId);
    expect(await connect().pay([order])).toEqual([duplicate]);
    expect(await findExecutions(order.endToEndId)).toHaveLength(1);
  });

  it('returns unknown for an order whose answer was lost; the retry is a duplicate, executed once', async () => {
    const connector = connect();
    const order = payOrder({ key: '@TESTLOSTANSWER' });
    expect(await connector.pay([order])).toEqual([unknown]);
    expect(await connector.pay([order])).toEqual([duplicate]);
    expect(await waitForFinalStatus(connector, order.endToEndId)).toMatchObject({ state: 'settled' });
    expect(await findExecutions(order.endToEndId)).toHaveLength(1);
  });

  it.each([
    ['an invalid key', payOrder({ key: 'two words' }), 'KEY_INVALID', '4000'],
    [
      'an amount above the network limit',
      payOrder({ amount: cents(1_155_200_001n) }),
      'NETWORK_LIMIT_EXCEEDED',
      '4013',
    ],
  ])(
    'returns a rejection of %s for that order only, and the node does not keep it',
    async (_what, bad, errorCode, railCode) => {
      const connector = connect();
      const [first, last] = [payOrder(), payOrder()];
      expect(await connector.pay([first, bad, last])).toEqual([
        accepted,
        { kind: 'no', errorCode, railCode, elsewhere: false },
        accepted,
      ]);
      expect(await queryOrder(connector, bad.endToEndId)).toMatchObject({ state: 'not_found' });
    },
  );

  it('splits a batch with an order that the node cannot parse, and pays the others once', async () => {
    const connector = connect();
    const orders = Array.from({ length: 7 }, (_, at) => payOrder(at === 4 ? { payoutId: 'no uuid' } : {}));
    const answers = await connector.pay(orders);
    expect(answers).toEqual(orders.map((_, at) => (at === 4 ? unknown : accepted)));
    await Promise.all(
      orders.toSpliced(4, 1).map(({ endToEndId }) => waitForFinalStatus(connector, endToEndId)),
    );
    for (const { endToEndId } of orders.toSpliced(4, 1))
      expect(await findExecutions(endToEndId)).toHaveLength(1);
  });

  it('does not split a batch for a node that does not reject duplicates', async () => {
    let orderCalls = 0;
    const peer = await startNode(async () => {
      orderCalls += 1;
      return json({ code: 'BAD_REQUEST' }, 400);
    });
    const connector = connectBreb(peer.url, undefined, false);
    expect(await connector.pay([payOrder(), payOrder()])).toEqual([unknown, unknown]);
    expect(orderCalls).toBe(1);
    await connector.disconnect();
  });

  it.each(['down', 'reset', 'lost-answer'] as const)(
    'returns unknown, never no, under fault "%s", and that the node may have the orders',
    async (fault) => {
      const connector = connect();
      for (const operation of ['order', 'order-query', 'resolve'])
        await simulator.addFault({ rail: 'BRE_B', operation, fault });
      expect(await connector.pay([payOrder(), payOrder()])).toMatchObject([
        { kind: 'unknown', sent: true },
        { kind: 'unknown', sent: true },
      ]);
      expect(await connector.queryOrders([payOrder().endToEndId])).toEqual([unknown]);
      expect(await connector.resolve('@TESTOK')).toEqual(unknown);
    },
  );

  it('returns unknown, and that the node has not received the call, when it refuses connections or our credentials', async () => {
    const unreachable = connect(`http://127.0.0.1:${await freePort()}`);
    const unsent = { kind: 'unknown', cause: expect.stringMatching(/./) as string, sent: false };
    for (const connector of [unreachable, connect(simulatorProcess.url, 'not-the-secret')]) {
      expect(await connector.pay([payOrder()])).toEqual([unsent]);
      expect(await connector.queryOrders([payOrder().endToEndId])).toEqual([unsent]);
      expect(await connector.resolve('@TESTOK')).toEqual(unsent);
    }
  });

  it('returns that the node may have an order when it rejects the token and then refuses connections', async () => {
    const peer = await startNode(() => {
      peer.stopListening();
      return { ...json({ code: 'UNAUTHORIZED' }, 401), headers: { connection: 'close' } };
    });
    expect(await connect(peer.url).pay([payOrder()])).toMatchObject([{ kind: 'unknown', sent: true }]);
    expect(requestBodies(peer)).toHaveLength(1);
  });

  it('returns not_now with the wait that the node asks for when it is above its rate limit, and nothing arrives', async () => {
    const connector = connect();
    for (const operation of ['order', 'order-query', 'resolve'])
      await simulator.addFault({ rail: 'BRE_B', operation, fault: 'rate-limited', times: 1 });
    const notNow = { kind: 'not_now', cause: 'the node answered 429', retryAfterMs: 1000 };
    const order = payOrder();
    expect(await connector.pay([order, payOrder()])).toEqual([notNow, notNow]);
    expect(await connector.queryOrders([order.endToEndId])).toEqual([notNow]);
    expect(await connector.resolve('@TESTOK')).toEqual(notNow);
    expect(await queryOrder(connector, order.endToEndId)).toMatchObject({ state: 'not_found' });
  });

  it('returns unknown for the parts of a split batch, which have been sent before', async () => {
    let calls = 0;
    const peer = await startNode(() => json({}, (calls += 1) === 1 ? 400 : 429));
    expect(await connect(peer.url).pay([payOrder(), payOrder()])).toMatchObject([
      { kind: 'unknown', sent: true },
      { kind: 'unknown', sent: true },
    ]);
    expect(calls).toBe(3);
  });

  it('sends nothing after its deadline while splitting a batch', async () => {
    useProductionDeadlines();
    let rejections = 0;
    const peer = await startNode(async () => {
      rejections += 1;
      await sleep(1500);
      return json({ code: 'BAD_REQUEST' }, 400);
    });
    const connector = connect(peer.url);
    const orders = Array.from({ length: 32 }, () => payOrder());
    const elapsed = stopwatch();
    expect(await connector.pay(orders)).toEqual(orders.map(() => unknown));
    expectWithin('the split batch', elapsed(), connector.capabilities.answerWithinMs + 1500);
    expect(rejections).toBeLessThanOrEqual(4);
  });
});

describe('the status of an order', () => {
  it.each([
    ['@TESTDECLINED', 'ACCOUNT_NOT_FOUND'],
    ['@TESTSUSPENDED', 'KEY_SUSPENDED'],
    ['@TESTNOTFOUND', 'KEY_NOT_FOUND'],
  ])('to %s is a rejection with %s', async (key, errorCode) => {
    const connector = connect();
    const order = payOrder({ key });
    expect(await connector.pay([order])).toEqual([accepted]);
    expect(await waitForFinalStatus(connector, order.endToEndId)).toEqual({
      endToEndId: order.endToEndId,
      state: 'rejected',
      executionId: null,
      amount: null,
      errorCode,
    });
    expect(await findExecutions(order.endToEndId)).toEqual([]);
  });

  it('is RECEIVER_MISMATCH when the key holder changed after the lookup', async () => {
    const connector = connect();
    const key = '@T4810253697';
    await control('/directory', { key });
    const lookup = await connector.resolve(key);
    if (lookup.kind !== 'yes') throw new Error('the key was not found');
    const { resolutionId } = lookup.value;
    const [before, after] = [payOrder({ key, resolutionId }), payOrder({ key, resolutionId })];
    await connector.pay([before]);
    expect(await waitForFinalStatus(connector, before.endToEndId)).toMatchObject({ state: 'settled' });
    await control('/directory', { key, holder: { account: { type: 'CAHO', number: '1' } } });
    await connector.pay([after]);
    expect(await waitForFinalStatus(connector, after.endToEndId)).toMatchObject({
      errorCode: 'RECEIVER_MISMATCH',
    });
  });

  it('is the same in the notification and in a query', async () => {
    const receiver = await startFaultyPeer(() => json({ accepted: 1 }));
    peers.push(receiver);
    await simulator.setNotificationUrls([receiver.url]);
    const connector = connect();
    const [good, bad] = [payOrder(), payOrder({ key: '@TESTDECLINED' })];
    await connector.pay([good, bad]);
    const { executionId } = await waitForFinalStatus(connector, good.endToEndId);
    const findNotice = (reference: string) =>
      receiver.calls
        .flatMap(({ body }) => (body as { notices: unknown[] }).notices.map(brebNotice))
        .find((notice) => notice?.reference === reference);
    await until('both notifications arrived', async () =>
      [good, bad].every(({ endToEndId }) => findNotice(endToEndId) !== undefined),
    );
    expect(findNotice(good.endToEndId)).toMatchObject({
      about: 'payout',
      update: { kind: 'paid', executionId, amount: good.amount },
    });
    expect(findNotice(bad.endToEndId)).toMatchObject({
      about: 'payout',
      update: { kind: 'declined', errorCode: 'ACCOUNT_NOT_FOUND' },
    });
    await simulator.setNotificationUrls([]);
  });
});

describe('resolve', () => {
  it('returns the key holder', async () => {
    expect(await connect().resolve('@TESTOK')).toEqual({
      kind: 'yes',
      value: {
        resolutionId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        name: 'JANETH SMITH PRUEBA',
        documentType: 'CC',
        documentNumber: '1000000099',
        bankName: 'BANCO DE PRUEBAS',
        accountNumber: '000900816987',
      },
    });
  });

  it('names the bank by node and NIT when the directory has no name', async () => {
    const key = '79000111';
    await control('/directory', { key, holder: { participant: { nit: '900000003', node: 'ENT' } } });
    expect(await connect().resolve(key)).toMatchObject({ value: { bankName: 'ENT 900000003' } });
  });

  it.each(['Ana.Pena@Example.com', '+573009998877', '@anapena', '0012345678', 'ab79'])(
    'finds %s in its canonical form',
    async (text) => {
      await control('/directory', { key: text });
      expect(await connect().resolve(readReceiverKey(text)?.key ?? '')).toMatchObject({ kind: 'yes' });
    },
  );

  it.each([
    ['@TESTNOTFOUND', 'KEY_NOT_FOUND', '0004'],
    ['@TESTSUSPENDED', 'KEY_SUSPENDED', '0005'],
    ['two words', 'KEY_INVALID', '4000'],
  ])('of %s returns no with %s', async (key, errorCode, railCode) => {
    expect(await connect().resolve(key)).toEqual({ kind: 'no', errorCode, railCode, elsewhere: false });
  });

  it.each(['5000', '5001'])('returns unknown when the directory fails with %s', async (code) => {
    await control('/faults', { rail: 'BRE_B', operation: 'resolve', fault: 'rejected', code, times: 1 });
    expect(await connect().resolve('@TESTOK')).toEqual({
      kind: 'unknown',
      cause: `the directory answered ${code}`,
      sent: true,
    });
    expect(await connect().resolve('@TESTOK')).toMatchObject({ kind: 'yes' });
  });

  it.each([
    ['an error status with a valid body', json({ code: '0004' }, 500)],
    ['a 404', json({ code: '0004' }, 404)],
    ['a 400', json({ code: '4000' }, 400)],
    ['an HTML page with 422', { status: 422, type: 'text/html', text: '<!doctype html>' }],
    ['an empty body with 422', { status: 422, text: '' }],
    ['invalid JSON with 200', { text: 'hello' }],
    ['a body that is too large', { text: JSON.stringify({ names: 'x'.repeat(1 << 17) }) }],
  ])('returns unknown after %s', async (_what, reply) => {
    const peer = await startNode(() => reply);
    expect(await connect(peer.url).resolve('3001234567')).toEqual(unknown);
    expect(requestBodies(peer)).toEqual([{ key: '3001234567' }]);
  });

  it('renews its token like every call', async () => {
    let callsUntilRejection = 1;
    const peer = await startNode(() => {
      callsUntilRejection -= 1;
      return callsUntilRejection === 0 ? { status: 401, text: '' } : json({ code: '0004' }, 422);
    });
    expect(await connect(peer.url).resolve('@NOBODY')).toMatchObject({ errorCode: 'KEY_NOT_FOUND' });
  });
});

describe('payout failpoints', () => {
  it('exist before and after each call, and a wrapped connector answers as before', async () => {
    const connector = connect();
    expect(payoutFailpoints(connector)).toEqual([
      'BRE_B pay: before call',
      'BRE_B pay: after call',
      'BRE_B queryOrders: before call',
      'BRE_B queryOrders: after call',
      'BRE_B resolve: before call',
      'BRE_B resolve: after call',
    ]);
    const wrapped = withPayoutFailpoints(connector);
    const order = payOrder();
    expect(wrapped.capabilities).toBe(connector.capabilities);
    expect(await wrapped.pay([order])).toEqual([accepted]);
    expect(await wrapped.queryOrders([order.endToEndId])).toMatchObject([{ kind: 'yes' }]);
    expect(await wrapped.resolve('@TESTOK')).toMatchObject({ kind: 'yes' });
  });

  it.each([
    ['before', 'not_found'],
    ['after', 'processing'],
  ])('kill the process %s the call', async (side, state) => {
    const order = payOrder({ key: '@TESTTIMEOUT' });
    const source = new URL('../../src/', import.meta.url).href;
    const script = `
      import { armFailpoint } from '${source}kit/failpoint.ts';
      import { BrebConnector } from '${source}rails/breb/connector.ts';
      import { withPayoutFailpoints } from '${source}rails/with-failpoints.ts';
      armFailpoint('BRE_B pay: ${side} call');
      const timeout = AbortSignal.timeout.bind(AbortSignal);
      AbortSignal.timeout = () => timeout(${PATIENCE_MS});
      const options = { url: '${simulatorProcess.url}/breb', clientId: 'caudal-dev', clientSecret: 'dev-breb-secret', payerDocument: '900000001', rejectsDuplicateOrders: true, maxProcessingMs: 20000 };
      const order = ${JSON.stringify({ ...order, amount: null })};
      await withPayoutFailpoints(new BrebConnector(options)).pay([{ ...order, amount: 100n }]);`;
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      timeout: 2 * PATIENCE_MS,
    });
    expect(signal).toBe('SIGKILL');
    expect(await queryOrder(connect(), order.endToEndId)).toMatchObject({ state });
  });
});
