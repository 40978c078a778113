import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { freePort } from '../../../scripts/stack/postgres.ts';
import { startSimulator } from '../../../scripts/stack/processes.ts';
import { cents } from '../../src/kit/money.ts';
import { ERROR_CODES, RAILS } from '../../src/rails/contract.ts';
import { type FaultyPeer, json, type PeerReply, startFaultyPeer } from '../harness/faulty-peer.ts';
import { CUSTOMER } from '../harness/payin-requests.ts';
import { afterToken, BREB, PSE, type RailUnderTest } from '../harness/rails-under-test.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { until } from '../harness/until.ts';

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
/** For each group but the one whose tests run at the same time: they must not clear each other's faults. */
function leaveNothingBehind(): void {
  afterEach(async () => {
    await simulator.clearFaults();
    await Promise.all(opened.splice(0).map((connector) => connector.disconnect()));
    await Promise.all(peers.splice(0).map((peer) => peer.stop()));
  });
}

type Connector = ReturnType<RailUnderTest['connect']>;

function connect(rail: RailUnderTest, url = simulatorProcess.url, secret?: string): Connector {
  const connector = secret === undefined ? rail.connect(url) : rail.connect(url, secret);
  opened.push(connector);
  return connector;
}

async function peer(reply: Parameters<typeof startFaultyPeer>[0]): Promise<FaultyPeer> {
  const started = await startFaultyPeer(reply);
  peers.push(started);
  return started;
}

const unknown = expect.objectContaining({ kind: 'unknown', cause: expect.stringMatching(/./) as string });
const yes = expect.objectContaining({ kind: 'yes' });
const standingIn = (state: string) => ({
  kind: 'yes',
  value: expect.objectContaining({ state, payments: [], errorCode: null }) as object,
});

describe.each([BREB, PSE])('the connector of $rail', (rail) => {
  leaveNothingBehind();

  it('declares what it can do as complete and sensible data', () => {
    const { capabilities } = connect(rail);
    expect(capabilities.rail).toBe(rail.rail);
    expect(RAILS).toContain(capabilities.rail);
    for (const most of [capabilities.maxOpenBatch, capabilities.maxStatusBatch]) {
      expect(Number.isInteger(most)).toBe(true);
      expect(most).toBeGreaterThanOrEqual(1);
    }
    expect(Number.isInteger(capabilities.maxCloseBatch)).toBe(true);
    expect(capabilities.maxCloseBatch).toBeGreaterThanOrEqual(0);
    for (const flag of ['opensWhilePayerWaits', 'needsPayer'] as const)
      expect(typeof capabilities[flag]).toBe('boolean');
    // A claim on due work lasts 20 s: a call that may take longer would be made twice at a time.
    expect(capabilities.answerWithinMs).toBeGreaterThan(0);
    expect(capabilities.answerWithinMs).toBeLessThan(20_000);
    // "No such order" must not be believed while the order may still be on its way.
    expect(capabilities.maxProcessingMs).toBeGreaterThanOrEqual(capabilities.answerWithinMs);
  });

  it('opens as many orders in one call as it declares, and answers in their order', async () => {
    const connector = connect(rail);
    const orders = Array.from({ length: connector.capabilities.maxOpenBatch }, () => rail.order());
    const answers = await connector.open(orders);
    expect(answers).toHaveLength(orders.length);
    expect(answers.map((answer) => answer.kind === 'yes' && answer.value.reference)).toEqual(
      orders.map((order) => order.reference),
    );
  });

  it('asks about as many references in one call as it declares, and answers in their order', async () => {
    const connector = connect(rail);
    const known = rail.order();
    await connector.open([known]);
    const references = Array.from(
      { length: connector.capabilities.maxStatusBatch },
      () => rail.order().reference,
    );
    references[references.length >> 1] = known.reference;
    const answers = await connector.ask(references);
    expect(answers.map((answer) => answer.kind === 'yes' && answer.value.reference)).toEqual(references);
    expect(answers.map((answer) => answer.kind === 'yes' && answer.value.state)).toEqual(
      references.map((reference) => (reference === known.reference ? 'open' : 'not_found')),
    );
  });

  it('gives a page exactly when the payer waits for one', async () => {
    const connector = connect(rail);
    const [answer] = await connector.open([rail.order()]);
    const page = answer?.kind === 'yes' ? answer.value.pageUrl : undefined;
    if (connector.capabilities.opensWhilePayerWaits) expect(page).toMatch(/^https?:\/\//);
    else expect(page).toBeNull();
  });

  it('opens without a payer exactly where it says that it needs none', async () => {
    const connector = connect(rail);
    const attempt = connector.open([rail.order({ payer: null })]);
    if (connector.capabilities.needsPayer) await expect(attempt).rejects.toThrow('payer');
    else await expect(attempt).resolves.toEqual([yes]);
  });

  it('gives the same answer when the same order is opened again', async () => {
    const connector = connect(rail);
    const order = rail.order();
    const first = await connector.open([order]);
    const before = rail.records(await simulator.stats());
    const second = await connector.open([order]);
    expect(first).toEqual([yes]);
    expect(second).toEqual(first);
    expect(rail.records(await simulator.stats())).toBe(before);
  });

  it('opens one collection when the same order is opened many times in parallel by several processes', async () => {
    const connectors = [connect(rail), connect(rail), connect(rail)];
    const order = rail.order();
    const before = rail.records(await simulator.stats());
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => connectors.map((connector) => connector.open([order]))).flat(),
    );
    expect(answers[0]).toEqual([yes]);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(rail.records(await simulator.stats())).toBe(before + 1);
  });

  it('finds what was opened, and says so of what never was', async () => {
    const connector = connect(rail);
    const order = rail.order();
    const [answer] = await connector.open([order]);
    const [found, missing] = await connector.ask([order.reference, rail.order().reference]);
    expect(found).toEqual(standingIn('open'));
    expect(missing).toEqual(standingIn('not_found'));
    // On a rail with a page, asking gives it too: that is how a lost answer is made good.
    const page = answer?.kind === 'yes' && answer.value.pageUrl !== null ? answer.value : null;
    expect(found?.kind === 'yes' && found.value.opened).toEqual(page);
    expect(missing?.kind === 'yes' && missing.value.opened).toBeNull();
  });

  it.each(['down', 'reset', 'lost-answer'] as const)(
    'says unknown, never no, when the rail is in fault "%s"',
    async (fault) => {
      const connector = connect(rail);
      const { open, ask } = rail.operations;
      await simulator.addFault({ rail: rail.rail, operation: open, fault });
      await simulator.addFault({ rail: rail.rail, operation: ask, fault });
      expect(await connector.open([rail.order()])).toEqual([unknown]);
      const references = [rail.order().reference, rail.order().reference];
      expect(await connector.ask(references)).toEqual([unknown, unknown]);
    },
  );

  it('says unknown when nobody listens at the address of the rail', async () => {
    const connector = connect(rail, `http://127.0.0.1:${await freePort()}`);
    expect(await connector.open([rail.order()])).toEqual([unknown]);
    expect(await connector.ask([rail.order().reference])).toEqual([unknown]);
  });

  it('is told yes when it repeats an order whose answer was lost, and the rail has it once', async () => {
    const connector = connect(rail);
    const order = rail.order();
    const before = rail.records(await simulator.stats());
    await simulator.addFault({
      rail: rail.rail,
      operation: rail.operations.open,
      fault: 'lost-answer',
      times: 1,
    });
    expect(await connector.open([order])).toEqual([unknown]);
    expect(await connector.ask([order.reference])).toEqual([standingIn('open')]);
    expect(await connector.open([order])).toEqual([yes]);
    expect(rail.records(await simulator.stats())).toBe(before + 1);
  });

  it('opens after a call that was cut before the rail did anything', async () => {
    const connector = connect(rail);
    const order = rail.order();
    await simulator.addFault({ rail: rail.rail, operation: rail.operations.open, fault: 'reset', times: 1 });
    expect(await connector.open([order])).toEqual([unknown]);
    expect(await connector.ask([order.reference])).toEqual([standingIn('not_found')]);
    expect(await connector.open([order])).toEqual([yes]);
  });

  it('says unknown, never no, when the rail does not accept our credentials', async () => {
    const connector = connect(rail, simulatorProcess.url, 'not-the-secret');
    expect(await connector.open([rail.order()])).toEqual([unknown]);
    expect(await connector.ask([rail.order().reference])).toEqual([unknown]);
  });

  it.each(unreadable())('says unknown of an answer that is $what', async ({ reply }) => {
    const rude = await peer(afterToken(() => reply));
    const connector = connect(rail, rude.url);
    expect(await connector.open([rail.order()])).toEqual([unknown]);
    const references = [rail.order().reference, rail.order().reference];
    expect(await connector.ask(references)).toEqual([unknown, unknown]);
    // Two calls. Where a rail takes them in bulk and would not read a call of two, each once more alone: never in a loop.
    const calls = rude.calls.filter((call) => !call.path.endsWith('/oauth/token')).length;
    expect(calls).toBe(reply.status === 400 ? 4 : 2);
  });

  it('says unknown of the references that an answer leaves out, and reads the others', async () => {
    const [known, left] = [rail.order().reference, rail.order().reference];
    const short = await peer(afterToken(() => json({ results: [rail.standing(known)] })));
    const answers = await connect(rail, short.url).ask([left, known]);
    expect(answers).toEqual([unknown, standingIn('open')]);
  });

  it('says unknown when an answer speaks of references that nobody asked about', async () => {
    const other = await peer(afterToken(() => json({ results: [rail.standing(rail.order().reference)] })));
    expect(await connect(rail, other.url).ask([rail.order().reference])).toEqual([unknown]);
  });

  it('believes an error status more than the body that came with it', async () => {
    const success = {
      returnCode: 'SUCCESS',
      transactionId: 'T1',
      trazabilityCode: '1',
      bankUrl: 'https://bank.example/pay',
    };
    const order = rail.order();
    const results = [{ ...rail.standing(order.reference), status: 'REGISTERED' }];
    const failing = await peer(afterToken(() => json({ ...success, results }, 500)));
    const connector = connect(rail, failing.url);
    expect(await connector.open([order])).toEqual([unknown]);
    expect(await connector.ask([order.reference])).toEqual([unknown]);
  });

  it('finds its rail again after the rail was away', async () => {
    const connector = connect(rail);
    await simulator.addFault({ rail: rail.rail, operation: '*', fault: 'down', times: 2 });
    expect(await connector.open([rail.order()])).toEqual([unknown]);
    expect(await connector.ask([rail.order().reference])).toEqual([unknown]);
    expect(await connector.open([rail.order()])).toEqual([yes]);
  });
});

function unreadable(): { what: string; reply: PeerReply }[] {
  const bodies: [string, string][] = [
    ['empty', ''],
    ['no JSON', 'hello'],
    ['JSON cut short', '{"results":[{"key":'],
    ['null', 'null'],
    ['a number', '42'],
    ['a text', '"REGISTERED"'],
    ['a bare list', '[]'],
    ['an empty object', '{}'],
    ['without any result', '{"results":[]}'],
    ['results that are no list', '{"results":{"0":{}}}'],
    ['a list of nothing', '{"results":[null,null]}'],
    ['results without members', '{"results":[{},{}]}'],
    ['a code nobody documented', '{"returnCode":"MAYBE"}'],
    ['success without a page', '{"returnCode":"SUCCESS","transactionId":"T1","trazabilityCode":"1"}'],
    [
      'success with a page that is no web address',
      '{"returnCode":"SUCCESS","transactionId":"T1","trazabilityCode":"1","bankUrl":"javascript:alert(1)"}',
    ],
    ['larger than any answer', JSON.stringify({ results: ['x'.repeat(5 << 20)] })],
  ];
  return [
    ...bodies.map(([what, text]) => ({ what, reply: { text } })),
    {
      what: 'a page of HTML with 200',
      reply: { type: 'text/html', text: '<!doctype html><title>Mantenimiento</title>' },
    },
    {
      what: 'a page of HTML with 502',
      reply: { status: 502, type: 'text/html', text: '<h1>Bad Gateway</h1>' },
    },
    { what: 'a redirect', reply: { status: 302, headers: { location: '/elsewhere' }, text: '{}' } },
    { what: 'an empty 204', reply: { status: 204, text: '' } },
    { what: 'a 400 in JSON', reply: json({ code: 'BAD_REQUEST' }, 400) },
    { what: 'a 404 in JSON', reply: json({ code: 'NOT_FOUND' }, 404) },
    { what: 'a 429 in JSON', reply: json({ code: 'TOO_MANY' }, 429) },
    { what: 'a 500 in JSON', reply: json({ code: 'INTERNAL' }, 500) },
  ];
}

describe('refusals', () => {
  leaveNothingBehind();

  async function refused(rail: RailUnderTest, order: ReturnType<RailUnderTest['order']>) {
    const connector = connect(rail);
    const before = rail.records(await simulator.stats());
    const [answer] = await connector.open([order]);
    expect(answer?.kind).toBe('no');
    if (answer?.kind !== 'no') throw new Error('not refused');
    expect(ERROR_CODES).toContain(answer.errorCode);
    expect(answer.railCode).not.toBe('');
    expect(await connector.open([order]), 'a refusal is as repeatable as a yes').toEqual([answer]);
    expect(rail.records(await simulator.stats()), 'a refusal opens nothing').toBe(before);
    return answer.errorCode;
  }

  it('of Bre-B: a key that is registered for another payin', async () => {
    const order = BREB.order();
    await connect(BREB).open([order]);
    expect(await refused(BREB, { ...order, payinId: randomUUID() })).toBe('RAIL_REJECTED');
    expect((await simulator.key(order.reference))?.internalId).toBe(order.payinId);
  });

  it('of Bre-B: a key that the network cannot read', async () => {
    expect(await refused(BREB, BREB.order({ reference: '@no' }))).toBe('KEY_INVALID');
  });

  it('of Bre-B: a refused key does not take the other keys of the call with it', async () => {
    const [first, last] = [BREB.order(), BREB.order()];
    const answers = await connect(BREB).open([first, BREB.order({ reference: '@no' }), last]);
    expect(answers.map((answer) => answer.kind)).toEqual(['yes', 'no', 'yes']);
    expect(await simulator.key(last.reference)).toMatchObject({ internalId: last.payinId });
  });

  it.each([
    ['an amount below 1,500 pesos', PSE.order({ amount: cents(149_999n) }), 'LIMIT_EXCEEDED'],
    ['an amount above what PSE carries', PSE.order({ amount: cents(999_999_999_999n) }), 'LIMIT_EXCEEDED'],
    [
      'a bank that is down',
      PSE.order({ payer: { ...CUSTOMER, idNumber: '1000000021' } }),
      'BANK_UNAVAILABLE',
    ],
  ] as const)('of PSE: %s', async (_what, order, errorCode) => {
    expect(await refused(PSE, order)).toBe(errorCode);
    expect(await connect(PSE).ask([order.reference])).toEqual([standingIn('not_found')]);
  });

  it('of PSE: another amount under a reference that it knows', async () => {
    const order = PSE.order();
    await connect(PSE).open([order]);
    expect(await refused(PSE, { ...order, amount: cents(5_000_000n) })).toBe('RAIL_REJECTED');
    expect((await simulator.transaction(order.reference))?.amount).toBe('49800.00');
  });

  it('of PSE: the smallest amount is not refused', async () => {
    expect(await connect(PSE).open([PSE.order({ amount: cents(150_000n) })])).toEqual([yes]);
  });
});

describe('what the rail is told', () => {
  leaveNothingBehind();

  it('of a key: amount in decimal pesos, expiry, payin and payer', async () => {
    const order = BREB.order({ amount: cents(5n) });
    await connect(BREB).open([order]);
    expect(await simulator.key(order.reference)).toMatchObject({
      amount: '0.05',
      internalId: order.payinId,
      expiresAt: order.expiresAt.toISOString(),
      payer: { documentType: 'CC', documentNumber: CUSTOMER.idNumber, name: CUSTOMER.name },
    });
  });

  it('of a bank transaction: bank, person, amount, expiry, payer and where the payer returns to', async () => {
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

// Where capabilities.maxCloseBatch is above zero: Bre-B.
describe('closing', () => {
  leaveNothingBehind();

  it('is refused by the connector of a rail that cannot close', async () => {
    const connector = connect(PSE);
    expect(connector.capabilities.maxCloseBatch).toBe(0);
    await expect(connector.close([PSE.order().reference])).rejects.toThrow('close');
  });

  it('closes what was opened, and asking says so', async () => {
    const connector = connect(BREB);
    const order = BREB.order();
    await connector.open([order]);
    expect(await connector.close([order.reference])).toEqual([standingIn('closed')]);
    expect(await connector.ask([order.reference])).toEqual([standingIn('closed')]);
  });

  it('closes a key that was never registered for ever, so that a late registration is refused', async () => {
    const connector = connect(BREB);
    const order = BREB.order();
    expect(await connector.close([order.reference])).toEqual([standingIn('closed')]);
    const [late] = await connector.open([order]);
    expect(late).toEqual({ kind: 'no', errorCode: 'KEY_NOT_FOUND', railCode: '0004' });
    expect(await connector.ask([order.reference])).toEqual([standingIn('closed')]);
    expect(await simulator.key(order.reference)).toMatchObject({ status: 'CLOSED', registeredAt: null });
  });

  it('gives the same answer when it is repeated', async () => {
    const connector = connect(BREB);
    const order = BREB.order();
    await connector.open([order]);
    const first = await connector.close([order.reference]);
    const closedAt = (await simulator.key(order.reference))?.closedAt;
    expect(await connector.close([order.reference])).toEqual(first);
    expect((await simulator.key(order.reference))?.closedAt).toBe(closedAt);
  });

  it('closes as many in one call as the connector declares', async () => {
    const connector = connect(BREB);
    const references = Array.from(
      { length: connector.capabilities.maxCloseBatch },
      () => BREB.order().reference,
    );
    const answers = await connector.close(references);
    expect(answers.map((answer) => answer.kind === 'yes' && answer.value.reference)).toEqual(references);
  });

  it('is unknown when the answer is lost, and done', async () => {
    const connector = connect(BREB);
    const order = BREB.order();
    await connector.open([order]);
    await simulator.addFault({ rail: 'BRE_B', operation: 'close', fault: 'lost-answer', times: 1 });
    expect(await connector.close([order.reference])).toEqual([unknown]);
    expect(await connector.ask([order.reference])).toEqual([standingIn('closed')]);
  });
});

describe('the access token of Bre-B', () => {
  leaveNothingBehind();

  const tokens = async () => (await simulator.stats()).calls.BRE_B['token'] ?? 0;
  const tokenCalls = (calls: FaultyPeer['calls']) => calls.filter((call) => call.path === TOKEN_PATH).length;
  const TOKEN_PATH = '/breb/oauth/token';

  it('is fetched once for calls that come at the same time, and kept', async () => {
    const connector = connect(BREB);
    const before = await tokens();
    const asked = await Promise.all(
      Array.from({ length: 20 }, () => connector.ask([BREB.order().reference])),
    );
    expect(asked.flat()).toEqual(asked.map(() => standingIn('not_found')));
    await connector.open([BREB.order()]);
    expect((await tokens()) - before).toBe(1);
  });

  it('is renewed once when the node no longer takes it, and the call succeeds', async () => {
    const connector = connect(BREB);
    await connector.ask([BREB.order().reference]);
    const before = await tokens();
    await simulator.shiftTime(2 * 3_600_000);
    try {
      expect(await connector.open([BREB.order()])).toEqual([yes]);
      expect(await connector.open([BREB.order()])).toEqual([yes]);
      expect((await tokens()) - before).toBe(1);
    } finally {
      await simulator.shiftTime(0);
    }
  });

  it('is renewed before it ends, without a refused call', async () => {
    let issued = 0;
    const node = await peer((call) => {
      if (call.path !== TOKEN_PATH) return json({ results: [] });
      issued += 1;
      return json({ access_token: `token-${issued}`, expires_in: 61 });
    });
    const connector = connect(BREB, node.url);
    await until(
      'a second token',
      async () => {
        await connector.ask(['@ANYKEY']);
        return issued === 2;
      },
      4000,
    );
    expect(node.calls.at(-1)?.authorization).toBe('Bearer token-2');
  });

  it('is asked for once more when it is refused, and then the outcome is unknown', async () => {
    const node = await peer(afterToken(() => json({ code: 'UNAUTHORIZED' }, 401)));
    expect(await connect(BREB, node.url).open([BREB.order()])).toEqual([unknown]);
    expect(tokenCalls(node.calls)).toBe(2);
    expect(node.calls).toHaveLength(4);
  });

  it('is renewed by a 401 whose body is empty, as gateways send it', async () => {
    const order = BREB.order();
    let refusals = 1;
    const node = await peer(
      afterToken(() => {
        refusals -= 1;
        if (refusals === 0) return { status: 401, text: '' };
        return json({ results: [{ key: order.reference, status: 'REGISTERED' }] });
      }),
    );
    expect(await connect(BREB, node.url).open([order])).toEqual([yes]);
    expect(tokenCalls(node.calls)).toBe(2);
  });

  it('is not thrown away by a late 401 that speaks of the token before it', async () => {
    let issued = 0;
    const late = Promise.withResolvers<void>();
    const node = await peer(async (call) => {
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
    const slow = connector.ask(['@SLOWKEY']);
    await until('the slow call is under way', async () => node.calls.length === 2);
    await connector.ask(['@FASTKEY']);
    expect(issued).toBe(2);
    late.resolve();
    await slow;
    expect(issued).toBe(2);
  });
});

describe.concurrent('a rail that takes its time', () => {
  const { answerWithinMs } = BREB.connect('http://127.0.0.1:1').capabilities;
  // Generous for a busy machine, and far below a second deadline.
  const MOST_MS = answerWithinMs + 1500;

  async function timed<T>(work: Promise<T>): Promise<{ answer: T; ms: number }> {
    const start = performance.now();
    const answer = await work;
    return { answer, ms: performance.now() - start };
  }

  it('is unknown after the declared time when it hangs, and the order can be repeated', async ({
    expect,
  }) => {
    const connector = BREB.connect(simulatorProcess.url);
    const order = BREB.order();
    await simulator.addFault({ rail: 'BRE_B', operation: 'register', fault: 'hang', times: 1 });
    const { answer, ms } = await timed(connector.open([order]));
    expect(answer).toMatchObject([{ kind: 'unknown', cause: 'TimeoutError' }]);
    expect(ms).toBeGreaterThan(answerWithinMs - 100);
    expect(ms).toBeLessThan(MOST_MS);
    expect(await connector.open([order])).toMatchObject([{ kind: 'yes' }]);
    await connector.disconnect();
  });

  it('is unknown after the declared time when it stops in the middle of its answer', async ({ expect }) => {
    const half = await startFaultyPeer(
      afterToken(() => ({ text: '{"results":[           ]}', stall: 'half-way' })),
    );
    const connector = BREB.connect(half.url);
    const { answer, ms } = await timed(connector.open([BREB.order()]));
    expect(answer).toMatchObject([{ kind: 'unknown' }]);
    expect(ms).toBeLessThan(MOST_MS);
    await connector.disconnect();
    await half.stop();
  });

  it('is unknown after the declared time when the token took part of it', async ({ expect }) => {
    const slow = await startFaultyPeer(async (call) => {
      if (call.path !== '/breb/oauth/token') return { text: '', stall: 'silent' };
      await new Promise((resolve) => setTimeout(resolve, 3000));
      return json({ access_token: 'token', expires_in: 3600 });
    });
    const connector = BREB.connect(slow.url);
    const { answer, ms } = await timed(connector.open([BREB.order()]));
    expect(answer).toMatchObject([{ kind: 'unknown' }]);
    expect(ms).toBeLessThan(MOST_MS);
    await connector.disconnect();
    await slow.stop();
  });
});
