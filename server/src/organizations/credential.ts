import { crc32 } from 'node:zlib';
import { equalBytes, hmac, type SecretKey } from '../kit/crypto.ts';
import type { Environment } from '../kit/environment.ts';
import { base62Digits, cellCode, randomBase32, randomBase62 } from '../kit/ids.ts';

/**
 * `cdl_test_<id>_<secret><checksum>` is an API key, `cdl_test_at_…` an access token; `live` in production.
 * The id (16 characters, the first two name the cell) is public; the secret holds 256 bits; the checksum lets garbage
 * be refused without a query and leak scanners be sure of what they found.
 */
const CREDENTIAL = /^(cdl_(test|live)_(at_)?([0-9A-HJKMNP-TV-Z]{16})_[0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

export type CredentialKind = 'key' | 'token';

export interface Credential {
  readonly kind: CredentialKind;
  readonly id: string;
  /** The whole text. Shown once, stored nowhere. */
  readonly text: string;
}

export function makeCredential(kind: CredentialKind, environment: Environment, cell: number): Credential {
  return credentialOf(kind, environment, cellCode(cell) + randomBase32(14), randomBase62(43));
}

/** A credential of known parts: `npm run dev` has one that never changes. */
export function credentialOf(
  kind: CredentialKind,
  environment: Environment,
  id: string,
  secret: string,
): Credential {
  const body = `cdl_${modeOf(environment)}_${kind === 'token' ? 'at_' : ''}${id}_${secret}`;
  return { kind, id, text: body + checksum(body) };
}

/** Null for anything that was not made by `makeCredential` for this environment. */
export function readCredential(text: string, environment: Environment): Credential | null {
  const match = CREDENTIAL.exec(text);
  if (!match) return null;
  const [, body = '', mode, tokenMark, id = '', sum] = match;
  if (mode !== modeOf(environment) || checksum(body) !== sum) return null;
  return { kind: tokenMark ? 'token' : 'key', id, text };
}

export function credentialMac(credential: Credential, pepper: SecretKey): Buffer {
  return hmac(pepper, credential.text);
}

/** During a rotation of the pepper either one may have made the stored MAC. */
export function macMatches(credential: Credential, stored: Buffer, peppers: readonly SecretKey[]): boolean {
  return peppers.some((pepper) => equalBytes(credentialMac(credential, pepper), stored));
}

function checksum(body: string): string {
  return base62Digits(crc32(body), 6);
}

function modeOf(environment: Environment): 'test' | 'live' {
  return environment === 'production' ? 'live' : 'test';
}
