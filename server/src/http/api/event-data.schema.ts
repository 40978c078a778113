import { z } from 'zod';
import type { ListedEventName } from '../../events/event.ts';
import { keyNetworkEventData } from '../../organizations/key-network.event.ts';
import { payinEventData } from '../../payins/payin.event.ts';
import { linkEventData } from '../../payment-links/payment-link.event.ts';
import { payoutEventData } from '../../payouts/payout.event.ts';
import { timestamp } from '../fields.ts';
import { brebSource, payinSchema, pseSource } from './payin.schema.ts';
import { linkDetailsSchema } from './payment-link.schema.ts';
import { payoutSchema } from './payout.schema.ts';

/** The names of the fields at any depth; optional fields count like required ones. */
type Fields<Value> = Value extends object ? { [Name in keyof Value]-?: Fields<Value[Name]> } : 'value';

type Describes<Schema extends z.ZodType, Data> = [Data, Fields<Data>, Fields<z.output<Schema>>] extends [
  z.output<Schema>,
  Fields<z.output<Schema>>,
  Fields<Data>,
]
  ? unknown
  : { differsFrom: Data };

/** Compiles only if the schema accepts what the function returns and both have the same fields. */
function schemaOf<Data, Schema extends z.ZodType>(
  _build: (...parameters: never) => Data,
  schema: Schema & Describes<Schema, Data>,
): Schema {
  return schema;
}

// Fields of payins and payouts. The order of the fields is the order in the body of an event.
const IDENTITY = { id: true, reference: true, amount: true, amountInCents: true } as const;
const STATE = {
  currency: true,
  status: true,
  rail: true,
  sourceData: true,
  errorCode: true,
  createdAt: true,
  updatedAt: true,
  resultAt: true,
  organizationId: true,
  metadata: true,
} as const;

const payinData = schemaOf(
  payinEventData,
  payinSchema
    .extend({
      sourceData: z
        .union([
          brebSource.omit({ qrString: true }).meta({ title: 'Bre-B' }),
          pseSource.meta({ title: 'PSE' }),
        ])
        .describe('Rail-specific data.'),
    })
    .pick({ ...IDENTITY, confirmedAmount: true, confirmedAmountInCents: true, ...STATE }),
);

const payoutData = schemaOf(payoutEventData, payoutSchema.pick({ ...IDENTITY, ...STATE }));

const linkData = schemaOf(
  linkEventData,
  linkDetailsSchema.extend({ updatedAt: timestamp }).pick({
    paymentLinkId: true,
    reference: true,
    amount: true,
    currency: true,
    status: true,
    createdAt: true,
    updatedAt: true,
    expiresAt: true,
    completedAt: true,
    metadata: true,
  }),
);

const keyNetworkData = schemaOf(
  keyNetworkEventData,
  z.strictObject({
    apiKeyId: z.string().describe('The public id of the API key: the part after `cdl_live_` or `cdl_test_`.'),
    name: z.string().describe('The name of the API key.'),
    network: z.string().describe('The network of the client: /24 for IPv4, /48 for IPv6.'),
    allowed: z
      .boolean()
      .describe(
        'False if the address allow-list of the API key rejected the request (403 `address_not_allowed`).',
      ),
    seenAt: timestamp.describe('When the network was first seen.'),
    organizationId: z.uuid(),
  }),
);

/** The fields whose values the final status of a payin or payout narrows. */
function final<Status extends string>(status: Status) {
  return { status: z.literal(status), resultAt: timestamp.describe('Time of the final status.') };
}

const confirmed = {
  ...final('CONFIRMED'),
  errorCode: z.null().describe('Always null, because nothing failed.'),
};

/** The schema of `data`, by event. A missing event is a compile error. */
export const EVENT_DATA = {
  'payin.confirmed': payinData.extend({
    ...confirmed,
    confirmedAmount: z
      .number()
      .describe(
        'The amount paid: compare it with your order. Equal to `amount`, unless your organization accepts any amount.',
      ),
    confirmedAmountInCents: z.int().describe('`confirmedAmount` in cents.'),
  }),
  'payin.canceled': payinData.extend(final('CANCELED')),
  'payin.declined': payinData.extend(final('DECLINED')),
  'payout.confirmed': payoutData.extend(confirmed),
  'payout.canceled': payoutData.extend(final('CANCELED')),
  'payout.declined': payoutData.extend(final('DECLINED')),
  'paymentlink.completed': linkData.extend({
    status: z.literal('COMPLETED'),
    expiresAt: z.null().describe('Always null, because a paid link no longer expires.'),
    completedAt: timestamp.describe('When the link was paid.'),
  }),
  'paymentlink.expired': linkData.extend({
    status: z.literal('EXPIRED'),
    expiresAt: timestamp.describe('One hour after creation.'),
    completedAt: z.null().describe('Always null, because the link was not paid.'),
  }),
  'api_key.used_from_new_network': keyNetworkData,
  'webhook.test': z.strictObject({
    webhookEndpointId: z.uuid().describe('The endpoint that receives the test.'),
  }),
} satisfies Record<ListedEventName, z.ZodObject>;
