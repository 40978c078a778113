import { EVENT_FIELDS, type EventNamed } from './event.ts';
import { SAMPLE_PAYIN, SAMPLE_PAYMENT_LINK, SAMPLE_PAYOUT } from './generated/samples.ts';
import type { EventName } from './generated/schemas.ts';
import { idForTimestamp } from './seen-events.ts';
import { type SignedHeaders, sign } from './webhook-signature.ts';

export interface TestDeliveryOptions<Name extends EventName> {
  event: Name;
  secret: string | readonly string[];
  /** Fields that override the sample, such as `reference`. */
  data?: Partial<EventNamed<Name>['data']> | undefined;
  /** Time of the event and of the signature; now by default. */
  at?: Date | undefined;
}

export interface TestDelivery {
  body: string;
  headers: SignedHeaders;
}

/**
 * Builds a delivery like Caudal's, for tests of your receiver without a server.
 * @example
 * const { body, headers } = await webhooks.testDelivery({ event: 'payin.confirmed', secret, data: { reference: 'order-1001' } });
 * const response = await fetch('http://localhost:3000/webhooks', { method: 'POST', body, headers });
 */
export async function testDelivery<Name extends EventName>({
  event,
  secret,
  data,
  at = new Date(),
}: TestDeliveryOptions<Name>): Promise<TestDelivery> {
  const id = newId(at);
  const createdAt = at.toISOString();
  const [resource] = event.split('.');
  const body = JSON.stringify({
    id,
    event,
    resource,
    createdAt,
    data: { ...sampleData(event, createdAt), ...data },
  });
  const headers = await sign({ body, secret, id, timestamp: at });
  return { body, headers: { 'content-type': 'application/json', ...headers } };
}

/** A UUIDv7, like all Caudal ids. */
function newId(at: Date): string {
  return idForTimestamp(at.getTime()).slice(0, 15) + crypto.randomUUID().slice(15);
}

function sampleData(event: EventName, at: string): object {
  switch (event) {
    case 'payin.confirmed': {
      const { amount, amountInCents } = SAMPLE_PAYIN;
      return payin({
        status: 'CONFIRMED',
        confirmedAmount: amount,
        confirmedAmountInCents: amountInCents,
        ...ended(at),
      });
    }
    case 'payin.declined':
      return payin({ status: 'DECLINED', errorCode: 'INSUFFICIENT_FUNDS', ...ended(at) });
    case 'payin.canceled':
      return payin({ status: 'CANCELED', errorCode: 'EXPIRED', ...ended(at) });
    case 'payout.confirmed':
      return payout({ status: 'CONFIRMED', ...ended(at) });
    case 'payout.declined':
      return payout({ status: 'DECLINED', errorCode: 'ACCOUNT_CLOSED', ...ended(at) });
    case 'payout.canceled':
      return payout({ status: 'CANCELED', ...ended(at) });
    case 'paymentlink.completed':
      return link({ status: 'COMPLETED', expiresAt: null, completedAt: at, updatedAt: at });
    case 'paymentlink.expired':
      return link({ status: 'EXPIRED', updatedAt: at });
  }
}

const ended = (at: string) => ({ updatedAt: at, resultAt: at });
const payin = (overrides: object) => pick({ ...SAMPLE_PAYIN, ...overrides }, EVENT_FIELDS.payin);
const payout = (overrides: object) => pick({ ...SAMPLE_PAYOUT, ...overrides }, EVENT_FIELDS.payout);
const link = (overrides: object) => pick({ ...SAMPLE_PAYMENT_LINK, ...overrides }, EVENT_FIELDS.paymentlink);

function pick(from: object, fields: readonly string[]): object {
  const all = from as Record<string, unknown>;
  return Object.fromEntries(fields.map((field) => [field, all[field]]));
}
