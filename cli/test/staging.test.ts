import { afterAll, beforeAll, expect, test } from 'vitest';
import { readMetric } from '../../server/test/harness/read-metric.ts';
import type { Stack } from '../../server/test/harness/stack.ts';
import { until } from '../../server/test/harness/until.ts';
import { TRIGGERED_EVENTS } from '../src/simulate/trigger-event.ts';
import { CommandLine, stackUrl } from './command-line.ts';
import { fundedStack } from './funded-stack.ts';
import { waitUntilSent } from './wait-until-sent.ts';

interface SimulateResult {
  readonly payin: {
    readonly status: string;
    readonly errorCode: string | null;
    readonly confirmedAmountInCents: number | null;
    readonly anomalies: { readonly kind: string }[];
  };
}

let stack: Stack;
let shop: CommandLine;

beforeAll(async () => {
  stack = await fundedStack();
  const { apiKey } = stack.organization;
  shop = new CommandLine({
    CAUDAL_API_KEY: apiKey,
    CAUDAL_BASE_URL: stackUrl(stack),
    CAUDAL_SIMULATOR_URL: stack.simulatorUrl,
  });
});
afterAll(() => stack.stop());

async function expectTriggered(name: string): Promise<void> {
  const event = await shop.json('trigger', name);
  expect(event).toMatchObject({ event: name, data: { reference: expect.stringMatching(/^trigger-/) } });
}

const CANCELED = 'payout.canceled';

// Most of the time is spent waiting for the simulated payer.
test.concurrent.each(TRIGGERED_EVENTS.filter((name) => name !== CANCELED))(
  'trigger %s causes the real event',
  expectTriggered,
);

test(`trigger ${CANCELED} causes the real event`, async () => {
  const untilPauses = (count: number) =>
    until(`every process knows ${count} pauses`, async () => {
      const known = await Promise.all(
        [...stack.apis, ...stack.workers].map((each) => readMetric(each, 'caudal_rail_pauses')),
      );
      return known.every((each) => each === count);
    });
  // Only a payout that has not been sent can be canceled.
  await stack.command('rails', 'pause', '--rail', 'BRE_B', '--reason', 'test', '--by', 'test');
  await untilPauses(1);
  await expectTriggered(CANCELED);
  await stack.command('rails', 'resume', '--rail', 'BRE_B', '--by', 'test');
  expect(await untilPauses(0)).toBe(true);
});

test('trigger supports PSE and a custom amount', async () => {
  const [payin, link] = await Promise.all([
    shop.json('trigger', 'payin.declined', '--rail', 'PSE', '--amount', '20.000'),
    shop.json('trigger', 'paymentlink.completed', '--rail', 'PSE'),
  ]);
  expect(payin).toMatchObject({ event: 'payin.declined', data: { rail: 'PSE', amountInCents: 2_000_000 } });
  expect(link).toMatchObject({ event: 'paymentlink.completed' });
});

test('trigger and simulate reject a live key without sending a request', async () => {
  const live = new CommandLine({
    CAUDAL_API_KEY: `cdl_live_01KE2265M7YPHEEX_${'a'.repeat(49)}`,
    CAUDAL_BASE_URL: 'http://127.0.0.1:1',
    CAUDAL_SIMULATOR_URL: stack.simulatorUrl,
  });
  const ran = await Promise.all([
    live.run('trigger', 'payin.confirmed'),
    live.run('listen', '--trigger', 'payin.confirmed'),
    live.run('simulate', 'pay', 'order-1'),
  ]);
  for (const { code, stderr } of ran)
    expect([code, stderr]).toEqual([1, expect.stringContaining('live key')]);
});

async function createPayin(...args: readonly string[]): Promise<string> {
  const { id } = await shop.json<{ id: string }>('payins', 'create', '--amount', '10000', ...args);
  return id;
}

const PSE_ARGS = [
  '--bank',
  'CO_NEQUI',
  '--name',
  'Ana Rojas',
  '--id-number',
  '1020304050',
  '--phone',
  '+573001234567',
  '--email',
  'ana@example.com',
];

test('simulate on Bre-B: payment, underpayment, decline, cancellation, late payment, double payment', async () => {
  const act = async (...args: readonly string[]) => {
    const [what = '', ...rest] = args;
    return (await shop.json<SimulateResult>('simulate', what, await createPayin(), ...rest)).payin;
  };
  const [paid, less, declined] = await Promise.all([
    act('pay'),
    act('pay', '--amount', '4.000'),
    act('decline', '--code', '4010'),
  ]);
  const [canceled, late, twice] = await Promise.all([act('cancel'), act('late'), act('twice')]);
  expect(paid).toMatchObject({ status: 'CONFIRMED', confirmedAmountInCents: 1_000_000 });
  expect(less).toMatchObject({
    status: 'DECLINED',
    errorCode: 'UNDERPAID',
    confirmedAmountInCents: 400_000,
  });
  expect(declined).toMatchObject({ status: 'DECLINED', errorCode: 'ACCOUNT_NOT_FOUND' });
  expect(canceled).toMatchObject({ status: 'CANCELED', errorCode: 'PAYER_CANCELED' });
  expect(late).toMatchObject({ status: 'CANCELED', anomalies: [{ kind: 'PAID_LATE' }] });
  expect(twice).toMatchObject({ status: 'CONFIRMED', anomalies: [{ kind: 'PAID_AGAIN' }] });
});

test('simulate on PSE: payment, decline with a reason, late payment', async () => {
  const [one, two, three] = await Promise.all([
    createPayin(...PSE_ARGS),
    createPayin(...PSE_ARGS),
    createPayin(...PSE_ARGS),
  ]);
  const [paid, declined, late] = await Promise.all([
    shop.json<SimulateResult>('simulate', 'pay', one),
    shop.json<SimulateResult>('simulate', 'decline', two, '--code', '8'),
    shop.json<SimulateResult>('simulate', 'late', three),
  ]);
  expect(paid.payin.status).toBe('CONFIRMED');
  expect(declined.payin).toMatchObject({ status: 'DECLINED', errorCode: 'LIMIT_EXCEEDED' });
  expect(late.payin).toMatchObject({ status: 'CANCELED', anomalies: [{ kind: 'PAID_LATE' }] });
  const again = await shop.run('simulate', 'pay', one);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('already CONFIRMED')]);
});

test('simulate a payer who leaves the bank page: undecided, then approved, or ended by PSE', async () => {
  const [one, two, breb] = await Promise.all([
    createPayin(...PSE_ARGS),
    createPayin(...PSE_ARGS),
    createPayin(),
  ]);
  const [left, ended, refused] = await Promise.all([
    shop.json<SimulateResult>('simulate', 'leave', one),
    shop.json<SimulateResult>('simulate', 'leave', two, '--then', 'abandon'),
    shop.run('simulate', 'leave', breb),
  ]);
  expect(left.payin.status).toBe('PROCESSING');
  expect(ended.payin).toMatchObject({ status: 'CANCELED', errorCode: 'PAYER_ABANDONED' });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('only PSE has a bank page')]);
  const approved = await shop.json<SimulateResult>('simulate', 'leave', one, '--then', 'approve');
  expect(approved.payin.status).toBe('CONFIRMED');
});

test('simulate settles or rejects a payout in progress', async () => {
  const receiver = [
    '--name',
    'Janeth',
    '--id-number',
    '1000000099',
    '--phone',
    '+573001234567',
    '--email',
    'j@example.com',
  ];
  const payout = (reference: string) =>
    [
      'payouts',
      'create',
      '--amount',
      '1000',
      '--key',
      '@TESTTIMEOUT',
      '--yes',
      '--reference',
      reference,
    ].concat(receiver);
  const open = await Promise.all([
    shop.run(...payout('open-1'), '--wait', '--timeout', '2s'),
    shop.run(...payout('open-2'), '--wait', '--timeout', '2s'),
  ]);
  expect(open.map(({ code }) => code)).toEqual([3, 3]);
  await Promise.all(['open-1', 'open-2'].map((reference) => waitUntilSent(stack, shop, reference)));
  const [settled, rejected] = await Promise.all([
    shop.json('simulate', 'settle', 'open-1'),
    shop.json('simulate', 'reject', 'open-2', '--code', '4010'),
  ]);
  expect(settled).toMatchObject({ payout: { status: 'CONFIRMED' } });
  expect(rejected).toMatchObject({ payout: { status: 'DECLINED', errorCode: 'ACCOUNT_NOT_FOUND' } });
});

test('simulate injects, lists and clears a rail fault', async () => {
  const added = await shop.json<{ id: string }>('simulate', 'fault', 'bre_b', 'down', '--on', 'lookups');
  const [listed, looked] = await Promise.all([
    shop.run('simulate', 'faults'),
    shop.run('breb', 'lookup', '@TESTOK'),
  ]);
  expect(listed.stdout).toMatch(new RegExp(`${added.id} +BRE_B +down +lookups +always`));
  expect([looked.code, looked.stderr]).toEqual([1, expect.stringContaining('503 rail_unavailable')]);
  expect(await shop.json('simulate', 'clear', added.id)).toEqual({ removed: 1 });
  const [none, wrong] = await Promise.all([
    shop.run('simulate', 'faults'),
    shop.run('simulate', 'fault', 'PSE', 'down', '--on', 'lookups'),
  ]);
  expect(none.stdout).toContain('No active faults.');
  expect(wrong.code).toBe(2);
});

test('simulate key adds, suspends and removes a directory entry', async () => {
  const key = '3001234567';
  await shop.json('simulate', 'key', key, '--name', 'Ana Maria Rojas', '--id-number', '1020304050');
  expect(await shop.json('breb', 'lookup', key, '--name', 'Ana Maria Rojas')).toMatchObject({
    match: { name: 'FULL' },
  });
  await shop.json('simulate', 'key', key, '--suspend');
  expect((await shop.run('breb', 'lookup', key)).stderr).toContain('breb_key_suspended');
  await shop.json('simulate', 'key', key, '--remove');
  expect((await shop.run('breb', 'lookup', key)).stderr).toContain('breb_key_not_found');
});

test('an unreachable simulator is reported with its URL', async () => {
  const away = new CommandLine({ CAUDAL_SIMULATOR_URL: 'http://127.0.0.1:1' });
  const { code, stderr } = await away.run('simulate', 'faults');
  expect([code, stderr]).toEqual([1, expect.stringContaining('no simulator responds at http://127.0.0.1:1')]);
});
