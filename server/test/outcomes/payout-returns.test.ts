import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_ORGANIZATION_ID } from '../../src/organizations/organization.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let payins: PayinDriver;
let driver: PayoutDriver;
beforeAll(async () => {
  stack = await startStack({
    apis: 1,
    workers: 2,
    settings: { CAUDAL_WORKER_POLL_MS: '20', CAUDAL_SETTLEMENT_DELAY_MINUTES: '600' },
  });
  payins = new PayinDriver(stack);
  driver = new PayoutDriver(stack);
});
afterAll(() => stack?.stop());
afterEach(async () => {
  await driver.simulator.clearFaults();
  await driver.checkLedger();
});

interface ListedAnomaly {
  readonly id: string;
  readonly payinId: string | null;
  readonly resolution: string | null;
  readonly returnPayoutId: string | null;
}

const findListed = async (id: string, ...flags: readonly string[]) =>
  (JSON.parse(await driver.command('anomalies', 'list', '--json', ...flags)) as ListedAnomaly[]).find(
    (each) => each.id === id,
  );
const returnAnomaly = async (id: string, key: string) =>
  (
    JSON.parse(
      await driver.command(
        'anomalies',
        'resolve',
        id,
        '--return',
        '--key',
        key,
        '--yes',
        '--by',
        'Laura',
        '--json',
      ),
    ) as { returnPayoutId: string }
  ).returnPayoutId;

/** A payin that was paid twice: 250 pesos are in suspense. */
async function createPaidTwice(): Promise<{ payinId: string; anomalyId: string }> {
  const { payin, key } = await payins.breb();
  await payins.simulator.pay({ key });
  await payins.waitForStatus(payin.id, 'CONFIRMED');
  await payins.simulator.pay({ key, amount: '250.00', anyway: true });
  const anomaly = await until('the anomaly is recorded', async () => {
    const [row] = await driver.query<{ id: string }>('select id from caudal.anomalies where payin_id = $1', [
      payin.id,
    ]);
    return row;
  });
  return { payinId: payin.id, anomalyId: anomaly.id };
}

const readPayoutRow = async (id: string) => {
  const [row] = await driver.query<{
    status: string;
    error_code: string | null;
    organization_id: string;
    end_to_end_id: string;
  }>('select status, error_code, organization_id, end_to_end_id from caudal.payouts where id = $1', [id]);
  if (!row) throw new Error('no payout');
  return row;
};
const waitForStatus = (id: string, status: string) =>
  until(`the return payout is ${status}`, async () => (await readPayoutRow(id)).status === status);

describe('a return of money in suspense', () => {
  it("is a payout of the operator organization; its confirmation empties suspense and resolves the payin's anomaly", async () => {
    const { payinId, anomalyId } = await createPaidTwice();
    expect(await driver.suspense()).toBe(25_000);
    const id = await returnAnomaly(anomalyId, '@TESTOK');
    await waitForStatus(id, 'CONFIRMED');
    expect(await driver.suspense()).toBe(0);
    const row = await readPayoutRow(id);
    expect(row.organization_id).toBe(OPERATOR_ORGANIZATION_ID);
    expect(await driver.executions({ endToEndId: row.end_to_end_id })).toBe(1);
    expect(await driver.transfers(id)).toEqual(['suspense → clearing_bre_b 25000']);
    expect(await driver.events(id), 'the operator organization has no events').toEqual([]);
    const { body } = await stack.api.get(`/payins/${payinId}`);
    expect(body).toMatchObject({ anomalies: [{ kind: 'PAID_AGAIN', amount: 250, resolution: 'RETURN' }] });
    expect(
      (await stack.api.get(`/payouts/${id}`)).status,
      'the merchant does not own the return payout',
    ).toBe(404);
    expect(await findListed(anomalyId, '--all')).toMatchObject({ resolution: 'return', returnPayoutId: id });
    expect(JSON.parse(await driver.command('audit', 'list', '--json'))).toContainEqual(
      expect.objectContaining({ operator: 'Laura', action: 'anomalies.resolve', resource: anomalyId }),
    );
  });

  it('stays in suspense while the outcome is unknown, with a consistent ledger and no second resolution', async () => {
    const { anomalyId } = await createPaidTwice();
    const id = await returnAnomaly(anomalyId, '@TESTTIMEOUT');
    const { end_to_end_id: endToEndId } = await readPayoutRow(id);
    await until('the order is at the rail', () => driver.simulator.order(endToEndId));
    expect(await driver.suspense()).toBe(25_000);
    expect(await driver.ledgerInconsistencies()).toEqual([]);
    expect(await findListed(anomalyId)).toBeUndefined();
    await expect(returnAnomaly(anomalyId, '@TESTOK')).rejects.toThrow(/resolved before: return by Laura/);
    await stack.shiftTime(65_000);
    expect(await driver.command('payouts', 'unknown')).toContain(id);
    await driver.simulator.endOrder({ endToEndId, outcome: 'SETTLED' });
    await waitForStatus(id, 'CONFIRMED');
    expect(await driver.suspense()).toBe(0);
  });

  it('that is declined reopens the anomaly and can go to another key', async () => {
    const { payinId, anomalyId } = await createPaidTwice();
    const first = await returnAnomaly(anomalyId, '@TESTDECLINED');
    await waitForStatus(first, 'DECLINED');
    expect((await readPayoutRow(first)).error_code).toBe('ACCOUNT_NOT_FOUND');
    expect(await driver.suspense()).toBe(25_000);
    expect(await findListed(anomalyId)).toMatchObject({ resolution: null, returnPayoutId: null });
    const { body } = await stack.api.get(`/payins/${payinId}`);
    expect(body).toMatchObject({ anomalies: [{ resolution: null, resolvedAt: null }] });
    expect(await driver.ledgerInconsistencies()).toEqual([]);

    const second = await returnAnomaly(anomalyId, '@TESTLOSTANSWER');
    expect(second).not.toBe(first);
    await waitForStatus(second, 'CONFIRMED');
    expect(await driver.suspense()).toBe(0);
    expect(await findListed(anomalyId, '--all')).toMatchObject({
      resolution: 'return',
      returnPayoutId: second,
    });
    expect((await readPayoutRow(first)).status).toBe('DECLINED');
  });

  it('that was declined can be credited instead', async () => {
    const { anomalyId } = await createPaidTwice();
    await waitForStatus(await returnAnomaly(anomalyId, '@TESTDECLINED'), 'DECLINED');
    const { available } = await driver.balance();
    await driver.command('anomalies', 'resolve', anomalyId, '--credit', '--by', 'Laura');
    expect((await driver.balance()).available).toBe(available + 25_000);
    expect(await driver.suspense()).toBe(0);
  });

  it('by two operators at the same time is sent once', async () => {
    const { anomalyId } = await createPaidTwice();
    const args = [
      'anomalies',
      'resolve',
      anomalyId,
      '--return',
      '--key',
      '@TESTOK',
      '--yes',
      '--by',
      'Laura',
    ];
    const both = await Promise.allSettled([stack.command(...args), stack.command(...args)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const returns = await driver.query<{ id: string }>(
      'select id from caudal.payouts where anomaly_id = $1',
      [anomalyId],
    );
    expect(returns).toHaveLength(1);
    await waitForStatus(returns[0]?.id ?? '', 'CONFIRMED');
    expect(await driver.suspense()).toBe(0);
  });

  it('executed after it was declined makes suspense owe the second payment until an operator writes it off', async () => {
    const { anomalyId } = await createPaidTwice();
    const id = await returnAnomaly(anomalyId, '@TESTDECLINED');
    await waitForStatus(id, 'DECLINED');
    const { end_to_end_id: endToEndId } = await readPayoutRow(id);
    await driver.simulator.endOrder({ endToEndId, outcome: 'SETTLED', anyway: true });
    await until('the anomaly is recorded', async () => (await driver.anomalies(id)).length > 0);
    expect(await driver.anomalies(id)).toMatchObject([{ kind: 'sent_late', cents: '-25000' }]);
    expect(await driver.suspense()).toBe(0);
    expect(await driver.ledgerInconsistencies()).toEqual([]);
    const [late] = await driver.anomalies(id);
    await driver.command('anomalies', 'resolve', late?.id ?? '', '--write-off', '--by', 'Laura');
    await driver.command('anomalies', 'resolve', anomalyId, '--credit', '--by', 'Laura');
    expect(await driver.suspense()).toBe(0);
  });

  it('requires the operator to name the key holder or to confirm with --yes', async () => {
    const { anomalyId } = await createPaidTwice();
    const returnArgs = ['anomalies', 'resolve', anomalyId, '--return', '--key', '@TESTOK', '--by', 'Laura'];
    const returnTo = (...holderArgs: readonly string[]) => driver.command(...returnArgs, ...holderArgs);
    await expect(returnTo()).rejects.toThrow(/nothing was changed: the key belongs to JAN\*\*\* SMI\*\*\*/);
    await expect(returnTo('--name', 'Pedro Pérez')).rejects.toThrow(/which is not "Pedro Pérez"/);
    await expect(returnTo('--name', 'Pedro Pérez', '--yes')).rejects.toThrow(/which is not "Pedro Pérez"/);
    expect(await findListed(anomalyId)).toMatchObject({ resolution: null });
    expect(await returnTo('--name', 'Janeth Smith Prueba')).toContain('returns COP 250.00 to JAN***');
    await until('it is returned', async () => (await driver.suspense()) === 0);
  });

  it('is rejected without a write for an unknown or suspended key or when the directory does not answer', async () => {
    const { anomalyId } = await createPaidTwice();
    await expect(returnAnomaly(anomalyId, '@TESTNOTFOUND')).rejects.toThrow(/KEY_NOT_FOUND/);
    await expect(returnAnomaly(anomalyId, '@TESTSUSPENDED')).rejects.toThrow(/KEY_SUSPENDED/);
    await expect(returnAnomaly(anomalyId, 'not a key')).rejects.toThrow(/is not a valid Bre-B key/);
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'resolve', fault: 'down', times: 1 });
    await expect(returnAnomaly(anomalyId, '@TESTOK')).rejects.toThrow(/no clear answer/);
    expect(await findListed(anomalyId)).toMatchObject({ resolution: null });
    expect(await driver.query('select from caudal.payouts where anomaly_id = $1', [anomalyId])).toEqual([]);
    await driver.command('anomalies', 'resolve', anomalyId, '--credit', '--by', 'Laura');
  });

  it('works for a payment to an unknown key', async () => {
    await driver.simulator.pay({ key: '@SOMEBODYELSESKEY', amount: '77.00', anyway: true });
    const anomaly = await until('the anomaly is recorded', async () => {
      const [row] = await driver.query<{ id: string }>(
        "select id from caudal.anomalies where kind = 'unmatched' and amount_in_cents = 7700 and resolved_at is null",
      );
      return row;
    });
    expect(await driver.suspense()).toBe(7700);
    await waitForStatus(await returnAnomaly(anomaly.id, '@TESTOK'), 'CONFIRMED');
    expect(await driver.suspense()).toBe(0);
  });
});
