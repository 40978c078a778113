import type { CaudalEvent } from './generated/schemas.ts';
import {
  decodeSecret,
  parseSignatures,
  verifySignature,
  WebhookVerificationError,
} from './webhook-signature.ts';

/** Headers of a `Request`, of Node's `http`, or a plain object. */
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
 * Verifies the signature and age of a delivery and returns its event.
 * @param body the raw body: text or bytes, not parsed
 * @param secret `whsec_…`, or several during a rotation
 * @throws WebhookVerificationError with a `reason`
 * @throws TypeError when the secret is missing or malformed
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
  const secrets = checkSecrets(secret);
  const text = decodeBody(body);
  const { id, timestamp, signature } = readSignatureHeaders(headers);
  checkAge(timestamp, now);
  const signed = encoder.encode(`${id}.${timestamp}.${text}`);
  if (!(await verifyAnySignature(secrets, signed, signature)))
    throw new WebhookVerificationError(
      'signature_mismatch',
      'no signature matches: check the secret of the endpoint, and pass the raw body',
    );
  return parseEvent(text, id);
}

/** @throws TypeError, not WebhookVerificationError: the receiver is misconfigured, and the delivery may be genuine */
export function checkSecrets(secret: unknown): readonly string[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0 || secrets.some((each) => typeof each !== 'string' || each === ''))
    throw new TypeError(
      'the webhook secret is missing: pass the whsec_… of the endpoint, for example from an environment variable',
    );
  for (const each of secrets) decodeSecret(each as string);
  return secrets as readonly string[];
}

function decodeBody(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) return new TextDecoder().decode(body);
  throw new WebhookVerificationError(
    'body_not_raw',
    'the body must be the raw text or bytes: parsed JSON cannot be verified',
  );
}

function readSignatureHeaders(headers: WebhookHeaders): { id: string; timestamp: string; signature: string } {
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signature = readHeader(headers, 'webhook-signature');
  if (!id || !signature || !timestamp || !/^\d{1,12}$/.test(timestamp))
    throw new WebhookVerificationError(
      'headers_missing',
      'webhook-id, webhook-timestamp or webhook-signature is missing or malformed',
    );
  return { id, timestamp, signature };
}

export function readHeader(headers: WebhookHeaders, name: string): string | null {
  if ('get' in headers && typeof headers.get === 'function') return headers.get(name);
  const [, value] = Object.entries(headers).find(([each]) => each.toLowerCase() === name) ?? [];
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.length === 1 ? String(value[0]) : null;
}

function checkAge(timestamp: string, now: Date): void {
  const ageSeconds = Math.floor(now.getTime() / 1000) - Number(timestamp);
  if (ageSeconds > TOLERANCE_SECONDS)
    throw new WebhookVerificationError(
      'timestamp_too_old',
      `signed ${ageSeconds} seconds ago: a replayed delivery, or this machine’s clock is ahead`,
    );
  if (ageSeconds < -TOLERANCE_SECONDS)
    throw new WebhookVerificationError(
      'timestamp_too_new',
      `signed ${-ageSeconds} seconds in the future: this machine’s clock is behind`,
    );
}

async function verifyAnySignature(
  secrets: readonly string[],
  signed: Uint8Array<ArrayBuffer>,
  header: string,
): Promise<boolean> {
  const signatures = parseSignatures(header);
  const results = await Promise.all(
    secrets.flatMap((secret) => signatures.map((signature) => verifySignature(secret, signed, signature))),
  );
  return results.includes(true);
}

function parseEvent(text: string, id: string): CaudalEvent {
  try {
    const event = JSON.parse(text) as Partial<CaudalEvent> | null;
    if (event?.id === id && typeof event.event === 'string' && typeof event.data === 'object')
      return event as CaudalEvent;
  } catch {
    // Reported below, like any other body that is not an event.
  }
  throw new WebhookVerificationError(
    'body_not_an_event',
    'the signature is valid, but the body is not a Caudal event',
  );
}
