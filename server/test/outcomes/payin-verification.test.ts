import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgeBrebPayment, forgePsePayment } from '../harness/forged-notice.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { PayinDriver, type PayinView } from '../harness/payin-driver.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let driver: PayinDriver;
let payouts: PayoutDriver;
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 2, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayinDriver(stack);
  payouts = new PayoutDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
});

const settle = () => payouts.command('schedules', 'run', 'settlement');
const resolve = (id: string, ...rest: string[]) =>
  payouts.command('anomalies', 'resolve', id, '--by', 'Laura', ...rest);
const amounts = async () => {
  const { body } = await stack.api.get<{ availableInCents: number; pendingInCents: number }>('/balance');
  return { available: body.availableInCents, pending: body.pendingInCents };
};
const expectConsistentLedger = async () =>
  expect(await payouts.command('ledger', 'verify')).toContain('sum of all accounts is zero');

/**
 * Waits until the rail was polled after its processing time and the anomaly is raised. @returns the anomaly
 * ID
 */
async function waitForHold(payin: PayinView): Promise<string> {
  await driver.waitForStatus(payin.id, 'CONFIRMED');
  await stack.shiftTime(65_000);
  return until('the settlement is held', async () => {
    const [row] = await driver.query<{ id: string }>(
      `select id from caudal.anomalies where payin_id = $1 and kind = 'payment_not_listed'`,
      [payin.id],
    );
    return row?.id;
  });
}

/** A Bre-B payin that only a forged notification confirmed; its settlement is held. */
async function createForged(): Promise<{ payin: PayinView; executionId: string; anomalyId: string }> {
  const { payin, key } = await driver.breb();
  const executionId = await forgeBrebPayment(stack, key, payin.amountInCents);
  return { payin, executionId, anomalyId: await waitForHold(payin) };
}

/** The same on PSE, where the rail may still execute the named transaction. */
async function createForgedPse(): Promise<{ payin: PayinView; reference: string; anomalyId: string }> {
  const { payin, reference } = await driver.pse();
  const transaction = await driver.simulator.transaction(reference);
  await forgePsePayment(stack, reference, transaction?.transactionId ?? '', payin.amountInCents);
  return { payin, reference, anomalyId: await waitForHold(payin) };
}

/** A run skips payins that another transaction has locked. */
const settleUntilSettled = ({ id }: PayinView) =>
  until(`${id} is SETTLED`, async () => {
    await settle();
    return (await driver.get(id)).settlementStatus === 'SETTLED';
  });

describe('a notification without a payment', () => {
  it('never makes money available: the rail does not list the payment, and settlement is held', async () => {
    const before = await amounts();
    const { payin, executionId } = await createForged();
    await settle();
    expect(await driver.get(payin.id)).toMatchObject({
      status: 'CONFIRMED',
      settlementStatus: 'PENDING_SETTLEMENT',
      anomalies: [{ kind: 'PAYMENT_NOT_LISTED', amount: null, resolution: null }],
    });
    expect(await amounts()).toEqual({ ...before, pending: before.pending + payin.amountInCents });
    const { id } = await payouts.create({ amountInCents: before.available + 1 });
    expect(await payouts.get(id)).toMatchObject({ status: 'DECLINED', errorCode: 'INSUFFICIENT_FUNDS' });
    expect(await driver.anomalies(payin.id)).toEqual([
      { kind: 'payment_not_listed', cents: null, execution_id: executionId },
    ]);
    await expectConsistentLedger();
  });

  it('raises an alarm: a log line, a metric, an anomaly and a doctor finding', async () => {
    const { payin, anomalyId } = await createForged();
    await until('a worker logs it', async () =>
      stack.workers.some((worker) =>
        worker
          .output()
          .split('\n')
          .some(
            (line) =>
              line.includes('"code":"payment_not_listed"') &&
              line.includes('"level":"error"') &&
              line.includes(payin.id),
          ),
      ),
    );
    await until('the metric counts it', async () => {
      const counts = await Promise.all(
        stack.workers.map((worker) => readMetric(worker, 'caudal_payins_settlement_held')),
      );
      return counts.some((count) => count > 0);
    });
    expect(await payouts.command('anomalies', 'list')).toMatch(
      new RegExp(`${anomalyId}.*payment_not_listed.*settlement held.*payin ${payin.id}`),
    );
    const { code, stdout } = await runOperatorCommand(stack.settings, 'doctor');
    expect(code).toBe(1);
    expect(stdout).toMatch(/the settlement of \d+ payins? is held/);
    await expect(resolve(anomalyId, '--dismiss')).rejects.toThrow(/--release lets it settle/);
    await expect(resolve(anomalyId, '--credit')).rejects.toThrow(/--release lets it settle/);
  });
});

describe('an operator', () => {
  it('releases a held settlement once: the payin settles, with operator and audit entry', async () => {
    const { payin, anomalyId } = await createForged();
    const before = await amounts();
    expect(await resolve(anomalyId, '--release', '--note', 'seen at the bank')).toContain(
      'next settlement run',
    );
    await settleUntilSettled(payin);
    expect((await amounts()).available).toBeGreaterThanOrEqual(before.available + payin.amountInCents);
    await expect(resolve(anomalyId, '--release')).rejects.toThrow(/resolved before: release by Laura/);
    await expect(resolve(anomalyId, '--reverse')).rejects.toThrow(/resolved before: release by Laura/);
    expect(JSON.parse(await payouts.command('audit', 'list', '--json'))).toContainEqual(
      expect.objectContaining({
        operator: 'Laura',
        action: 'anomalies.resolve',
        organizationId: stack.organization.organizationId,
        resource: anomalyId,
        details: { resolution: 'release', payinId: payin.id, amountInCents: String(payin.amountInCents) },
        note: 'seen at the bank',
      }),
    );
    await expectConsistentLedger();
  });

  it('reverses a held payment once: the payin stays CONFIRMED, its money is removed and never settles', async () => {
    const { payin, anomalyId } = await createForged();
    const before = await amounts();
    expect(await resolve(anomalyId, '--reverse')).toContain('settlementStatus REVERSED');
    expect(await amounts()).toEqual({ ...before, pending: before.pending - payin.amountInCents });
    await expect(resolve(anomalyId, '--reverse')).rejects.toThrow(/resolved before: reverse by Laura/);
    await driver.waitUntilIdle();
    await settle();
    expect(await driver.get(payin.id)).toMatchObject({
      status: 'CONFIRMED',
      settlementStatus: 'REVERSED',
      anomalies: [{ kind: 'PAYMENT_NOT_LISTED', resolution: 'REVERSE' }],
    });
    expect(await driver.transfers(payin.id)).toEqual([
      { debit: 'clearing_bre_b', credit: 'pending', cents: String(payin.amountInCents) },
      { debit: 'pending', credit: 'clearing_bre_b', cents: String(payin.amountInCents) },
    ]);
    await expectConsistentLedger();
  });

  it('cannot release or reverse an anomaly that holds no settlement', async () => {
    const { payin, key } = await driver.breb();
    await driver.simulator.pay({ key }, { key, anyway: true });
    await driver.waitForStatus(payin.id, 'CONFIRMED');
    const [row] = await until('the second payment is an anomaly', async () => {
      const rows = await driver.query<{ id: string }>('select id from caudal.anomalies where payin_id = $1', [
        payin.id,
      ]);
      return rows.length > 0 ? rows : null;
    });
    for (const option of ['--release', '--reverse'])
      await expect(resolve(row?.id ?? '', option)).rejects.toThrow(/holds no settlement/);
  });
});

describe('a second notification of an execution whose posting was reversed', () => {
  it('confirms no other payin and posts nothing: the rail is polled and does not list it', async () => {
    const { executionId, anomalyId } = await createForged();
    await resolve(anomalyId, '--reverse');
    const { payin, key } = await driver.breb();
    await forgeBrebPayment(stack, key, payin.amountInCents, executionId);
    await driver.passProcessingWindow(stack);
    expect(await driver.get(payin.id)).toMatchObject({ status: 'PROCESSING', settlementStatus: null });
    expect(await driver.transfers(payin.id)).toEqual([]);
    expect(await driver.anomalies(payin.id)).toEqual([
      { kind: 'unconfirmed', cents: null, execution_id: executionId },
    ]);
    await expectConsistentLedger();
  });
});

describe('a payment that the rail lists only after its processing time', () => {
  it('ends the hold without an operator and settles (PSE)', async () => {
    const { payin, reference } = await createForgedPse();
    await driver.simulator.endTransaction({ reference, state: 'OK' });
    await stack.shiftTime(120_000);
    await until('the hold has ended', async () => {
      const { body } = await stack.api.get<{ anomalies: { resolution: string | null }[] }>(
        `/payins/${payin.id}`,
      );
      return body.anomalies[0]?.resolution === 'LISTED';
    });
    await settleUntilSettled(payin);
    expect(await driver.transfers(payin.id)).toHaveLength(1);
    await expectConsistentLedger();
  });

  it('is an anomaly with its money in suspense when its posting was already reversed (PSE)', async () => {
    const { payin, reference, anomalyId } = await createForgedPse();
    await resolve(anomalyId, '--reverse');
    await driver.simulator.endTransaction({ reference, state: 'OK' });
    await stack.shiftTime(120_000);
    await until('the money is in suspense', async () => (await driver.anomalies(payin.id)).length === 2);
    // In the order of their IDs, which come from the clocks of two workers.
    expect(await driver.anomalies(payin.id)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'payment_not_listed' }),
        expect.objectContaining({ kind: 'paid_late', cents: String(payin.amountInCents) }),
      ]),
    );
    await driver.waitUntilIdle();
    await settle();
    expect(await driver.get(payin.id)).toMatchObject({ settlementStatus: 'REVERSED' });
    // In the order of the database's time: the command and the worker see a shifted time at different moments.
    expect((await driver.transfers(payin.id)).map(({ debit, credit }) => [debit, credit])).toEqual([
      ['clearing_pse', 'pending'],
      ['pending', 'clearing_pse'],
      ['clearing_pse', 'suspense'],
    ]);
    await expectConsistentLedger();
  });
});

describe('a payment that the rail lists', () => {
  it.each(['BRE_B', 'PSE'] as const)('settles as soon as the rail was polled, on %s', async (rail) => {
    const { payin, pay } =
      rail === 'BRE_B'
        ? await driver.breb().then(({ payin, key }) => ({ payin, pay: () => driver.simulator.pay({ key }) }))
        : await driver.pse().then(({ payin, reference }) => ({
            payin,
            pay: () => driver.simulator.endTransaction({ reference, state: 'OK' }),
          }));
    await pay();
    await driver.waitForStatus(payin.id, 'CONFIRMED');
    await until('the payment is verified', async () => {
      const [row] = await driver.query<{ verified: boolean }>(
        `select payment_verified_at is not null and settles_at = result_at or settlement_status = 'SETTLED' as verified
         from caudal.payins where id = $1`,
        [payin.id],
      );
      return row?.verified;
    });
    await settleUntilSettled(payin);
    const [row] = await driver.query<{ first: boolean }>(
      `select p.payment_verified_at <= s.at as first from caudal.payins p
       join caudal.settlements s on s.organization_id = p.organization_id and s.id = p.settlement_id where p.id = $1`,
      [payin.id],
    );
    expect(row).toEqual({ first: true });
    expect(await driver.anomalies(payin.id)).toEqual([]);
  });
});
