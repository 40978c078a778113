import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { freePort } from '../../../scripts/stack/free-port.ts';
import { startSimulator } from '../../../scripts/stack/processes.ts';
import { expectWithin, stopwatch } from '../../../scripts/testing/expect-within.ts';
import { cents } from '../../src/kit/money.ts';
import { ERROR_CODES, RAILS } from '../../src/rails/contract.ts';
import { type FaultyPeer, json, type PeerReply, startFaultyPeer } from '../harness/faulty-peer.ts';
import { CUSTOMER } from '../harness/payin-requests.ts';
import { afterToken, BREB, PSE, type RailUnderTest } from '../harness/rails-under-test.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { until } from '../harness/until.ts';
import { waitPatientlyForAnswers } from './patient-answers.ts';

let folder: string;
let simulatorProcess: Child & { readonly url: string };
let simulator: SimulatorControl;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'caudal-rails-'));
  simulatorProcess = await startSimulator(folder);
  simulator = new SimulatorControl(simulatorProcess.url);
});
afterAll(async () => {
  await simulatorProcess?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const opened: { disconnect(): Promise<void> }[] = [];
const peers: FaultyPeer[] = [];
/** For every group except the concurrent one, whose tests must not clear each other's faults and measure deadlines. */
function setUpEach(): void {
  waitPatientlyForAnswers();
  afterEach(async () => {
    await simulator.clearFaults();
    await Promise.all(opened.splice(0).map((connector) => connector.disconnect()));
    await Promise.all(peers.splice(0).map((startPeer) => startPeer.stop()));
  });
}

type Connector = ReturnType<RailUnderTest['connect']>;

function connect(rail: RailUnderTest, url = simulatorProcess.url, secret?: string): Connector {
  const connector = secret === undefined ? rail.connect(url) : rail.connect(url, secret);
  opened.push(connector);
  return connector;
}

async function startPeer(reply: Parameters<typeof startFaultyPeer>[0]): Promise<FaultyPeer> {
  const started = await startFaultyPeer(reply);
  peers.push(started);
  return started;
}

const unknown = expect.objectContaining({ kind: 'unknown', cause: expect.stringMatching(/./) as string });
const yes = expect.objectContaining({ kind: 'yes' });
const statusAnswer = (state: string) => ({
  kind: 'yes',
  value: expect.objectContaining({ state, payments: [], errorCode: null }) as object,
});

describe.each([BREB, PSE])('the $rail connector', (rail) => {
  setUpEach();

  it('declares complete and valid capabilities', () => {
    const { capabilities } = connect(rail);
    expect(capabilities.rail).toBe(rail.rail);
    expect(RAILS).toContain(capabilities.rail);
    for (const limit of [capabilities.maxOpenBatch, capabilities.maxStatusBatch]) {
      expect(Number.isInteger(limit)).toBe(true);
      expect(limit).toBeGreaterThanOrEqual(1);
    }
    expect(Number.isInteger(capabilities.maxCloseBatch)).toBe(true);
    expect(capabilities.maxCloseBatch).toBeGreaterThanOrEqual(0);
    for (const flag of ['opensWhilePayerWaits', 'needsPayer'] as const)
      expect(typeof capabilities[flag]).toBe('boolean');
    // A lease on due work lasts 20 s: a longer call would run twice at the same time.
    expect(capabilities.answerWithinMs).toBeGreaterThan(0);
    expect(capabilities.answerWithinMs).toBeLessThan(20_000);
    // The server must not trust a "not found" while the order may still be in flight.
    expect(capabilities.maxProcessingMs).toBeGreaterThanOrEqual(capabilities.answerWithinMs);
  });

  it('opens maxOpenBatch orders in one call and returns answers in order', async () => {
    const connector = connect(rail);
    const orders = Array.from({ length: connector.capabilities.maxOpenBatch }, () => rail.order());
    const answers = await connector.open(orders);
    expect(answers).toHaveLength(orders.length);
    expect(answers.map((answer) => answer.kind === 'yes' && answer.value.reference)).toEqual(
      orders.map((order) => order.reference),
    );
  });

  it('queries maxStatusBatch references in one call and returns answers in order', async () => {
    const connector = connect(rail);
    const known = rail.order();
    await connector.open([known]);
    const references = Array.from(
      { length: connector.capabilities.maxStatusBatch },
      () => rail.order().reference,
    );
    references[references.length >> 1] = known.reference;
    const answers = await connector.queryStatus(references);
    expect(answers.map((answer) => answer.kind === 'yes' && answer.value.reference)).toEqual(references);
    expect(answers.map((answer) => answer.kind === 'yes' && answer.value.state)).toEqual(
      references.map((reference) => (reference === known.reference ? 'open' : 'not_found')),
    );
  });

  it('returns a page URL exactly when opensWhilePayerWaits is set', async () => {
    const connector = connect(rail);
    const [answer] = await connector.open([rail.order()]);
    const page = answer?.kind === 'yes' ? answer.value.pageUrl : undefined;
    if (connector.capabilities.opensWhilePayerWaits) expect(page).toMatch(/^https?:\/\//);
    else expect(page).toBeNull();
  });

  it('opens without a payer exactly when needsPayer is not set', async () => {
    const connector = connect(rail);
    const attempt = connector.open([rail.order({ payer: null })]);
    if (connector.capabilities.needsPayer) await expect(attempt).rejects.toThrow('payer');
    else await expect(attempt).resolves.toEqual([yes]);
  });

  it('returns the same answer when the same order is opened again', async () => {
    const connector = connect(rail);
    const order = rail.order();
    const first = await connector.open([order]);
    const before = rail.countCollections(await simulator.stats());
    const second = await connector.open([order]);
    expect(first).toEqual([yes]);
    expect(second).toEqual(first);
    expect(rail.countCollections(await simulator.stats())).toBe(before);
  });

  it('opens one collection when several processes open the same order in parallel', async () => {
    const connectors = [connect(rail), connect(rail), connect(rail)];
    const order = rail.order();
    const before = rail.countCollections(await simulator.stats());
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => connectors.map((connector) => connector.open([order]))).flat(),
    );
    expect(answers[0]).toEqual([yes]);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(rail.countCollections(await simulator.stats())).toBe(before + 1);
  });

  it('finds an opened order and returns not_found for an unknown one', async () => {
    const connector = connect(rail);
    const order = rail.order();
    const [answer] = await connector.open([order]);
    const [found, missing] = await connector.queryStatus([order.reference, rail.order().reference]);
    expect(found).toEqual(statusAnswer('open'));
    expect(missing).toEqual(statusAnswer('not_found'));
    // On a rail with a page, the status contains it too: the server recovers a lost answer this way.
    const page = answer?.kind === 'yes' && answer.value.pageUrl !== null ? answer.value : null;
    expect(found?.kind === 'yes' && found.value.opened).toEqual(page);
    expect(missing?.kind === 'yes' && missing.value.opened).toBeNull();
  });

  it.each(['down', 'reset', 'lost-answer'] as const)(
    'returns unknown, never no, under the rail fault "%s"',
    async (fault) => {
      const connector = connect(rail);
      const { open, query } = rail.operations;
      await simulator.addFault({ rail: rail.rail, operation: open, fault });
      await simulator.addFault({ rail: rail.rail, operation: query, fault });
      expect(await connector.open([rail.order()])).toEqual([unknown]);
      const references = [rail.order().reference, rail.order().reference];
      expect(await connector.queryStatus(references)).toEqual([unknown, unknown]);
    },
  );

  it('returns unknown when the rail refuses connections', async () => {
    const connector = connect(rail, `http://127.0.0.1:${await freePort()}`);
    expect(await connector.open([rail.order()])).toEqual([unknown]);
    expect(await connector.queryStatus([rail.order().reference])).toEqual([unknown]);
  });

  it('returns yes for a retry of an order whose answer was lost, and the rail has it once', async () => {
    const connector = connect(rail);
    const order = rail.order();
    const before = rail.countCollections(await simulator.stats());
    await simulator.addFault({
      rail: rail.rail,
      operation: rail.operations.open,
      fault: 'lost-answer',
      times: 1,
    });
    expect(await connector.open([order])).toEqual([unknown]);
    expect(await connector.queryStatus([order.reference])).toEqual([statusAnswer('open')]);
    expect(await connector.open([order])).toEqual([yes]);
    expect(rail.countCollections(await simulator.stats())).toBe(before + 1);
  });

  it('opens after a call that was cut before it reached the rail', async () => {
    const connector = connect(rail);
    const order = rail.order();
    await simulator.addFault({ rail: rail.rail, operation: rail.operations.open, fault: 'reset', times: 1 });
    expect(await connector.open([order])).toEqual([unknown]);
    expect(await connector.queryStatus([order.reference])).toEqual([statusAnswer('not_found')]);
    expect(await connector.open([order])).toEqual([yes]);
  });

  it('returns that the rail has not received the call only when no connection was established', async () => {
    const unreachable = connect(rail, `http://127.0.0.1:${await freePort()}`);
    expect(await unreachable.open([rail.order()])).toMatchObject([{ kind: 'unknown', sent: false }]);
    for (const fault of ['reset', 'lost-answer', 'down'] as const) {
      await simulator.addFault({ rail: rail.rail, operation: rail.operations.open, fault, times: 1 });
      expect(await connect(rail).open([rail.order()])).toMatchObject([{ kind: 'unknown', sent: true }]);
    }
  });

  it('returns not_now, and nothing was made, when the rail is above its rate limit', async () => {
    const connector = connect(rail);
    const order = rail.order();
    const before = rail.countCollections(await simulator.stats());
    for (const operation of [rail.operations.open, rail.operations.query])
      await simulator.addFault({ rail: rail.rail, operation, fault: 'rate-limited', times: 1 });
    const notNow = { kind: 'not_now', cause: expect.stringContaining('429') as string, retryAfterMs: 1000 };
    expect(await connector.open([order])).toEqual([notNow]);
    expect(await connector.queryStatus([order.reference])).toEqual([notNow]);
    expect(await connector.queryStatus([order.reference])).toEqual([statusAnswer('not_found')]);
    expect(rail.countCollections(await simulator.stats())).toBe(before);
  });

  it('returns unknown, never no, when the rail rejects our credentials', async () => {
    const connector = connect(rail, simulatorProcess.url, 'not-the-secret');
    expect(await connector.open([rail.order()])).toEqual([unknown]);
    expect(await connector.queryStatus([rail.order().reference])).toEqual([unknown]);
  });

  it.each(unreadableReplies())('returns unknown for an answer that is $what', async ({ reply }) => {
    const faultyPeer = await startPeer(afterToken(() => reply));
    const connector = connect(rail, faultyPeer.url);
    expect(await connector.open([rail.order()])).toEqual([unknown]);
    const references = [rail.order().reference, rail.order().reference];
    expect(await connector.queryStatus(references)).toEqual([unknown, unknown]);
    // Two calls. A bulk rail that answers 400 to a call of two gets each part once more, without a loop.
    const calls = faultyPeer.calls.filter((call) => !call.path.endsWith('/oauth/token')).length;
    expect(calls).toBe(reply.status === 400 ? 4 : 2);
  });

  it('returns unknown for references that an answer omits, and reads the others', async () => {
    const [known, left] = [rail.order().reference, rail.order().reference];
    const short = await startPeer(afterToken(() => json({ results: [rail.statusResponse(known)] })));
    const answers = await connect(rail, short.url).queryStatus([left, known]);
    expect(answers).toEqual([unknown, statusAnswer('open')]);
  });

  it('returns unknown when an answer contains references that were not queried', async () => {
    const other = await startPeer(
      afterToken(() => json({ results: [rail.statusResponse(rail.order().reference)] })),
    );
    expect(await connect(rail, other.url).queryStatus([rail.order().reference])).toEqual([unknown]);
  });

  it('trusts an error status more than the body', async () => {
    const success = {
      returnCode: 'SUCCESS',
      transactionId: 'T1',
      trazabilityCode: '1',
      bankUrl: 'https://bank.example/pay',
    };
    const order = rail.order();
    const results = [{ ...rail.statusResponse(order.reference), status: 'REGISTERED' }];
    const failing = await startPeer(afterToken(() => json({ ...success, results }, 500)));
    const connector = connect(rail, failing.url);
    expect(await connector.open([order])).toEqual([unknown]);
    expect(await connector.queryStatus([order.reference])).toEqual([unknown]);
  });

  it('recovers after a rail outage', async () => {
    const connector = connect(rail);
    await simulator.addFault({ rail: rail.rail, operation: '*', fault: 'down', times: 2 });
    expect(await connector.open([rail.order()])).toEqual([unknown]);
    expect(await connector.queryStatus([rail.order().reference])).toEqual([unknown]);
    expect(await connector.open([rail.order()])).toEqual([yes]);
  });
});

function unreadableReplies(): { what: string; reply: PeerReply }[] {
  const bodies: [string, string][] = [
    ['empty', ''],
    ['no JSON', 'hello'],
    ['truncated JSON', '{"results":[{"key":'],
    ['null', 'null'],
    ['a number', '42'],
    ['a text', '"REGISTERED"'],
    ['a bare list', '[]'],
    ['an empty object', '{}'],
    ['without any result', '{"results":[]}'],
    ['results that are no list', '{"results":{"0":{}}}'],
    ['a list of nulls', '{"results":[null,null]}'],
    ['results without members', '{"results":[{},{}]}'],
    ['an undocumented code', '{"returnCode":"MAYBE"}'],
    ['success without a page', '{"returnCode":"SUCCESS","transactionId":"T1","trazabilityCode":"1"}'],
    [
      'success with a page URL that is not HTTP',
      '{"returnCode":"SUCCESS","transactionId":"T1","trazabilityCode":"1","bankUrl":"javascript:alert(1)"}',
    ],
    ['too large', JSON.stringify({ results: ['x'.repeat(5 << 20)] })],
  ];
  return [
    ...bodies.map(([what, text]) => ({ what, reply: { text } })),
    {
      what: 'an HTML page with 200',
      reply: { type: 'text/html', text: '<!doctype html><title>Mantenimiento</title>' },
    },
    {
      what: 'an HTML page with 502',
      reply: { status: 502, type: 'text/html', text: '<h1>Bad Gateway</h1>' },
    },
    { what: 'a redirect', reply: { status: 302, headers: { location: '/elsewhere' }, text: '{}' } },
    { what: 'an empty 204', reply: { status: 204, text: '' } },
    { what: 'a JSON 400', reply: json({ code: 'BAD_REQUEST' }, 400) },
    { what: 'a JSON 404', reply: json({ code: 'NOT_FOUND' }, 404) },
    { what: 'a JSON 500', reply: json({ code: 'INTERNAL' }, 500) },
  ];
}

describe('rejections by the rail', () => {
  setUpEach();

  async function openRejected(rail: RailUnderTest, order: ReturnType<RailUnderTest['order']>) {
    const connector = connect(rail);
    const before = rail.countCollections(await simulator.stats());
    const [answer] = await connector.open([order]);
    expect(answer?.kind).toBe('no');
    if (answer?.kind !== 'no') throw new Error('not rejected');
    expect(ERROR_CODES).toContain(answer.errorCode);
    expect(answer.railCode).not.toBe('');
    expect(await connector.open([order]), 'a rejection is repeatable').toEqual([answer]);
    expect(rail.countCollections(await simulator.stats()), 'a rejection opens nothing').toBe(before);
    return answer.errorCode;
  }

  it('Bre-B rejects a key that is registered for another payin', async () => {
    const order = BREB.order();
    await connect(BREB).open([order]);
    expect(await openRejected(BREB, { ...order, payinId: randomUUID() })).toBe('RAIL_REJECTED');
    expect((await simulator.key(order.reference))?.internalId).toBe(order.payinId);
  });

  it('Bre-B rejects an invalid key', async () => {
    expect(await openRejected(BREB, BREB.order({ reference: '@no' }))).toBe('KEY_INVALID');
  });

  it('Bre-B registers the other keys of the call when it rejects one', async () => {
    const [first, last] = [BREB.order(), BREB.order()];
    const answers = await connect(BREB).open([first, BREB.order({ reference: '@no' }), last]);
    expect(answers.map((answer) => answer.kind)).toEqual(['yes', 'no', 'yes']);
    expect(await simulator.key(last.reference)).toMatchObject({ internalId: last.payinId });
  });

  it.each([
    ['an amount below 1,500 pesos', PSE.order({ amount: cents(149_999n) }), 'LIMIT_EXCEEDED'],
    ['an amount above the PSE limit', PSE.order({ amount: cents(999_999_999_999n) }), 'LIMIT_EXCEEDED'],
    [
      'a bank that is down',
      PSE.order({ payer: { ...CUSTOMER, idNumber: '1000000021' } }),
      'BANK_UNAVAILABLE',
    ],
  ] as const)('PSE rejects %s', async (_what, order, errorCode) => {
    expect(await openRejected(PSE, order)).toBe(errorCode);
    expect(await connect(PSE).queryStatus([order.reference])).toEqual([statusAnswer('not_found')]);
  });

  it('PSE rejects another amount under a known reference', async () => {
    const order = PSE.order();
    await connect(PSE).open([order]);
    expect(await openRejected(PSE, { ...order, amount: cents(5_000_000n) })).toBe('RAIL_REJECTED');
    expect((await simulator.transaction(order.reference))?.amount).toBe('49800.00');
  });

  it('PSE accepts the smallest amount', async () => {
    expect(await connect(PSE).open([PSE.order({ amount: cents(150_000n) })])).toEqual([yes]);
  });
});

describe('open sends to the rail', () => {
  setUpEach();

  it('for a key: amount in decimal pesos, expiry, payin and payer', async () => {
    const order = BREB.order({ amount: cents(5n) });
    await connect(BREB).open([order]);
    expect(await simulator.key(order.reference)).toMatchObject({
      amount: '0.05',
      internalId: order.payinId,
      expiresAt: order.expiresAt.toISOString(),
      payer: { documentType: 'CC', documentNumber: CUSTOMER.idNumber, name: CUSTOMER.name },
    });
  });

  it('for a bank transaction: bank, person type, amount, expiry, payer and return URL', async () => {
    const bank = { code: 'CO_NEQUI', business: true, returnUrl: 'https://pay.example/p/abc' };
    const payer = { ...CUSTOMER, idType: 'CO_NIT', idNumber: '900373913' };
    const order = PSE.order({ bank, payer });
    await connect(PSE).open([order]);
    expect(await simulator.transaction(order.reference)).toMatchObject({
      bankCode: '1507',
      personType: 1,
      returnUrl: bank.returnUrl,
      amount: '49800.00',
      expiresAt: order.expiresAt.toISOString(),
      payer: {
        documentType: 'NIT',
        documentNumber: '900373913',
        name: payer.name,
        email: payer.email,
        phone: payer.phone,
      },
    });
  });
});

// Only rails with capabilities.maxCloseBatch above zero: Bre-B.
describe('close', () => {
  setUpEach();

  it('throws on a rail that cannot close', async () => {
    const connector = connect(PSE);
    expect(connector.capabilities.maxCloseBatch).toBe(0);
    await expect(connector.close([PSE.order().reference])).rejects.toThrow('close');
  });

  it('closes an opened key, and the status is closed', async () => {
    const connector = connect(BREB);
    const order = BREB.order();
    await connector.open([order]);
    expect(await connector.close([order.reference])).toEqual([statusAnswer('closed')]);
    expect(await connector.queryStatus([order.reference])).toEqual([statusAnswer('closed')]);
  });

  it('closes an unregistered key permanently, so that a late registration is rejected', async () => {
    const connector = connect(BREB);
    const order = BREB.order();
    expect(await connector.close([order.reference])).toEqual([statusAnswer('closed')]);
    const [late] = await connector.open([order]);
    expect(late).toEqual({ kind: 'no', errorCode: 'KEY_NOT_FOUND', railCode: '0004', elsewhere: false });
    expect(await connector.queryStatus([order.reference])).toEqual([statusAnswer('closed')]);
    expect(await simulator.key(order.reference)).toMatchObject({ status: 'CLOSED', registeredAt: null });
  });

  it('returns the same answer when repeated', async () => {
    const connector = connect(BREB);
    const order = BREB.order();
    await connector.open([order]);
    const first = await connector.close([order.reference]);
    const closedAt = (await simulator.key(order.reference))?.closedAt;
    expect(await connector.close([order.reference])).toEqual(first);
    expect((await simulator.key(order.reference))?.closedAt).toBe(closedAt);
  });

  it('closes maxCloseBatch keys in one call', async () => {
    const connector = connect(BREB);
    const references = Array.from(
      { length: connector.capabilities.maxCloseBatch },
      () => BREB.order().reference,
    );
    const answers = await connector.close(references);
    expect(answers.map((answer) => answer.kind === 'yes' && answer.value.reference)).toEqual(references);
  });

  it('returns unknown when the answer is lost, although the key is closed', async () => {
    const connector = connect(BREB);
    const order = BREB.order();
    await connector.open([order]);
    await simulator.addFault({ rail: 'BRE_B', operation: 'close', fault: 'lost-answer', times: 1 });
    expect(await connector.close([order.reference])).toEqual([unknown]);
    expect(await connector.queryStatus([order.reference])).toEqual([statusAnswer('closed')]);
  });
});

describe('the Bre-B access token', () => {
  setUpEach();

  const countTokenCalls = async () => (await simulator.stats()).calls.BRE_B['token'] ?? 0;
  const tokenCalls = (calls: FaultyPeer['calls']) => calls.filter((call) => call.path === TOKEN_PATH).length;
  const TOKEN_PATH = '/breb/oauth/token';

  it('is fetched once for concurrent calls and cached', async () => {
    const connector = connect(BREB);
    const before = await countTokenCalls();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => connector.queryStatus([BREB.order().reference])),
    );
    expect(answers.flat()).toEqual(answers.map(() => statusAnswer('not_found')));
    await connector.open([BREB.order()]);
    expect((await countTokenCalls()) - before).toBe(1);
  });

  it('is renewed once when the node rejects it, and the call succeeds', async () => {
    const connector = connect(BREB);
    await connector.queryStatus([BREB.order().reference]);
    const before = await countTokenCalls();
    await simulator.shiftTime(2 * 3_600_000);
    try {
      expect(await connector.open([BREB.order()])).toEqual([yes]);
      expect(await connector.open([BREB.order()])).toEqual([yes]);
      expect((await countTokenCalls()) - before).toBe(1);
    } finally {
      await simulator.shiftTime(0);
    }
  });

  it('is renewed before it expires, without a rejected call', async () => {
    let issued = 0;
    const node = await startPeer((call) => {
      if (call.path !== TOKEN_PATH) return json({ results: [] });
      issued += 1;
      return json({ access_token: `token-${issued}`, expires_in: 61 });
    });
    const connector = connect(BREB, node.url);
    await until('a second token is issued', async () => {
      await connector.queryStatus(['@ANYKEY']);
      return issued === 2;
    });
    expect(node.calls.at(-1)?.authorization).toBe('Bearer token-2');
  });

  it('is renewed once when it is rejected; then the outcome is unknown', async () => {
    const node = await startPeer(afterToken(() => json({ code: 'UNAUTHORIZED' }, 401)));
    expect(await connect(BREB, node.url).open([BREB.order()])).toEqual([unknown]);
    expect(tokenCalls(node.calls)).toBe(2);
    expect(node.calls).toHaveLength(4);
  });

  it('is renewed after a 401 with an empty body, as gateways send it', async () => {
    const order = BREB.order();
    let callsUntilRejection = 1;
    const node = await startPeer(
      afterToken(() => {
        callsUntilRejection -= 1;
        if (callsUntilRejection === 0) return { status: 401, text: '' };
        return json({ results: [{ key: order.reference, status: 'REGISTERED' }] });
      }),
    );
    expect(await connect(BREB, node.url).open([order])).toEqual([yes]);
    expect(tokenCalls(node.calls)).toBe(2);
  });

  it('is kept when a late 401 refers to the previous token', async () => {
    let issued = 0;
    const late = Promise.withResolvers<void>();
    const node = await startPeer(async (call) => {
      if (call.path === TOKEN_PATH) {
        issued += 1;
        return json({ access_token: `token-${issued}`, expires_in: 3600 });
      }
      if (call.authorization === 'Bearer token-2') return json({ results: [] });
      const { keys } = call.body as { keys: string[] };
      if (keys.includes('@SLOWKEY')) await late.promise;
      return json({ code: 'UNAUTHORIZED' }, 401);
    });
    const connector = connect(BREB, node.url);
    const slow = connector.queryStatus(['@SLOWKEY']);
    await until('the slow call is in flight', async () => node.calls.length === 2);
    await connector.queryStatus(['@FASTKEY']);
    expect(issued).toBe(2);
    late.resolve();
    await slow;
    expect(issued).toBe(2);
  });
});

describe.concurrent('a slow rail', () => {
  const { answerWithinMs } = BREB.connect('http://127.0.0.1:1').capabilities;
  // Far below a second deadline.
  const MAX_MS = answerWithinMs + 1500;

  async function timed<T>(work: Promise<T>): Promise<{ answer: T; ms: number }> {
    const elapsed = stopwatch();
    const answer = await work;
    return { answer, ms: elapsed() };
  }

  it('returns unknown after answerWithinMs when the rail hangs, and the order can be retried', async ({
    expect,
  }) => {
    const connector = BREB.connect(simulatorProcess.url);
    const order = BREB.order();
    // The token is there, so that only the hanging call can miss its deadline.
    await until('the connector has a token', async () => {
      const [answer] = await connector.queryStatus([order.reference]);
      return answer?.kind === 'yes';
    });
    await simulator.addFault({ rail: 'BRE_B', operation: 'register', fault: 'hang' });
    const { answer, ms } = await timed(connector.open([order]));
    expect(answer).toMatchObject([{ kind: 'unknown', cause: 'TimeoutError' }]);
    expect(ms).toBeGreaterThan(answerWithinMs - 100);
    expectWithin('the answer about a hanging rail', ms, MAX_MS);
    await simulator.clearFaults();
    await until('the retry is answered', async () => {
      const [retried] = await connector.open([order]);
      return retried?.kind === 'yes';
    });
    await connector.disconnect();
  });

  it('returns unknown after answerWithinMs when the answer stops half-way', async ({ expect }) => {
    const half = await startFaultyPeer(
      afterToken(() => ({ text: '{"results":[           ]}', stall: 'half-way' })),
    );
    const connector = BREB.connect(half.url);
    const { answer, ms } = await timed(connector.open([BREB.order()]));
    expect(answer).toMatchObject([{ kind: 'unknown' }]);
    expectWithin('the answer about half a response', ms, MAX_MS);
    await connector.disconnect();
    await half.stop();
  });

  it('returns unknown after answerWithinMs when the token request used part of it', async ({ expect }) => {
    const slow = await startFaultyPeer(async (call) => {
      if (call.path !== '/breb/oauth/token') return { text: '', stall: 'silent' };
      await sleep(3000);
      return json({ access_token: 'token', expires_in: 3600 });
    });
    const connector = BREB.connect(slow.url);
    const { answer, ms } = await timed(connector.open([BREB.order()]));
    expect(answer).toMatchObject([{ kind: 'unknown' }]);
    expectWithin('the answer after a slow token', ms, MAX_MS);
    await connector.disconnect();
    await slow.stop();
  });
});
