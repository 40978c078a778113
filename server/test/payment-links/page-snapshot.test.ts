import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ReadDb } from '../../src/db/tenant.ts';
import type { Tx } from '../../src/db/tx.ts';
import { loadLinkCheckout } from '../../src/flows/payment-links/load-checkout.ts';
import { monotonicMs } from '../../src/kit/clock.ts';
import { Shops } from '../../src/organizations/shops.ts';
import { CheckoutDriver } from '../harness/checkout-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { type Stack, startStack } from '../harness/stack.ts';

let stack: Stack;
let caudal: InProcess;
let driver: CheckoutDriver;
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 1 });
  caudal = await composeInProcess(stack.settings);
  driver = new CheckoutDriver(stack);
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

/** Runs `act` once, after the first statement of a transaction. */
function interrupted(read: ReadDb, act: () => Promise<unknown>): ReadDb {
  let acted = false;
  return {
    read: (organizationId, work) =>
      read.read(organizationId, (tx) => {
        const query: Tx['query'] = async (...args) => {
          const rows = await tx.query(...args);
          if (!acted) {
            acted = true;
            await act();
          }
          return rows as never;
        };
        return work({ ...tx, query });
      }),
  };
}

it('shows one moment of a link, its attempts and its money when a payment arrives while the page is loaded', async () => {
  const link = await driver.link();
  const { key } = await driver.breb(link);
  const shops = new Shops(caudal.deps.system, caudal.keys, monotonicMs);
  const token = new URL(link.paymentLinkUrl).pathname.split('/').at(-1) ?? '';
  const before = await loadLinkCheckout(caudal.deps, shops, token);
  const read = interrupted(caudal.deps.read, async () => {
    await driver.simulator.pay({ key });
    await driver.waitForStatus(link, 'COMPLETED');
  });
  const meanwhile = await loadLinkCheckout({ ...caudal.deps, read }, shops, token);
  const after = await loadLinkCheckout(caudal.deps, shops, token);
  const moment = (state: typeof before) => ({
    link: state?.link?.status,
    attempt: state?.attempt?.payin.status,
    stamp: state?.stamp,
  });
  expect(moment(meanwhile)).toEqual(moment(before));
  expect(moment(after)).toMatchObject({ link: 'COMPLETED', attempt: 'CONFIRMED' });
  expect(after?.stamp).not.toBe(before?.stamp);
});
