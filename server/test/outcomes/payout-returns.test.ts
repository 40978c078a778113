import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { OPERATOR_ORGANIZATION_ID } from '../../src/organizations/organization.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

vi.setConfig({ testTimeout: 60_000 });

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
  await driver.booksAreWhole();
});

interface Listed {
  readonly id: string;
  readonly payinId: string | null;
  readonly resolution: string | null;
  readonly returnPayoutId: string | null;
}

const listed = async (id: string, ...flags: readonly string[]) =>
  (JSON.parse(await driver.command('anomalies', 'list', '--json', ...flags)) as Listed[]).find(
    (each) => each.id === id,
  );
const give = async (id: string, key: string) =>
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

/** A payin that was paid once more than it should: 250 pesos are in suspense. */
async function paidTwice(): Promise<{ payinId: string; anomalyId: string }> {
  const { payin, key } = await payins.breb();
  await payins.simulator.pay({ key });
  await payins.reaches(payin.id, 'CONFIRMED');
  await payins.simulator.pay({ key, amount: '250.00', anyway: true });
  const anomaly = await until('the anomaly is noticed', async () => {
    const [row] = await driver.query<{ id: string }>('select id from caudal.anomalies where payin_id = $1', [
      payin.id,
    ]);
    return row;
  });
  return { payinId: payin.id, anomalyId: anomaly.id };
}

const rowOf = async (id: string) => {
  const [row] = await driver.query<{
    status: string;
    error_code: string | null;
    organization_id: string;
    end_to_end_id: string;
  }>('select status, error_code, organization_id, end_to_end_id from caudal.payouts where id = $1', [id]);
  if (!row) throw new Error('no payout');
  return row;
};
const ends = (id: string, status: string) =>
  until(`the return is ${status}`, async () => (await rowOf(id)).status === status);

describe('money in suspense that is returned', () => {
  it('leaves by a payout of the house, once it is confirmed suspense is empty, and its payin tells', async () => {
    const { payinId, anomalyId } = await paidTwice();
    expect(await driver.suspense()).toBe(25_000);
    const id = await give(anomalyId, '@TESTOK');
    await ends(id, 'CONFIRMED');
    expect(await driver.suspense()).toBe(0);
    const row = await rowOf(id);
    expect(row.organization_id).toBe(OPERATOR_ORGANIZATION_ID);
    expect(await driver.executions({ endToEndId: row.end_to_end_id })).toBe(1);
    expect(await driver.moves(id)).toEqual(['suspense → clearing_bre_b 25000']);
    expect(await driver.events(id), 'nobody is to be told').toEqual([]);
    const { body } = await stack.api.get(`/payins/${payinId}`);
    expect(body).toMatchObject({ anomalies: [{ kind: 'PAID_AGAIN', amount: 250, resolution: 'RETURN' }] });
    expect((await stack.api.get(`/payouts/${id}`)).status, 'it is not the merchant’s').toBe(404);
    expect(await listed(anomalyId, '--all')).toMatchObject({ resolution: 'return', returnPayoutId: id });
    expect(JSON.parse(await driver.command('audit', 'list', '--json'))).toContainEqual(
      expect.objectContaining({ operator: 'Laura', action: 'anomalies.resolve', resource: anomalyId }),
    );
  });

  it('stays in suspense while nobody knows, with whole books, and nobody can decide about it anew', async () => {
    const { anomalyId } = await paidTwice();
    const id = await give(anomalyId, '@TESTTIMEOUT');
    const { end_to_end_id: endToEndId } = await rowOf(id);
    await until('it is at the rail', () => driver.simulator.order(endToEndId));
    expect(await driver.suspense()).toBe(25_000);
    expect(await driver.brokenBooks()).toEqual([]);
    expect(await listed(anomalyId)).toBeUndefined();
    await expect(give(anomalyId, '@TESTOK')).rejects.toThrow(/resolved before: return by Laura/);
    await stack.shiftTime(65_000);
    expect(await driver.command('payouts', 'unknown')).toContain(id);
    await driver.simulator.endOrder({ endToEndId, outcome: 'SETTLED' });
    await ends(id, 'CONFIRMED');
    expect(await driver.suspense()).toBe(0);
  });

  it('that is declined waits for the operator again, and can go to another key', async () => {
    const { payinId, anomalyId } = await paidTwice();
    const first = await give(anomalyId, '@TESTDECLINED');
    await ends(first, 'DECLINED');
    expect((await rowOf(first)).error_code).toBe('ACCOUNT_NOT_FOUND');
    expect(await driver.suspense()).toBe(25_000);
    expect(await listed(anomalyId)).toMatchObject({ resolution: null, returnPayoutId: null });
    const { body } = await stack.api.get(`/payins/${payinId}`);
    expect(body).toMatchObject({ anomalies: [{ resolution: null, resolvedAt: null }] });
    expect(await driver.brokenBooks()).toEqual([]);

    const second = await give(anomalyId, '@TESTLOSTANSWER');
    expect(second).not.toBe(first);
    await ends(second, 'CONFIRMED');
    expect(await driver.suspense()).toBe(0);
    expect(await listed(anomalyId, '--all')).toMatchObject({ resolution: 'return', returnPayoutId: second });
    expect((await rowOf(first)).status).toBe('DECLINED');
  });

  it('that was declined can be credited instead', async () => {
    const { anomalyId } = await paidTwice();
    await ends(await give(anomalyId, '@TESTDECLINED'), 'DECLINED');
    const { available } = await driver.balance();
    await driver.command('anomalies', 'resolve', anomalyId, '--credit', '--by', 'Laura');
    expect((await driver.balance()).available).toBe(available + 25_000);
    expect(await driver.suspense()).toBe(0);
  });

  it('by two operators at once leaves once', async () => {
    const { anomalyId } = await paidTwice();
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
    await ends(returns[0]?.id ?? '', 'CONFIRMED');
    expect(await driver.suspense()).toBe(0);
  });

  it('executed after all though it was declined: suspense owes what it gave twice, until somebody bears it', async () => {
    const { anomalyId } = await paidTwice();
    const id = await give(anomalyId, '@TESTDECLINED');
    await ends(id, 'DECLINED');
    const { end_to_end_id: endToEndId } = await rowOf(id);
    await driver.simulator.endOrder({ endToEndId, outcome: 'SETTLED', anyway: true });
    await until('it is noticed', async () => (await driver.anomalies(id)).length > 0);
    expect(await driver.anomalies(id)).toMatchObject([{ kind: 'sent_late', cents: '-25000' }]);
    expect(await driver.suspense()).toBe(0);
    expect(await driver.brokenBooks()).toEqual([]);
    const [late] = await driver.anomalies(id);
    await driver.command('anomalies', 'resolve', late?.id ?? '', '--write-off', '--by', 'Laura');
    await driver.command('anomalies', 'resolve', anomalyId, '--credit', '--by', 'Laura');
    expect(await driver.suspense()).toBe(0);
  });

  it('goes only to whom the operator means: named, or seen and agreed to', async () => {
    const { anomalyId } = await paidTwice();
    const back = ['anomalies', 'resolve', anomalyId, '--return', '--key', '@TESTOK', '--by', 'Laura'];
    const to = (...whom: readonly string[]) => driver.command(...back, ...whom);
    await expect(to()).rejects.toThrow(/nothing was done: the key belongs to JAN\*\*\* SMI\*\*\*/);
    await expect(to('--name', 'Pedro Pérez')).rejects.toThrow(/which is not "Pedro Pérez"/);
    await expect(to('--name', 'Pedro Pérez', '--yes')).rejects.toThrow(/which is not "Pedro Pérez"/);
    expect(await listed(anomalyId)).toMatchObject({ resolution: null });
    expect(await to('--name', 'Janeth Smith Prueba')).toContain('COP 250.00 go to JAN***');
    await until('it is returned', async () => (await driver.suspense()) === 0);
  });

  it('to nobody’s key, or when the directory does not answer, is refused and nothing is written', async () => {
    const { anomalyId } = await paidTwice();
    await expect(give(anomalyId, '@TESTNOTFOUND')).rejects.toThrow(/KEY_NOT_FOUND/);
    await expect(give(anomalyId, '@TESTSUSPENDED')).rejects.toThrow(/KEY_SUSPENDED/);
    await expect(give(anomalyId, 'not a key')).rejects.toThrow(/cannot be a Bre-B key/);
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'resolve', fault: 'down', times: 1 });
    await expect(give(anomalyId, '@TESTOK')).rejects.toThrow(/no clear answer/);
    expect(await listed(anomalyId)).toMatchObject({ resolution: null });
    expect(await driver.query('select from caudal.payouts where anomaly_id = $1', [anomalyId])).toEqual([]);
    await driver.command('anomalies', 'resolve', anomalyId, '--credit', '--by', 'Laura');
  });

  it('of a key that was never ours goes back too', async () => {
    await driver.simulator.pay({ key: '@SOMEBODYELSESKEY', amount: '77.00', anyway: true });
    const anomaly = await until('the anomaly is noticed', async () => {
      const [row] = await driver.query<{ id: string }>(
        "select id from caudal.anomalies where kind = 'unmatched' and amount_in_cents = 7700 and resolved_at is null",
      );
      return row;
    });
    expect(await driver.suspense()).toBe(7700);
    await ends(await give(anomaly.id, '@TESTOK'), 'CONFIRMED');
    expect(await driver.suspense()).toBe(0);
  });
});
