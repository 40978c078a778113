import { EVENT_FIELDS, type EventNamed } from './event.ts';
import { SAMPLE_PAYIN, SAMPLE_PAYMENT_LINK, SAMPLE_PAYOUT } from './generated/samples.ts';
import type { EventName } from './generated/schemas.ts';
import { idAt } from './seen-events.ts';
import { type SignedHeaders, sign } from './webhook-signature.ts';

export interface TestDeliveryOptions<Name extends EventName> {
  event: Name;
  secret: string | readonly string[];
  /** What should differ from the sample, such as `reference`. */
  data?: Partial<EventNamed<Name>['data']> | undefined;
  /** When it happened and was signed; now by default. */
  at?: Date | undefined;
}

export interface TestDelivery {
  body: string;
  headers: SignedHeaders;
}

/**
 * A delivery as Caudal would send it, for tests of your receiver: no server needed.
 * @example
 * const { body, headers } = await webhooks.testDelivery({ event: 'payin.confirmed', secret, data: { reference: 'order-1001' } });
 * const answer = await fetch('http://localhost:3000/webhooks', { method: 'POST', body, headers });
 */
export async function testDelivery<Name extends EventName>({
  event,
  secret,
  data,
  at = new Date(),
}: TestDeliveryOptions<Name>): Promise<TestDelivery> {
  const id = freshId(at);
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

/** Of version 7, as all ids of Caudal are. */
function freshId(at: Date): string {
  return idAt(at.getTime()).slice(0, 15) + crypto.randomUUID().slice(15);
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
const payin = (facts: object) => picked({ ...SAMPLE_PAYIN, ...facts }, EVENT_FIELDS.payin);
const payout = (facts: object) => picked({ ...SAMPLE_PAYOUT, ...facts }, EVENT_FIELDS.payout);
const link = (facts: object) => picked({ ...SAMPLE_PAYMENT_LINK, ...facts }, EVENT_FIELDS.paymentlink);

function picked(from: object, fields: readonly string[]): object {
  const all = from as Record<string, unknown>;
  return Object.fromEntries(fields.map((field) => [field, all[field]]));
}
