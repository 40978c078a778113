import { equalBytes, hmac, type SecretKey } from './crypto.ts';

/** Allowed clock difference; older messages are rejected as replays. */
const TOLERANCE_SECONDS = 300;

export interface SignedBody {
  readonly timestamp: string | undefined;
  /** `v1=` and the HMAC-SHA256 of `timestamp.body` in hex. */
  readonly signature: string | undefined;
  readonly body: Buffer;
}

/** Whether one of our secrets signed this body recently. It uses real time, not business time, because it prevents replays. */
export function isSignatureValid(
  secrets: readonly SecretKey[],
  { timestamp = '', signature = '', body }: SignedBody,
): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const [, digits] = /^v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (digits === undefined) return false;
  const provided = Buffer.from(digits, 'hex');
  const signed = Buffer.concat([Buffer.from(`${timestamp}.`), body]);
  // Checks all secrets, so that the duration does not reveal which one matched.
  return secrets.filter((secret) => equalBytes(hmac(secret, signed), provided)).length > 0;
}
