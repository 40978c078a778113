import { equalBytes, hmac, type SecretKey } from './crypto.ts';

/** How far the clocks of two machines may differ; beyond it a recorded message played again is refused. */
const TOLERANCE_SECONDS = 300;

export interface SignedBody {
  readonly timestamp: string | undefined;
  /** `v1=` and the HMAC-SHA256 of `timestamp.body` in hex. */
  readonly signature: string | undefined;
  readonly body: Buffer;
}

/** Whether one of our secrets signed this body lately. Real time, not business time: it guards against replay. */
export function signatureHolds(
  secrets: readonly SecretKey[],
  { timestamp = '', signature = '', body }: SignedBody,
): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const [, digits] = /^v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (digits === undefined) return false;
  const given = Buffer.from(digits, 'hex');
  const signed = Buffer.concat([Buffer.from(`${timestamp}.`), body]);
  // All are tried, so that the time taken does not tell which one fitted.
  return secrets.filter((secret) => equalBytes(hmac(secret, signed), given)).length > 0;
}
