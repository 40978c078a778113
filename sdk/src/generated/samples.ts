// Made by `npm run generate`.

import type { BrebPayin, PaymentLinkWithDetails, Payout } from './schemas.ts';

/** The example of createPayin. */
export const SAMPLE_PAYIN: BrebPayin = {
  id: '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10',
  amount: 49800,
  amountInCents: 4980000,
  confirmedAmount: null,
  confirmedAmountInCents: null,
  currency: 'COP',
  status: 'PROCESSING',
  settlementStatus: null,
  rail: 'BRE_B',
  reference: 'order-1001',
  paymentLinkId: null,
  inlineCustomer: {
    name: 'Ana María Rojas',
    idType: 'CO_CC',
    idNumber: '1020304050',
    phone: '+573001234567',
    email: 'ana@example.com',
  },
  errorCode: null,
  createdAt: '2026-11-14T15:04:05.678Z',
  updatedAt: '2026-11-14T15:04:05.678Z',
  expiresAt: '2026-11-14T16:04:05.678Z',
  resultAt: null,
  chargebackAt: null,
  organizationId: '019b2c5e-0000-7000-8001-000000000001',
  sourceData: {
    keyType: 'SINGLE_USE',
    keyString: '@CDL0102H3K9M2X7QWER',
    checkoutUrl: 'https://pay.example.com/p/01…',
    endToEndId: null,
  },
  callbackUrl: 'https://shop.example.com/thanks',
};

/** The example of createPayout. */
export const SAMPLE_PAYOUT: Payout = {
  id: '019b2c5e-9a41-7d02-8001-5c1f0e7b2a33',
  amount: 125000,
  amountInCents: 12500000,
  currency: 'COP',
  status: 'PROCESSING',
  rail: 'BRE_B',
  reference: 'salary-2026-11-ana',
  inlineCustomer: {
    name: 'Ana María Rojas',
    idType: 'CO_CC',
    idNumber: '1020304050',
    phone: '+573001234567',
    email: 'ana@example.com',
  },
  errorCode: null,
  createdAt: '2026-11-14T15:04:05.678Z',
  updatedAt: '2026-11-14T15:04:05.678Z',
  resultAt: null,
  organizationId: '019b2c5e-0000-7000-8001-000000000001',
  sourceData: { keyString: '3001234567', endToEndId: '01KC7RX6J1FM0G02AW3W7PPAHK000001' },
};

/** The example of getPaymentLink. */
export const SAMPLE_PAYMENT_LINK: PaymentLinkWithDetails = {
  paymentLinkId: '019b2c5e-c1d2-7e3f-8001-8b9c0d1e2f3a',
  paymentLinkUrl: 'https://pay.example.com/l/0143hXcS0bPq…',
  status: 'PENDING',
  createdAt: '2026-11-14T15:04:05.678Z',
  expiresAt: '2026-11-14T16:04:05.678Z',
  rail: null,
  inlineCustomer: null,
  reference: 'order-1001',
  amount: 49800,
  amountInCents: 4980000,
  currency: 'COP',
  description: 'Order 1001, two pairs of shoes',
  callbackUrl: 'https://shop.example.com/thanks',
  completedAt: null,
  payinId: null,
};
