import { CaudalError } from './errors.ts';

/** Why the verification of a delivery failed. */
export type VerificationReason =
  /** `webhook-id`, `webhook-timestamp` or `webhook-signature` is missing or malformed. */
  | 'headers_missing'
  /** The body is a parsed value: pass the raw body. */
  | 'body_not_raw'
  /** Signed more than five minutes ago: a replayed delivery, or this machine's clock is wrong. */
  | 'timestamp_too_old'
  /** Signed more than five minutes in the future: this machine's clock is wrong. */
  | 'timestamp_too_new'
  /** No signature matches a secret: wrong secret, modified body, or another sender. */
  | 'signature_mismatch'
  /** The signature is valid, but the body is not an event. */
  | 'body_not_an_event';

/** The delivery could not be verified. Respond with 400; Caudal retries its own deliveries. */
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

/** Signs a body like Caudal, for tests and for forwarding deliveries. */
export async function sign({
  body,
  secret,
  id,
  timestamp = new Date(),
}: {
  body: string;
  secret: string | readonly string[];
  /** The event id. */
  id: string;
  timestamp?: Date | undefined;
}): Promise<SignedHeaders> {
  const seconds = String(Math.floor(timestamp.getTime() / 1000));
  const signed = encoder.encode(`${id}.${seconds}.${body}`);
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const signatures = await Promise.all(secrets.map((each) => computeSignature(each, signed)));
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') };
}

/** `v1,` and the base64 of the HMAC of `id.timestamp.body` (Standard Webhooks 1.0). */
async function computeSignature(secret: string, signed: Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', await importSecret(secret, 'sign'), signed));
  return `v1,${btoa(String.fromCharCode(...bytes))}`;
}

/** Uses `crypto.subtle.verify`, which compares in constant time. */
export async function verifySignature(
  secret: string,
  signed: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  return crypto.subtle.verify('HMAC', await importSecret(secret, 'verify'), signature, signed);
}

/** Parses a header with one or more signatures: during a rotation both secrets sign. Ignores other versions. */
export function parseSignatures(header: string): Uint8Array<ArrayBuffer>[] {
  return header
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .map((each) => fromBase64(each.slice(3)))
    .filter((each) => each !== null);
}

async function importSecret(secret: string, use: 'sign' | 'verify') {
  return crypto.subtle.importKey('raw', decodeSecret(secret), ALGORITHM, false, [use]);
}

/** @throws TypeError when the secret is malformed */
export function decodeSecret(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (!bytes || bytes.length === 0)
    throw new TypeError('invalid webhook secret: it must be whsec_ followed by base64');
  return bytes;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}
