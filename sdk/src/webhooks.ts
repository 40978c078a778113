import type { CaudalEvent } from './event.ts';
import { isSigned, signaturesIn, WebhookVerificationError } from './webhook-signature.ts';

export { type SignedHeaders, sign } from './webhook-signature.ts';
export { type TestDelivery, type TestDeliveryOptions, testDelivery } from './webhook-test-delivery.ts';

/** Of a `Request`, of Node's `http`, or a plain object. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface UnwrapOptions {
  /** For tests: the time to compare with instead of now. */
  now?: Date | undefined;
}

const TOLERANCE_SECONDS = 300;
const encoder = new TextEncoder();

/**
 * Checks that a delivery is from your server, whole and fresh, and gives its event.
 * @param body exactly as it came: text or bytes, not parsed
 * @param secret `whsec_…`, or several while you change them
 * @throws WebhookVerificationError; `reason` says why
 * @example
 * const event = await webhooks.unwrap(await request.text(), request.headers, secret);
 * if (event.event === 'payin.confirmed') ship(event.data.reference);
 */
export async function unwrap(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { now = new Date() }: UnwrapOptions = {},
): Promise<CaudalEvent> {
  const text = textOf(body);
  const { id, timestamp, signature } = partsOf(headers);
  requireFresh(timestamp, now);
  const signed = encoder.encode(`${id}.${timestamp}.${text}`);
  if (!(await isSignedByAny(typeof secret === 'string' ? [secret] : secret, signed, signature)))
    throw new WebhookVerificationError(
      'signature_mismatch',
      'the signature is by none of the secrets: compare the endpoint’s secret, and give the body exactly as it came',
    );
  return eventIn(text, id);
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) return new TextDecoder().decode(body);
  throw new WebhookVerificationError(
    'body_not_raw',
    'the body must be the text or bytes that came: a framework that parsed the JSON has lost what was signed',
  );
}

function partsOf(headers: WebhookHeaders): { id: string; timestamp: string; signature: string } {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signature = headerOf(headers, 'webhook-signature');
  if (!id || !signature || !timestamp || !/^\d{1,12}$/.test(timestamp))
    throw new WebhookVerificationError(
      'headers_missing',
      'webhook-id, webhook-timestamp or webhook-signature is missing or not readable',
    );
  return { id, timestamp, signature };
}

function headerOf(headers: WebhookHeaders, name: string): string | null {
  if ('get' in headers && typeof headers.get === 'function') return headers.get(name);
  const [, value] = Object.entries(headers).find(([each]) => each.toLowerCase() === name) ?? [];
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.length === 1 ? String(value[0]) : null;
}

function requireFresh(timestamp: string, now: Date): void {
  const ageSeconds = Math.floor(now.getTime() / 1000) - Number(timestamp);
  if (ageSeconds > TOLERANCE_SECONDS)
    throw new WebhookVerificationError(
      'timestamp_too_old',
      `signed ${ageSeconds} seconds ago: a recorded delivery, or this machine’s clock is ahead`,
    );
  if (ageSeconds < -TOLERANCE_SECONDS)
    throw new WebhookVerificationError(
      'timestamp_too_new',
      `signed ${-ageSeconds} seconds ahead of this machine’s clock, which is behind`,
    );
}

async function isSignedByAny(
  secrets: readonly string[],
  signed: Uint8Array<ArrayBuffer>,
  header: string,
): Promise<boolean> {
  const signatures = signaturesIn(header);
  const answers = await Promise.all(
    secrets.flatMap((secret) => signatures.map((signature) => isSigned(secret, signed, signature))),
  );
  return answers.includes(true);
}

function eventIn(text: string, id: string): CaudalEvent {
  try {
    const event = JSON.parse(text) as Partial<CaudalEvent> | null;
    if (event?.id === id && typeof event.event === 'string' && typeof event.data === 'object')
      return event as CaudalEvent;
  } catch {
    // Told below, with the other ways not to be one.
  }
  throw new WebhookVerificationError(
    'body_not_an_event',
    'the signature holds, but the body is not an event of Caudal',
  );
}
