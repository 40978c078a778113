import { hmac, type SecretKey } from '../kit/crypto.ts';
import { freshBytes } from '../kit/ids.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** What Standard Webhooks lets a secret hold, so that one brought from elsewhere is taken too. */
const FEWEST_BYTES = 24;
const MOST_BYTES = 64;

export interface SignedMessage {
  /** The event's id: it stays the same when the event is sent again, and is the receiver's key against duplicates. */
  readonly id: string;
  /** Of this attempt, so that a receiver may refuse a recorded message. */
  readonly timestamp: Date;
  /** Exactly the bytes that are sent. */
  readonly body: Buffer;
}

export interface SignatureHeaders {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

export function freshWebhookSecret(): Buffer {
  return freshBytes(SECRET_BYTES);
}

export function printWebhookSecret(secret: Buffer): string {
  return PREFIX + secret.toString('base64');
}

/** @returns null for what is no secret; base64 in one spelling only, so that equal secrets are equal texts */
export function parseWebhookSecret(text: string): Buffer | null {
  if (!text.startsWith(PREFIX)) return null;
  const secret = Buffer.from(text.slice(PREFIX.length), 'base64');
  if (secret.length < FEWEST_BYTES || secret.length > MOST_BYTES) return null;
  return printWebhookSecret(secret) === text ? secret : null;
}

/**
 * Standard Webhooks 1.0. One signature for each secret: during a rotation both sign, and a receiver that knows
 * either of them is content.
 */
export function signatureHeaders(message: SignedMessage, secrets: readonly SecretKey[]): SignatureHeaders {
  const seconds = String(Math.floor(message.timestamp.getTime() / 1000));
  const head = `${message.id}.${seconds}.`;
  return {
    'webhook-id': message.id,
    'webhook-timestamp': seconds,
    'webhook-signature': secrets
      .map((secret) => `v1,${hmac(secret, head, message.body).toString('base64')}`)
      .join(' '),
  };
}
