import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settleBalances } from '../../server/src/flows/ledger/settle-balances.system.ts';
import { composeInProcess, type InProcess } from '../../server/test/harness/in-process.ts';
import { PayinDriver } from '../../server/test/harness/payin-driver.ts';
import { type Stack, startStack } from '../../server/test/harness/stack.ts';
import { until } from '../../server/test/harness/until.ts';
import { checkLives } from '../src/payins/life-check.ts';

const PAYINS = 3;

let stack: Stack;
let caudal: InProcess;
let driver: PayinDriver;
beforeAll(async () => {
  stack = await startStack({ workers: 1 });
  caudal = await composeInProcess(stack.settings);
  driver = new PayinDriver(stack);
  for (let count = 0; count < PAYINS; count += 1) {
    const { payin, key } = await driver.breb();
    await driver.simulator.pay({ key });
    await driver.waitForStatus(payin.id, 'CONFIRMED');
  }
  await driver.waitUntilIdle();
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

const settledPayins = async () => {
  const [row] = await stack.database.query<{ count: number }>(
    "select count(*)::int as count from caudal.payins where settlement_status = 'SETTLED'",
  );
  return row?.count;
};

describe('checkLives', () => {
  it('accepts payins whose money was already settled', async () => {
    await until('a settlement run has settled every payin', async () => {
      await settleBalances(caudal.deps);
      return (await settledPayins()) === PAYINS;
    });
    await expect(checkLives(stack.database, [stack.organization], PAYINS)).resolves.toBeUndefined();
  });

  it('rejects a count that differs from the ledger', async () => {
    await expect(checkLives(stack.database, [stack.organization], PAYINS + 1)).rejects.toThrow(
      /4 lives, but confirmed: 3/,
    );
  });
});
