import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tx } from '../../src/db/tx.ts';
import { findReceiptCode, findReceiptPayin, insertReceipt } from '../../src/receipts/receipt.store.ts';
import {
  endEmail,
  leaseEmails,
  postponeEmail,
  purgeEmails,
  queueEmail,
} from '../../src/receipts/receipt-email.store.ts';
import { openPlans, organizationScans, type Plans, sequentialScans } from '../harness/plans.ts';

const ID = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';
const ROW = { organizationId: ID, id: ID };
const EMAIL = { ...ROW, payinId: ID, encryptedAddress: Buffer.alloc(16), language: 'es' } as const;

let plans: Plans;
beforeAll(async () => {
  plans = await openPlans();
});
afterAll(() => plans?.close());

describe('the plan of each statement about receipts, with empty tables', () => {
  it.each<[string, (tx: Tx) => Promise<unknown>]>([
    ['find a code', (tx) => findReceiptCode(tx, ID, ID)],
    ['insert a receipt', (tx) => insertReceipt(tx, ID, ID, '7K3M9QXA22TF')],
    ['find a payin by its code', (tx) => findReceiptPayin(tx, '7K3M9QXA22TF')],
    ['queue an e-mail', (tx) => queueEmail(tx, EMAIL)],
    ['lease e-mails', (tx) => leaseEmails(tx, ID, 10)],
    ['end an e-mail', (tx) => endEmail(tx, ROW, ID, true)],
    ['postpone an e-mail', (tx) => postponeEmail(tx, ROW, ID, 1000)],
    ['purge e-mails', (tx) => purgeEmails(tx)],
  ])('has no sequential scan of a growing table: %s', async (_name, use) => {
    const plan = await plans.of(use);
    expect(sequentialScans(plan)).toEqual([]);
    expect(organizationScans(plan)).toEqual([]);
  });
});
