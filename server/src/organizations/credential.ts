import { crc32 } from 'node:zlib';
import { equalBytes, hmac, type SecretKey } from '../kit/crypto.ts';
import type { Environment } from '../kit/environment.ts';
import { base62Digits, cellCode, randomBase32, randomBase62 } from '../kit/ids.ts';

/**
 * `cdl_test_<id>_<secret><checksum>` is an API key, `cdl_test_at_…` an access token; `live` in production.
 * The id (16 characters, the first two encode the cell) is public. The secret has 256 bits. The checksum lets the server
 * reject garbage without a query and lets leak scanners confirm a match.
 */
const CREDENTIAL = /^(cdl_(test|live)_(at_)?([0-9A-HJKMNP-TV-Z]{16})_[0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

export type CredentialKind = 'key' | 'token';

export interface Credential {
  readonly kind: CredentialKind;
  readonly id: string;
  /** The whole text. Shown once, never stored. */
  readonly text: string;
}

export function makeCredential(kind: CredentialKind, environment: Environment, cell: number): Credential {
  return buildCredential(kind, environment, cellCode(cell) + randomBase32(14), randomBase62(43));
}

/** Builds a credential from given parts: `npm run dev` uses a constant one. */
export function buildCredential(
  kind: CredentialKind,
  environment: Environment,
  id: string,
  secret: string,
): Credential {
  const body = `cdl_${getMode(environment)}_${kind === 'token' ? 'at_' : ''}${id}_${secret}`;
  return { kind, id, text: body + checksum(body) };
}

/** Parses a credential; null unless it has the format, environment and checksum of `makeCredential`. */
export function readCredential(text: string, environment: Environment): Credential | null {
  const match = CREDENTIAL.exec(text);
  if (!match) return null;
  const [, body = '', mode, tokenMark, id = '', sum] = match;
  if (mode !== getMode(environment) || checksum(body) !== sum) return null;
  return { kind: tokenMark ? 'token' : 'key', id, text };
}

export function credentialMac(credential: Credential, pepper: SecretKey): Buffer {
  return hmac(pepper, credential.text);
}

/** During a pepper rotation, either pepper may have made the stored MAC. */
export function macMatches(credential: Credential, stored: Buffer, peppers: readonly SecretKey[]): boolean {
  return peppers.some((pepper) => equalBytes(credentialMac(credential, pepper), stored));
}

function checksum(body: string): string {
  return base62Digits(crc32(body), 6);
}

function getMode(environment: Environment): 'test' | 'live' {
  return environment === 'production' ? 'live' : 'test';
}
