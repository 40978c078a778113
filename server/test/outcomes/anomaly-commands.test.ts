import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cents } from '../../src/kit/money.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../src/organizations/organization.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { connectBreb, payOrder } from '../harness/rails-under-test.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let driver: PayinDriver;
let payouts: PayoutDriver;
beforeAll(async () => {
  stack = await startStack({
    apis: 1,
    workers: 1, // Keeps the settlement schedule, which runs every minute, out of these tests.
    settings: { CAUDAL_WORKER_POLL_MS: '20', CAUDAL_SETTLEMENT_DELAY_MINUTES: '600' },
  });
  driver = new PayinDriver(stack);
  payouts = new PayoutDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
});

interface ListedAnomaly {
  readonly id: string;
  readonly kind: string;
  readonly payinId: string | null;
  readonly amountInCents: number | null;
  readonly organizationId: string;
}

const list = async (...flags: string[]) =>
  JSON.parse(await payouts.command('anomalies', 'list', '--json', ...flags)) as ListedAnomaly[];
const resolve = (id: string, ...rest: string[]) =>
  payouts.command('anomalies', 'resolve', id, '--by', 'Laura', ...rest);
const available = async () =>
  (await stack.api.get<{ availableInCents: number }>('/balance')).body.availableInCents;

it('lists a late payment, credits it once to the merchant and keeps the ledger consistent', async () => {
  const { payin, key } = await driver.breb();
  await driver.simulator.pay({ key });
  await driver.waitForStatus(payin.id, 'CONFIRMED');
  await driver.simulator.pay({ key, amount: '250.00', anyway: true });
  await driver.waitUntilIdle();
  const [anomaly] = await list();
  expect(anomaly).toMatchObject({ kind: 'paid_again', payinId: payin.id, amountInCents: 25_000 });
  const id = anomaly?.id ?? '';
  expect(await payouts.command('anomalies', 'list')).toContain(`COP 250.00  payin ${payin.id}`);

  await expect(resolve(id, '--dismiss')).rejects.toThrow(/has money, so it cannot be dismissed/);
  await expect(resolve(id)).rejects.toThrow(/one of --credit, --return, --charge, --write-off and --dismiss/);
  const before = await available();
  expect(await resolve(id, '--credit', '--note', 'the payer asked to keep it')).toContain('COP 250.00 moved');
  expect(await available()).toBe(before + 25_000);
  await expect(resolve(id, '--credit')).rejects.toThrow(/resolved before: credit by Laura/);
  expect(await available()).toBe(before + 25_000);
  expect(await list()).toEqual([]);
  expect(await list('--all')).toMatchObject([{ id, resolution: 'credit', resolvedBy: 'Laura' }]);
  const { body } = await stack.api.get<{ anomalies: object[] }>(`/payins/${payin.id}`);
  expect(body.anomalies).toMatchObject([{ kind: 'PAID_AGAIN', amount: 250, resolution: 'CREDIT' }]);
  expect(await payouts.command('ledger', 'verify')).toContain('sum of all accounts is zero');
});

it('requires --org to credit a payment to an unknown key', async () => {
  await driver.simulator.pay({ key: '@SOMEBODYELSESKEY', amount: '77.00', anyway: true });
  await driver.waitUntilIdle();
  const [anomaly] = await list();
  expect(anomaly).toMatchObject({ kind: 'unmatched', payinId: null, amountInCents: 7700 });
  const id = anomaly?.id ?? '';
  await expect(resolve(id, '--credit')).rejects.toThrow(/give its organization with --org/);
  const before = await available();
  await resolve(id, '--credit', '--org', stack.organization.organizationId);
  expect(await available()).toBe(before + 7700);
  expect(await payouts.command('ledger', 'verify')).toContain('sum of all accounts is zero');
});

it('dismisses an anomaly without money', async () => {
  const { payin, key } = await driver.breb();
  await driver.simulator.pay({ key });
  await driver.waitForStatus(payin.id, 'CONFIRMED');
  await driver.simulator.endKey({ key, outcome: 'REJECTED', anyway: true });
  await driver.waitUntilIdle();
  const [anomaly] = await list();
  const id = anomaly?.id ?? '';
  await expect(resolve(id, '--credit')).rejects.toThrow(/has no money to move/);
  expect(await resolve(id, '--dismiss')).toContain('is dismissed');
  expect(await payouts.command('anomalies', 'list')).toContain('There are no open anomalies.');
});

describe('an anomaly of an unmatched outgoing payment', () => {
  beforeAll(() => payouts.fund(5000));

  /** A payout that was declined and refunded, and that the rail executed afterwards. */
  async function createSentLateAnomaly(): Promise<string> {
    const { id, endToEndId } = await payouts.create({ key: '@TESTDECLINED' });
    await payouts.waitForStatus(id, 'DECLINED');
    await payouts.simulator.endOrder({ endToEndId, outcome: 'SETTLED', anyway: true });
    const [anomaly] = await until('the anomaly is recorded', async () => {
      const found = await payouts.anomalies(id);
      return found.length > 0 && found;
    });
    return anomaly?.id ?? '';
  }

  it('is charged to the merchant; --credit, --return and --dismiss are rejected', async () => {
    const id = await createSentLateAnomaly();
    expect(await list()).toMatchObject([{ id, kind: 'sent_late', amountInCents: -120_050 }]);
    expect(await payouts.command('anomalies', 'list')).toContain('COP -1200.50  payout ');
    expect(await payouts.suspense()).toBe(-120_050);
    for (const option of [['--credit'], ['--return', '--key', '@TESTOK', '--yes']])
      await expect(resolve(id, ...option)).rejects.toThrow(/has outgoing money/);
    await expect(resolve(id, '--dismiss')).rejects.toThrow(/cannot be dismissed/);
    const before = await available();
    expect(await resolve(id, '--charge', '--note', 'acordado con el comercio')).toContain(
      'COP 1200.50 moved',
    );
    expect(await available()).toBe(before - 120_050);
    expect(await payouts.suspense()).toBe(0);
    await expect(resolve(id, '--charge')).rejects.toThrow(/resolved before: charge by Laura/);
    expect(await available()).toBe(before - 120_050);
    expect(JSON.parse(await payouts.command('audit', 'list', '--json'))).toContainEqual(
      expect.objectContaining({
        action: 'anomalies.resolve',
        resource: id,
        note: 'acordado con el comercio',
      }),
    );
    expect(await payouts.ledgerInconsistencies()).toEqual([]);
  });

  it('is not charged when the balance is too low, and no money moves', async () => {
    const id = await createSentLateAnomaly();
    const rest = await available();
    const { id: spent } = await payouts.create({ amountInCents: rest - 100 });
    await payouts.waitForStatus(spent, 'CONFIRMED');
    await expect(resolve(id, '--charge')).rejects.toThrow(/does not cover it; no money was moved/);
    expect(await available()).toBe(100);
    expect(await list()).toMatchObject([{ id }]);
    expect(await resolve(id, '--write-off')).toContain('COP 1200.50 moved from treasury');
    expect(await available()).toBe(100);
    expect(await payouts.suspense()).toBe(0);
    expect(await payouts.ledgerInconsistencies()).toEqual([]);
  });

  it('without a payout is written off, or charged to the organization the operator names', async () => {
    await payouts.fund(5000);
    const otherConnector = connectBreb(stack.simulatorUrl);
    await otherConnector.pay([payOrder({ amount: cents(7_700n) }), payOrder({ amount: cents(8_800n) })]);
    await otherConnector.disconnect();
    const found = await until('both anomalies are recorded', async () => {
      const open = await list();
      return open.length === 2 && open;
    });
    expect(found).toMatchObject([{ kind: 'unmatched' }, { kind: 'unmatched' }]);
    expect(found.map(({ organizationId }) => organizationId)).toEqual([
      OPERATOR_ORGANIZATION_ID,
      OPERATOR_ORGANIZATION_ID,
    ]);
    expect(await payouts.suspense()).toBe(-16_500);
    expect(await payouts.ledgerInconsistencies()).toEqual([]);
    const anomalyOfAmount = (amount: number) =>
      found.find(({ amountInCents }) => amountInCents === amount)?.id ?? '';
    await expect(resolve(anomalyOfAmount(-7700), '--charge')).rejects.toThrow(
      /give its organization with --org/,
    );
    const before = await available();
    await resolve(anomalyOfAmount(-7700), '--charge', '--org', stack.organization.organizationId);
    expect(await available()).toBe(before - 7700);
    await resolve(anomalyOfAmount(-8800), '--write-off');
    expect(await available()).toBe(before - 7700);
    expect(await payouts.suspense()).toBe(0);
    expect(await payouts.ledgerInconsistencies()).toEqual([]);
  });

  it('cannot be charged or written off when the money came in', async () => {
    const { payin, key } = await driver.breb();
    await driver.simulator.pay({ key });
    await driver.waitForStatus(payin.id, 'CONFIRMED');
    await driver.simulator.pay({ key, amount: '1.00', anyway: true });
    await driver.waitUntilIdle();
    const [anomaly] = await list();
    for (const option of ['--charge', '--write-off'])
      await expect(resolve(anomaly?.id ?? '', option)).rejects.toThrow(/has incoming money/);
    await resolve(anomaly?.id ?? '', '--credit');
  });
});

it.each([
  [['anomalies', 'resolve'], /needs the id of an anomaly/],
  [
    ['anomalies', 'resolve', '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10', '--credit', '--by', 'x'],
    /no such anomaly/,
  ],
])('rejects %j with a clear error', async (args, message) => {
  await expect(payouts.command(...args)).rejects.toThrow(message);
});
