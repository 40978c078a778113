import { hmac, type SecretKey } from '../kit/crypto.ts';
import { freshBytes } from '../kit/ids.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Secret lengths allowed by Standard Webhooks, so that secrets from other systems are accepted. */
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;

export interface SignedMessage {
  /** Event id. It is the same in every retry, so receivers use it to drop duplicates. */
  readonly id: string;
  /** Time of this attempt, so that a receiver can reject a replayed message. */
  readonly timestamp: Date;
  /** The exact bytes sent. */
  readonly body: Buffer;
}

export interface SignatureHeaders {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

export function generateWebhookSecret(): Buffer {
  return freshBytes(SECRET_BYTES);
}

export function formatWebhookSecret(secret: Buffer): string {
  return PREFIX + secret.toString('base64');
}

/** @returns null for an invalid secret. Only canonical base64 is accepted, so that equal secrets have equal texts. */
export function parseWebhookSecret(text: string): Buffer | null {
  if (!text.startsWith(PREFIX)) return null;
  const secret = Buffer.from(text.slice(PREFIX.length), 'base64');
  if (secret.length < MIN_SECRET_BYTES || secret.length > MAX_SECRET_BYTES) return null;
  return formatWebhookSecret(secret) === text ? secret : null;
}

/**
 * Standard Webhooks 1.0. One signature per secret: during a rotation all active secrets sign, and a receiver verifies
 * with any of them.
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
