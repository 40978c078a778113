import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type FaultyPeer,
  json,
  type PeerCall,
  type PeerReply,
  startFaultyPeer,
} from '../harness/faulty-peer.ts';
import { type MadePayout, PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

type Path = 'orders' | 'orders/query';
/** What becomes of a call: `pass` hands it to the network and brings its answer. */
type Spoil = (pass: () => Promise<PeerReply>, call: PeerCall) => PeerReply | Promise<PeerReply>;

let stack: Stack;
let driver: PayoutDriver;
let between: FaultyPeer;
/** Each strikes one call, first come first served. */
const spoils: { readonly path: Path; readonly spoil: Spoil }[] = [];
beforeAll(async () => {
  // Stands between the server and the node, for what the simulator is too well-behaved to do.
  between = await startFaultyPeer((call) => {
    const index = spoils.findIndex(({ path }) => call.path === `/breb/v1/${path}`);
    const [found] = index < 0 ? [] : spoils.splice(index, 1);
    return found ? found.spoil(() => pass(call), call) : pass(call);
  });
  stack = await startStack({
    apis: 1,
    workers: 2,
    settings: { CAUDAL_WORKER_POLL_MS: '20', BREB_URL: `${between.url}/breb` },
  });
  driver = new PayoutDriver(stack);
  await driver.fund();
});
afterAll(async () => {
  await stack?.stop();
  await between?.stop();
});
afterEach(async () => {
  spoils.length = 0;
  await driver.simulator.clearFaults();
});

async function pass({ path, authorization, body }: PeerCall): Promise<PeerReply> {
  const answer = await fetch(stack.simulatorUrl + path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

const after =
  (reply: PeerReply): Spoil =>
  async (pass) => {
    await pass();
    return reply;
  };
const instead =
  (reply: PeerReply): Spoil =>
  () =>
    reply;
const PAGE = { status: 500, type: 'text/html', text: '<h1>Internal Server Error</h1>' };
const NOT_JSON = { text: '{"results": [' };
const NOBODY = json({ results: [] });

const notices = (fault: 'lost-notice' | 'down', times = 1) =>
  driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault, times });
const answered = (made: MadePayout, number: number) =>
  until(`attempt ${number} has its answer`, async () => (await driver.attempts(made.id))[number - 1]?.answer);
const asked = (made: MadePayout) =>
  until('the rail was asked', async () => {
    const [row] = await driver.query<{ questions: number }>(
      'select questions from caudal.payouts where id = $1',
      [made.id],
    );
    return (row?.questions ?? 0) > 0;
  });

type Struck = (path: Path) => Promise<unknown>;
const simulated =
  (fault: 'down' | 'slow' | 'hang' | 'reset' | 'lost-answer', ms?: number): Struck =>
  (path) =>
    driver.simulator.addFault({
      rail: 'BRE_B',
      operation: path === 'orders' ? 'order' : 'order-query',
      fault,
      times: 1,
      ...(ms === undefined ? {} : { ms }),
    });
const spoilt =
  (spoil: Spoil): Struck =>
  async (path) =>
    void spoils.push({ path, spoil });

const SPOILS: readonly [string, 'before' | 'after', Struck][] = [
  ['the node is down (503)', 'before', simulated('down')],
  ['the connection is reset', 'before', simulated('reset')],
  ['the node hangs beyond the deadline', 'before', simulated('hang')],
  ['a proxy answers 500 in place of the node', 'before', spoilt(instead(PAGE))],
  ['a proxy answers 200 with something else', 'before', spoilt(instead({ text: 'ok' }))],
  ['the answer is lost', 'after', simulated('lost-answer')],
  ['the node acts after the deadline', 'after', simulated('slow', 5500)],
  ['the node acts, then a 500 comes', 'after', spoilt(after(PAGE))],
  ['the answer is cut off', 'after', spoilt(after(NOT_JSON))],
  ['the answer stops half-way', 'after', spoilt(after({ ...NOBODY, stall: 'half-way' }))],
  ['the answer is about nobody', 'after', spoilt(after(NOBODY))],
];

describe('an order whose answer is none', () => {
  it.each(SPOILS)('%s: CONFIRMED, executed once', async (_what, when, strike) => {
    await strike('orders');
    const made = await driver.create();
    expect(await answered(made, 1)).toBe('unknown');
    if (when === 'before') await stack.shiftTime(41_000);
    await driver.reaches(made.id, 'CONFIRMED', 20_000);
    await driver.quiet();
    expect(await driver.executions(made)).toBe(1);
    expect((await driver.attempts(made.id)).map(({ answer }) => answer)).toEqual(
      when === 'before' ? ['unknown', 'accepted'] : ['unknown'],
    );
    expect(await driver.events(made.id)).toEqual(['payout.confirmed']);
  });

  it('is not sent again before everything that can have left has arrived', async () => {
    await simulated('down')('orders');
    const made = await driver.create();
    await answered(made, 1);
    // Asked and not found, again and again, up to 35 s after it was sent.
    await stack.shiftTime(35_000);
    await asked(made);
    await driver.quiet();
    expect(await driver.attempts(made.id)).toHaveLength(1);
    expect((await driver.get(made.id)).status).toBe('PROCESSING');
    await stack.shiftTime(10_000);
    await driver.reaches(made.id, 'CONFIRMED');
    expect(await driver.executions(made)).toBe(1);
  });

  it('that slept longer than any rail may and was sent again meanwhile is a duplicate to the rail', async () => {
    await simulated('slow', 9000)('orders');
    const made = await driver.create();
    await answered(made, 1);
    await stack.shiftTime(60_000);
    await answered(made, 2);
    await driver.reaches(made.id, 'CONFIRMED');
    await until('the first one arrives', async () => (await driver.simulator.stats()).orders.duplicates > 0);
    expect(await driver.executions(made)).toBe(1);
  });
});

describe('an answer that comes after the order was settled', () => {
  const late =
    (made: () => MadePayout | null, reply?: (made: MadePayout) => PeerReply): Spoil =>
    async (pass) => {
      const answer = await pass();
      const of = await until('it is created', async () => made());
      await driver.reaches(of.id, 'CONFIRMED', 4000);
      return reply?.(of) ?? answer;
    };
  const refusal = ({ endToEndId }: MadePayout) =>
    json({ results: [{ endToEndId, status: 'REJECTED', code: '4012' }] });

  it.each([
    ['accepted', undefined],
    ['refused', refusal],
  ] as const)('(%s) is written down and changes nothing', async (answer, reply) => {
    let made: MadePayout | null = null;
    spoils.push({ path: 'orders', spoil: late(() => made, reply) });
    made = await driver.create();
    expect(await answered(made, 1)).toBe(answer);
    await driver.quiet();
    expect((await driver.get(made.id)).status).toBe('CONFIRMED');
    expect(await driver.causes(made.id)).toEqual(['created', 'settled_on_notification']);
    expect(await driver.events(made.id)).toEqual(['payout.confirmed']);
    expect(await driver.anomalies(made.id)).toEqual([]);
    expect(await driver.executions(made)).toBe(1);
  });
});

describe('a settlement over another amount', () => {
  const wrong = ({ endToEndId }: MadePayout): Spoil =>
    instead(json({ results: [{ endToEndId, status: 'SETTLED', executionId: 'x-1', amount: '1.00' }] }));

  it('leaves the payout open with its money set aside, and a person is told once', async () => {
    const made = await driver.create({ key: '@TESTTIMEOUT' });
    await answered(made, 1);
    for (let question = 1; question <= 2; question += 1) {
      spoils.push({ path: 'orders/query', spoil: wrong(made) });
      await stack.shiftTime(31_000);
      await until('it was asked', async () => spoils.length === 0);
      await driver.quiet();
    }
    expect((await driver.get(made.id)).status).toBe('PROCESSING');
    expect(await driver.anomalies(made.id)).toMatchObject([{ kind: 'contradiction', cents: null }]);
    expect(await driver.moves(made.id)).toEqual(['available → held 120050']);
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'REJECTED' });
    await driver.reaches(made.id, 'DECLINED');
  });

  it('can be ended by an operator who knows better', async () => {
    const made = await driver.create({ key: '@TESTTIMEOUT' });
    await answered(made, 1);
    await stack.shiftTime(70_000);
    await driver.quiet();
    spoils.push({ path: 'orders/query', spoil: wrong(made) });
    const resolve = (...how: readonly string[]) =>
      driver.command('payouts', 'resolve', made.id, ...how, '--by', 'Laura', '--note', 'el extracto');
    await expect(resolve('--decline', '--anyway')).rejects.toThrow(/executed it, over another amount/);
    spoils.push({ path: 'orders/query', spoil: wrong(made) });
    await resolve('--confirm');
    expect((await driver.get(made.id)).status).toBe('CONFIRMED');
  });
});

describe('a question whose answer is none', () => {
  it.each(SPOILS)('%s: asked again, and CONFIRMED', async (_what, _when, strike) => {
    await notices('lost-notice');
    const made = await driver.create();
    await until('it is settled', async () => (await driver.executions(made)) === 1);
    await strike('orders/query');
    await stack.shiftTime(31_000);
    await driver.reaches(made.id, 'CONFIRMED', 20_000);
    expect(await driver.causes(made.id)).toEqual(['created', 'settled_on_poll']);
    expect(await driver.attempts(made.id)).toHaveLength(1);
    expect(await driver.executions(made)).toBe(1);
  });

  it('or one that is not true, "no such order": sent again under the same id, which the rail knows', async () => {
    await notices('lost-notice');
    const made = await driver.create();
    await until('it is settled', async () => (await driver.executions(made)) === 1);
    const nothing = { endToEndId: made.endToEndId, status: 'NOT_FOUND' };
    spoils.push({ path: 'orders/query', spoil: instead(json({ results: [nothing] })) });
    await stack.shiftTime(41_000);
    await driver.reaches(made.id, 'CONFIRMED');
    expect((await driver.attempts(made.id)).map(({ answer }) => answer)).toEqual(['accepted', 'duplicate']);
    expect(await driver.executions(made)).toBe(1);
  });
});

describe('a refusal', () => {
  const refused = ({ endToEndId }: MadePayout, code: string) =>
    json({ results: [{ endToEndId, status: 'REJECTED', code }] });
  const refusing =
    (code: string): Spoil =>
    (_pass, { body }) => {
      const { orders } = body as { orders: { endToEndId: string }[] };
      return json({ results: orders.map(({ endToEndId }) => ({ endToEndId, status: 'REJECTED', code })) });
    };

  it('of the first attempt is believed at once', async () => {
    spoils.push({ path: 'orders', spoil: refusing('4012') });
    const before = await driver.balance();
    const made = await driver.create();
    expect(await driver.reaches(made.id, 'DECLINED')).toMatchObject({ errorCode: 'LIMIT_EXCEEDED' });
    expect(await driver.balance()).toEqual(before);
    expect(await driver.executions(made)).toBe(0);
  });

  it.each(['5000', '5001', '4017', '9999'])(
    'that is none (%s: in process, out of time, never heard of) leaves it unknown',
    async (code) => {
      spoils.push({ path: 'orders', spoil: refusing(code) });
      const made = await driver.create();
      expect(await answered(made, 1)).toBe('unknown');
      expect((await driver.get(made.id)).status).toBe('PROCESSING');
      await stack.shiftTime(41_000);
      await driver.reaches(made.id, 'CONFIRMED');
      expect(await driver.executions(made)).toBe(1);
    },
  );

  it('of a repeat is asked about until nothing can be under way, then believed', async () => {
    await simulated('down')('orders');
    const made = await driver.create();
    await answered(made, 1);
    spoils.push({ path: 'orders', spoil: refusing('4013') });
    await stack.shiftTime(41_000);
    expect(await answered(made, 2)).toBe('refused');
    await asked(made);
    expect((await driver.get(made.id)).status).toBe('PROCESSING');
    await stack.shiftTime(41_000);
    expect(await driver.reaches(made.id, 'DECLINED')).toMatchObject({ errorCode: 'NETWORK_LIMIT_EXCEEDED' });
    expect(await driver.attempts(made.id)).toEqual([
      { number: 1, answer: 'unknown', error_code: null },
      { number: 2, answer: 'refused', error_code: 'NETWORK_LIMIT_EXCEEDED' },
    ]);
    expect(await driver.executions(made)).toBe(0);
  });

  it('of a repeat whose first attempt had arrived after all changes nothing: CONFIRMED', async () => {
    await notices('lost-notice');
    await simulated('lost-answer')('orders');
    const made = await driver.create();
    await until('it is settled', async () => (await driver.executions(made)) === 1);
    const nothing = { endToEndId: made.endToEndId, status: 'NOT_FOUND' };
    spoils.push({ path: 'orders/query', spoil: instead(json({ results: [nothing] })) });
    spoils.push({ path: 'orders', spoil: instead(refused(made, '4013')) });
    await stack.shiftTime(41_000);
    expect(await answered(made, 2)).toBe('refused');
    await driver.reaches(made.id, 'CONFIRMED');
    expect(await driver.causes(made.id)).toEqual(['created', 'settled_on_poll']);
    expect(await driver.executions(made)).toBe(1);
  });
});

it('the books of all this are whole, and every execution has its payout', async () => {
  await driver.quiet();
  expect(await driver.brokenBooks()).toEqual([]);
  const executed = (await driver.simulator.executions()).map(({ executionId }) => executionId).sort();
  const confirmed = await driver.query<{ execution_id: string }>(
    'select execution_id from caudal.payouts where execution_id is not null order by execution_id',
  );
  expect(confirmed.map(({ execution_id }) => execution_id)).toEqual(executed);
});
