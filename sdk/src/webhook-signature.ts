import { CaudalError } from './errors.ts';

/** Why a delivery was not believed. */
export type VerificationReason =
  /** `webhook-id`, `webhook-timestamp` or `webhook-signature` is missing or not readable. */
  | 'headers_missing'
  /** The body is not the text that came, but something made of it: give the raw body. */
  | 'body_not_raw'
  /** Signed more than five minutes ago: a recorded delivery, or this machine's clock is wrong. */
  | 'timestamp_too_old'
  /** Signed more than five minutes ahead: this machine's clock is wrong. */
  | 'timestamp_too_new'
  /** No signature is by any of the secrets: another secret, another body, or another sender. */
  | 'signature_mismatch'
  /** The signature holds, but the body is no event. */
  | 'body_not_an_event';

/** The delivery is not to be believed. Answer 400; what is ours comes again. */
export class WebhookVerificationError extends CaudalError {
  override readonly name: string = 'WebhookVerificationError';
  readonly reason: VerificationReason;

  constructor(reason: VerificationReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };
const PREFIX = 'whsec_';
const encoder = new TextEncoder();

export interface SignedHeaders extends Record<string, string> {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
}

/** The headers of a delivery, for tests and for handing deliveries on. */
export async function sign({
  body,
  secret,
  id,
  timestamp = new Date(),
}: {
  body: string;
  secret: string | readonly string[];
  /** The event's id. */
  id: string;
  timestamp?: Date | undefined;
}): Promise<SignedHeaders> {
  const seconds = String(Math.floor(timestamp.getTime() / 1000));
  const signed = encoder.encode(`${id}.${seconds}.${body}`);
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const signatures = await Promise.all(secrets.map((each) => signatureOf(each, signed)));
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') };
}

/** `v1,` and the base64 of the HMAC of `id.timestamp.body` (Standard Webhooks 1.0). */
async function signatureOf(secret: string, signed: Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(secret, 'sign'), signed));
  return `v1,${btoa(String.fromCharCode(...bytes))}`;
}

/** Compared by `crypto.subtle.verify`, which takes as long for a wrong signature as for a right one. */
export async function isSigned(
  secret: string,
  signed: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  return crypto.subtle.verify('HMAC', await keyOf(secret, 'verify'), signature, signed);
}

/** Of a header with one signature or several: during a rotation both secrets sign. Other versions are passed over. */
export function signaturesIn(header: string): Uint8Array<ArrayBuffer>[] {
  return header
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .map((each) => fromBase64(each.slice(3)))
    .filter((each) => each !== null);
}

async function keyOf(secret: string, use: 'sign' | 'verify') {
  const bytes = fromBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (!bytes || bytes.length === 0)
    throw new TypeError('the webhook secret is not one: it begins with whsec_ and goes on in base64');
  return crypto.subtle.importKey('raw', bytes, ALGORITHM, false, [use]);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}
