import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Caudal } from '@caudal/sdk';
import { order, PAYING_CUSTOMER, SUPPLIER } from './orders.ts';

const caudal = new Caudal({ apiKey: process.env['CAUDAL_API_KEY'], baseUrl: process.env['CAUDAL_BASE_URL'] });

test('an order is paid', async () => {
  const breb = { keyType: 'SINGLE_USE' } as const;
  const { id } = await caudal.payins.create({ ...order(), inlineCustomer: PAYING_CUSTOMER, breb });
  const paid = await caudal.payins.waitFor(id);
  assert.deepEqual([paid.status, paid.confirmedAmountInCents], ['CONFIRMED', order().amountInCents]);
});

test('a supplier is paid', async () => {
  const breb = { keyString: '@TESTOK' };
  const { id } = await caudal.payouts.create({ ...order(), inlineCustomer: SUPPLIER, breb });
  assert.equal((await caudal.payouts.waitFor(id)).status, 'CONFIRMED');
});
