import type { EventNamed } from './event.ts';
import { EVENT_SAMPLES } from './generated/event-samples.ts';
import type { CaudalEvent, EventName } from './generated/schemas.ts';
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
  const sample = sampleAt(EVENT_SAMPLES[event], at.toISOString());
  const body = JSON.stringify({ ...sample, id, data: { ...sample.data, ...data } });
  const headers = await sign({ body, secret, id, timestamp: at });
  return { body, headers: { 'content-type': 'application/json', ...headers } };
}

/** A UUIDv7, like all Caudal ids. */
function newId(at: Date): string {
  return idForTimestamp(at.getTime()).slice(0, 15) + crypto.randomUUID().slice(15);
}

/** The sample with another time of the event, which is also the time of the final status in its data. */
function sampleAt(sample: CaudalEvent, time: string): CaudalEvent {
  return JSON.parse(JSON.stringify(sample).replaceAll(sample.createdAt, time)) as CaudalEvent;
}
