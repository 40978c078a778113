import { z } from 'zod';
import { PAYOUT_ERROR_CODES } from '../../payouts/payout.columns.ts';
import { PAYOUT_STATUSES } from '../../payouts/payout.states.ts';
import { currency, customer, metadata, timestamp } from '../fields.ts';
import { pageInfo } from '../list.ts';
import { anomalySchema } from './anomaly.schema.ts';
import { CUSTOMER_EXAMPLE } from './payin.schema.ts';

export const payoutSchema = z
  .strictObject({
    id: z.uuid().describe('Identifier of the payout.'),
    amount: z.number().describe('`amountInCents` / 100: pesos with at most two decimals.'),
    amountInCents: z.int().describe('The amount in cents.'),
    currency,
    status: z.enum(PAYOUT_STATUSES).describe('`CONFIRMED`, `DECLINED` and `CANCELED` are final.'),
    rail: z.literal('BRE_B').describe('The rail that the money is sent on.'),
    reference: z.string().describe('Your own identifier of the payout.'),
    inlineCustomer: customer.nullable(),
    errorCode: z.enum(PAYOUT_ERROR_CODES).nullable().describe('Why the payout failed.'),
    createdAt: timestamp,
    updatedAt: timestamp,
    resultAt: timestamp.nullable().describe('Time of the final status; null until then.'),
    organizationId: z.uuid().describe('Your organization.'),
    sourceData: z.strictObject({
      keyString: z.string().describe('The Bre-B key of the receiver.'),
      endToEndId: z
        .string()
        .nullable()
        .describe(
          "The network's id of the payment, also known to the receiver's bank. Null until the rail assigns it.",
        ),
    }),
    metadata,
  })
  .meta({ id: 'Payout' });

export const payoutWithAnomalies = payoutSchema
  .extend({
    anomalies: z.array(
      anomalySchema({
        kinds: ['SENT_LATE', 'SENT_AGAIN', 'CONTRADICTION', 'UNCONFIRMED'],
        kind: '`SENT_LATE`: money was sent after the payout was declined or canceled. `SENT_AGAIN`: money was sent a second time. `CONTRADICTION`: the rail contradicts an earlier report. `UNCONFIRMED`: a settlement was notified that the rail cannot confirm.',
        amount: 'Negative: money that was sent. Null if none was.',
        statuses: ['OPEN', 'RESOLVED'],
        status: '`OPEN`: the operator has not decided yet. `RESOLVED`: see `resolution`.',
        resolutions: ['CHARGE', 'WRITE_OFF', 'DISMISS'],
        resolution:
          '`CHARGE`: the money was debited from your available balance. `WRITE_OFF`: the operator bears the loss. `DISMISS`: closed without moving money.',
      }),
    ),
  })
  .meta({ id: 'PayoutWithAnomalies' });

export const payoutListSchema = z
  .strictObject({ data: z.array(payoutSchema), pageInfo })
  .meta({ id: 'PayoutList' });

export const PAYOUT_EXAMPLE = {
  id: '019b2c5e-9a41-7d02-8001-5c1f0e7b2a33',
  amount: 125000,
  amountInCents: 12_500_000,
  currency: 'COP',
  status: 'PROCESSING',
  rail: 'BRE_B',
  reference: 'salary-2026-11-ana',
  inlineCustomer: CUSTOMER_EXAMPLE,
  errorCode: null,
  createdAt: '2026-11-14T15:04:05.678Z',
  updatedAt: '2026-11-14T15:04:05.678Z',
  resultAt: null,
  organizationId: '019b2c5e-0000-7000-8001-000000000001',
  sourceData: { keyString: '3001234567', endToEndId: '01KC7RX6J1FM0G02AW3W7PPAHK000001' },
  metadata: {},
} as const;
