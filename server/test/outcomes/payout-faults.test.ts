import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PayoutSender } from '../../src/flows/payouts/send-payouts.system.ts';
import { RailPauses } from '../../src/organizations/rail-pauses.ts';
import {
  type FaultyPeer,
  json,
  type PeerCall,
  type PeerReply,
  startFaultyPeer,
} from '../harness/faulty-peer.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { type CreatedPayout, PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { forward, postponePolls, waitForAnswers, whilePaused } from './payout-steps.ts';

type Path = 'orders' | 'orders/query';
/** Decides the reply to a call; `pass` forwards the call to the node and returns its reply. */
type ReplyFault = (pass: () => Promise<PeerReply>, call: PeerCall) => PeerReply | Promise<PeerReply>;

/** The oldest one about a call applies to it. */
interface CallFault {
  readonly path: Path;
  readonly fault: ReplyFault;
  /** Without it, the fault is about all orders. */
  readonly endToEndId?: string | undefined;
  /** Applies until it is removed; others apply once. */
  readonly lasts?: true;
}

/** An order leaves within 20 s of its attempt and is processed within the 20 s of the simulator. */
const ARRIVAL_MS = 40_000;

let stack: Stack;
let driver: PayoutDriver;
let proxy: FaultyPeer;
const replyFaults: CallFault[] = [];
const removeFault = (fault: CallFault) => replyFaults.splice(replyFaults.indexOf(fault), 1);
beforeAll(async () => {
  // A proxy between the server and the node, for failures the simulator does not produce.
  proxy = await startFaultyPeer((call) => {
    const pass = () => forward(stack.simulatorUrl, call);
    const found = replyFaults.find(
      ({ path, endToEndId = '' }) =>
        call.path === `/breb/v1/${path}` && JSON.stringify(call.body).includes(endToEndId),
    );
    if (!found) return pass();
    if (!found.lasts) removeFault(found);
    return found.fault(pass, call);
  });
  stack = await startStack({
    apis: 1,
    workers: 2,
    settings: { CAUDAL_WORKER_POLL_MS: '20', BREB_URL: `${proxy.url}/breb` },
  });
  driver = new PayoutDriver(stack);
  await driver.fund();
});
afterAll(async () => {
  await stack?.stop();
  await proxy?.stop();
});
afterEach(async () => {
  replyFaults.length = 0;
  await driver.simulator.clearFaults();
});

const afterForwarding =
  (reply: PeerReply): ReplyFault =>
  async (pass) => {
    await pass();
    return reply;
  };
const insteadOfForwarding =
  (reply: PeerReply): ReplyFault =>
  () =>
    reply;
/** The node executes the call when the server no longer waits for its answer. */
const afterDeadline: ReplyFault = async (pass, { body }) => {
  const { orders = [], endToEndIds = orders.map(({ endToEndId }) => endToEndId) } = body as {
    readonly orders?: readonly { readonly endToEndId: string }[];
    readonly endToEndIds?: readonly string[];
  };
  await until('the server has given up', async () => {
    const waiting = await driver.query(
      'select from caudal.payouts where end_to_end_id = any ($1) and lease_token is not null',
      [endToEndIds],
    );
    return waiting.length === 0;
  });
  return pass();
};
const rejectAll =
  (code: string): ReplyFault =>
  (_pass, { body }) => {
    const { orders } = body as { orders: { endToEndId: string }[] };
    return json({ results: orders.map(({ endToEndId }) => ({ endToEndId, status: 'REJECTED', code })) });
  };
const PAGE = { status: 500, type: 'text/html', text: '<h1>Internal Server Error</h1>' };
const NOT_JSON = { text: '{"results": [' };
const NO_RESULTS = json({ results: [] });

const addNotificationFault = (fault: 'lost-notice' | 'down', times = 1) =>
  driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault, times });
const waitForAnswer = (created: CreatedPayout, number: number) =>
  until(
    `attempt ${number} has its answer`,
    async () => (await driver.attempts(created.id))[number - 1]?.answer,
  );
const waitForPoll = (created: CreatedPayout) =>
  until('the rail was polled', async () => {
    const [row] = await driver.query<{ polls: number }>('select polls from caudal.payouts where id = $1', [
      created.id,
    ]);
    return (row?.polls ?? 0) > 0;
  });

/** While it lasts, the node knows no order that it is polled about. */
function hideOrders(): CallFault {
  const fault: ReplyFault = (_pass, { body }) => {
    const { endToEndIds } = body as { endToEndIds: string[] };
    return json({ results: endToEndIds.map((endToEndId) => ({ endToEndId, status: 'NOT_FOUND' })) });
  };
  const hidden = { path: 'orders/query', fault, lasts: true } as const;
  replyFaults.push(hidden);
  return hidden;
}

type FaultInjector = (path: Path, endToEndId?: string) => Promise<unknown>;
const simulatorFault =
  (fault: 'down' | 'hang' | 'reset' | 'lost-answer'): FaultInjector =>
  (path) =>
    driver.simulator.addFault({
      rail: 'BRE_B',
      operation: path === 'orders' ? 'order' : 'order-query',
      fault,
      times: 1,
    });
const proxyFault =
  (fault: ReplyFault): FaultInjector =>
  async (path, endToEndId) =>
    void replyFaults.push({ path, fault, endToEndId });

const FAULTS: readonly [string, 'before' | 'after', FaultInjector][] = [
  ['the node is down (503)', 'before', simulatorFault('down')],
  ['the connection is reset', 'before', simulatorFault('reset')],
  ['the node exceeds the deadline', 'before', simulatorFault('hang')],
  ['a proxy answers 500 in place of the node', 'before', proxyFault(insteadOfForwarding(PAGE))],
  ['a proxy answers 200 with another body', 'before', proxyFault(insteadOfForwarding({ text: 'ok' }))],
  ['the answer is lost', 'after', simulatorFault('lost-answer')],
  ['the node executes after the deadline', 'after', proxyFault(afterDeadline)],
  ['the node executes, then a 500 arrives', 'after', proxyFault(afterForwarding(PAGE))],
  ['the answer is truncated', 'after', proxyFault(afterForwarding(NOT_JSON))],
  ['the answer stops half-way', 'after', proxyFault(afterForwarding({ ...NO_RESULTS, stall: 'half-way' }))],
  ['the answer omits the order', 'after', proxyFault(afterForwarding(NO_RESULTS))],
];

describe('an order without a usable answer', () => {
  it.each(FAULTS)('%s: CONFIRMED, executed once', async (_what, when, inject) => {
    await inject('orders');
    const created = await driver.create();
    expect(await waitForAnswer(created, 1)).toBe('unknown');
    if (when === 'before') await stack.shiftTime(41_000);
    await driver.waitForStatus(created.id, 'CONFIRMED');
    await driver.waitUntilIdle();
    expect(await driver.executions(created)).toBe(1);
    const answers = when === 'before' ? ['unknown', 'accepted'] : ['unknown'];
    expect(await waitForAnswers(driver, created, answers.length)).toEqual(answers);
    expect(await driver.events(created.id)).toEqual(['payout.confirmed']);
  });

  it('is not sent again before every earlier attempt must have arrived', async () => {
    await simulatorFault('down')('orders');
    const created = await driver.create();
    await waitForAnswer(created, 1);
    const countPolls = async () => (await driver.simulator.stats()).calls.BRE_B['order-query'] ?? 0;
    const polls = await countPolls();
    // The poll does not find it, up to 35 s after it was sent.
    await stack.shiftTime(35_000);
    await until('the rail was polled', async () => (await countPolls()) > polls);
    await driver.waitUntilIdle();
    await stack.shiftTime(10_000);
    await driver.waitForStatus(created.id, 'CONFIRMED');
    const attempts = await driver.query<{ at: Date }>(
      'select at from caudal.payout_attempts where payout_id = $1 order by number',
      [created.id],
    );
    const [first = Number.NaN, second = Number.NaN] = attempts.map(({ at }) => at.getTime());
    expect(second - first).toBeGreaterThanOrEqual(ARRIVAL_MS);
    expect(attempts).toHaveLength(2);
    expect(await driver.executions(created)).toBe(1);
  });

  it('that arrives after its retry is a duplicate for the rail', async () => {
    const { duplicates } = (await driver.simulator.stats()).orders;
    replyFaults.push({
      path: 'orders',
      fault: async (pass, { body }) => {
        const [order] = (body as { orders: { internalId: string }[] }).orders;
        await waitForAnswers(driver, { id: order?.internalId ?? '' }, 2);
        return pass();
      },
    });
    const created = await driver.create();
    await waitForAnswer(created, 1);
    await stack.shiftTime(60_000);
    await waitForAnswer(created, 2);
    await driver.waitForStatus(created.id, 'CONFIRMED');
    await until(
      'the first attempt arrives',
      async () => (await driver.simulator.stats()).orders.duplicates > duplicates,
    );
    expect(await driver.executions(created)).toBe(1);
  });
});

describe('an answer that arrives after the order was settled', () => {
  let caudal: InProcess;
  let sender: PayoutSender;
  beforeAll(async () => {
    caudal = await composeInProcess(stack.settings);
    const { payoutRail } = caudal.deps;
    sender = new PayoutSender(
      {
        ...caudal.deps,
        // This sender sends while the rail is paused for the workers.
        railPauses: new RailPauses({ held: false }),
        // Waits without the deadline of a call, which would make the answer unknown on a slow machine.
        payoutRail: {
          ...payoutRail,
          pay: async (orders) => {
            const answers = await payoutRail.pay(orders);
            for (const { payoutId } of orders) await driver.waitForStatus(payoutId, 'CONFIRMED');
            return answers;
          },
        },
      },
      caudal.keys,
    );
  });
  afterAll(() => caudal?.close());

  it.each<[string, ReplyFault]>([
    ['accepted', (pass) => pass()],
    ['refused', async (pass, call) => pass().then(() => rejectAll('4012')(pass, call))],
  ])('(%s) is recorded and changes nothing', async (answer, fault) => {
    replyFaults.push({ path: 'orders', fault });
    const created = await whilePaused(stack, driver, async () => {
      const payout = await driver.create();
      await sender.send();
      return payout;
    });
    expect(await waitForAnswer(created, 1)).toBe(answer);
    await driver.waitUntilIdle();
    expect((await driver.get(created.id)).status).toBe('CONFIRMED');
    expect(await driver.causes(created.id)).toEqual(['created', 'settled_on_notification']);
    expect(await driver.events(created.id)).toEqual(['payout.confirmed']);
    expect(await driver.anomalies(created.id)).toEqual([]);
    expect(await driver.executions(created)).toBe(1);
  });
});

describe('a settlement with a different amount', () => {
  const wrongAmount = ({ endToEndId }: CreatedPayout): ReplyFault =>
    insteadOfForwarding(
      json({ results: [{ endToEndId, status: 'SETTLED', executionId: 'x-1', amount: '1.00' }] }),
    );

  it('leaves the payout open with its money held, and raises one anomaly', async () => {
    const created = await driver.create({ key: '@TESTTIMEOUT' });
    await waitForAnswer(created, 1);
    for (let poll = 1; poll <= 2; poll += 1) {
      replyFaults.push({
        path: 'orders/query',
        fault: wrongAmount(created),
        endToEndId: created.endToEndId,
      });
      await stack.shiftTime(31_000);
      await until('it was polled', async () => replyFaults.length === 0);
      await driver.waitUntilIdle();
    }
    expect((await driver.get(created.id)).status).toBe('PROCESSING');
    expect(await driver.anomalies(created.id)).toMatchObject([{ kind: 'contradiction', cents: null }]);
    expect(await driver.transfers(created.id)).toEqual(['available → held 120050']);
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'REJECTED' });
    await driver.waitForStatus(created.id, 'DECLINED');
  });

  it('can be resolved by an operator', async () => {
    const created = await driver.create({ key: '@TESTTIMEOUT' });
    await waitForAnswer(created, 1);
    await stack.shiftTime(70_000);
    await driver.waitUntilIdle();
    // Workers poll every five seconds: only the command may get these replies.
    await postponePolls(driver, created);
    replyFaults.push({ path: 'orders/query', fault: wrongAmount(created) });
    const resolve = (...how: readonly string[]) =>
      driver.command('payouts', 'resolve', created.id, ...how, '--by', 'Laura', '--note', 'el extracto');
    await expect(resolve('--decline', '--anyway')).rejects.toThrow(/executed it for another amount/);
    replyFaults.push({ path: 'orders/query', fault: wrongAmount(created) });
    await resolve('--confirm');
    expect((await driver.get(created.id)).status).toBe('CONFIRMED');
  });
});

describe('a status poll without a usable answer', () => {
  it.each(FAULTS)('%s: polled again, then CONFIRMED', async (_what, _when, inject) => {
    await addNotificationFault('lost-notice');
    const created = await driver.create();
    await until('it is settled', async () => (await driver.executions(created)) === 1);
    await inject('orders/query', created.endToEndId);
    await stack.shiftTime(31_000);
    await driver.waitForStatus(created.id, 'CONFIRMED');
    expect(await driver.causes(created.id)).toEqual(['created', 'settled_on_poll']);
    expect(await driver.attempts(created.id)).toHaveLength(1);
    expect(await driver.executions(created)).toBe(1);
  });

  it('with a wrong NOT_FOUND: the order is sent again under the same ID, and the rail reports a duplicate', async () => {
    await addNotificationFault('lost-notice');
    const hidden = hideOrders();
    const created = await driver.create();
    await until('it is settled', async () => (await driver.executions(created)) === 1);
    replyFaults.push({
      path: 'orders',
      fault: (pass) => {
        removeFault(hidden);
        return pass();
      },
    });
    await stack.shiftTime(41_000);
    await driver.waitForStatus(created.id, 'CONFIRMED');
    expect(await waitForAnswers(driver, created, 2)).toEqual(['accepted', 'duplicate']);
    expect(await driver.executions(created)).toBe(1);
  });
});

describe('a rejection', () => {
  it('of the first attempt declines the payout immediately', async () => {
    replyFaults.push({ path: 'orders', fault: rejectAll('4012') });
    const before = await driver.balance();
    const created = await driver.create();
    expect(await driver.waitForStatus(created.id, 'DECLINED')).toMatchObject({ errorCode: 'LIMIT_EXCEEDED' });
    expect(await driver.balance()).toEqual(before);
    expect(await driver.executions(created)).toBe(0);
  });

  it.each(['5000', '5001', '4017', '9999'])(
    'with a non-final code (%s: in progress, timeout, unknown code) leaves the outcome unknown',
    async (code) => {
      replyFaults.push({ path: 'orders', fault: rejectAll(code) });
      const created = await driver.create();
      expect(await waitForAnswer(created, 1)).toBe('unknown');
      expect((await driver.get(created.id)).status).toBe('PROCESSING');
      await stack.shiftTime(41_000);
      await driver.waitForStatus(created.id, 'CONFIRMED');
      expect(await driver.executions(created)).toBe(1);
    },
  );

  it('of a retry is polled until no attempt can be in flight, then applied', async () => {
    await simulatorFault('down')('orders');
    const created = await driver.create();
    await waitForAnswer(created, 1);
    replyFaults.push({ path: 'orders', fault: rejectAll('4013') });
    await stack.shiftTime(41_000);
    expect(await waitForAnswer(created, 2)).toBe('refused');
    await waitForPoll(created);
    await stack.shiftTime(41_000);
    expect(await driver.waitForStatus(created.id, 'DECLINED')).toMatchObject({
      errorCode: 'NETWORK_LIMIT_EXCEEDED',
    });
    const [row] = await driver.query<{ ms: number }>(
      'select extract(epoch from result_at - last_sent_at)::float8 * 1000 as ms from caudal.payouts where id = $1',
      [created.id],
    );
    expect(row?.ms).toBeGreaterThanOrEqual(ARRIVAL_MS);
    expect(await driver.attempts(created.id)).toEqual([
      { number: 1, answer: 'unknown', error_code: null },
      { number: 2, answer: 'refused', error_code: 'NETWORK_LIMIT_EXCEEDED' },
    ]);
    expect(await driver.executions(created)).toBe(0);
  });

  it('of a retry changes nothing when the first attempt did arrive: CONFIRMED', async () => {
    await addNotificationFault('lost-notice');
    await simulatorFault('lost-answer')('orders');
    const hidden = hideOrders();
    const created = await driver.create();
    await until('it is settled', async () => (await driver.executions(created)) === 1);
    replyFaults.push({
      path: 'orders',
      fault: (pass, call) => {
        removeFault(hidden);
        return rejectAll('4013')(pass, call);
      },
    });
    await stack.shiftTime(41_000);
    expect(await waitForAnswer(created, 2)).toBe('refused');
    await driver.waitForStatus(created.id, 'CONFIRMED');
    expect(await driver.causes(created.id)).toEqual(['created', 'settled_on_poll']);
    expect(await driver.executions(created)).toBe(1);
  });
});

it('the ledger is consistent, and every execution belongs to one payout', async () => {
  await driver.waitUntilIdle();
  expect(await driver.ledgerInconsistencies()).toEqual([]);
  const executed = (await driver.simulator.executions()).map(({ executionId }) => executionId).sort();
  const confirmed = await driver.query<{ execution_id: string }>(
    'select execution_id from caudal.payouts where execution_id is not null order by execution_id',
  );
  expect(confirmed.map(({ execution_id }) => execution_id)).toEqual(executed);
});
