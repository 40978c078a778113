import { crc32 } from 'node:zlib';
import { deriveBytes, deriveKey, equalBytes, hmac, type SecretKey } from '../kit/crypto.ts';
import type { Environment } from '../kit/environment.ts';
import { base62Digits, cellCode, randomBase32, randomBase62 } from '../kit/ids.ts';

/**
 * `cdl_test_<id>_<secret><tag>` is an API key, `cdl_test_at_…` an access token; `live` in production.
 * The id (16 characters, the first two encode the cell) is public. The secret has 256 bits. Only this deployment can make
 * the tag (six characters, 35 bits), so a made-up credential is rejected without a query.
 */
const CREDENTIAL = /^(cdl_(test|live)_(at_)?([0-9A-HJKMNP-TV-Z]{16})_[0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const TAG_LENGTH = 6;

export type CredentialKind = 'key' | 'token';

export interface Credential {
  readonly kind: CredentialKind;
  readonly id: string;
  /** The whole text. Shown once, never stored. */
  readonly text: string;
}

/**
 * How a credential ends: with a tag of this deployment, with a CRC-32 (all credentials made before version 0.2, and
 * anybody can compute it), or with neither (a typing error, or a tag made with a pepper that is no longer configured).
 */
type CredentialEnding = 'tag' | 'crc' | 'other';

export interface ParsedCredential extends Credential {
  readonly ending: CredentialEnding;
}

export function makeCredential(
  kind: CredentialKind,
  environment: Environment,
  cell: number,
  pepper: SecretKey,
): Credential {
  return buildCredential(kind, environment, cellCode(cell) + randomBase32(14), randomBase62(43), pepper);
}

/** Builds a credential from given parts: `npm run dev` uses a constant one. */
export function buildCredential(
  kind: CredentialKind,
  environment: Environment,
  id: string,
  secret: string,
  pepper: SecretKey,
): Credential {
  const body = `cdl_${getMode(environment)}_${kind === 'token' ? 'at_' : ''}${id}_${secret}`;
  return { kind, id, text: body + tag(body, deriveTagKey(pepper)) };
}

/** Parses a credential; null unless it has the format and environment of `makeCredential`. */
export function readCredential(
  text: string,
  environment: Environment,
  tagKeys: readonly SecretKey[],
): ParsedCredential | null {
  const match = CREDENTIAL.exec(text);
  if (!match) return null;
  const [, body = '', mode, tokenMark, id = '', ending = ''] = match;
  if (mode !== getMode(environment)) return null;
  return { kind: tokenMark ? 'token' : 'key', id, text, ending: readEnding(body, ending, tagKeys) };
}

function readEnding(body: string, ending: string, tagKeys: readonly SecretKey[]): CredentialEnding {
  const given = Buffer.from(ending);
  if (tagKeys.some((key) => equalBytes(Buffer.from(tag(body, key)), given))) return 'tag';
  return base62Digits(crc32(body), TAG_LENGTH) === ending ? 'crc' : 'other';
}

/** The key of the tags. It is derived from the pepper, so that operators have no further secret to keep. */
export function deriveTagKey(pepper: SecretKey): SecretKey {
  return deriveKey(pepper, 'credential tag');
}

function tag(body: string, tagKey: SecretKey): string {
  return base62Digits(hmac(tagKey, body).readUIntBE(0, 6) % 62 ** TAG_LENGTH, TAG_LENGTH);
}

export function credentialMac(credential: Credential, pepper: SecretKey): Buffer {
  return hmac(pepper, credential.text);
}

/** Identifies a pepper without revealing it. */
export function pepperId(pepper: SecretKey): string {
  return deriveBytes(pepper, 'id').toString('hex').slice(0, 16);
}

/** During a pepper rotation, either pepper may have made the stored MAC. */
export function macMatches(credential: Credential, stored: Buffer, peppers: readonly SecretKey[]): boolean {
  return peppers.some((pepper) => equalBytes(credentialMac(credential, pepper), stored));
}

function getMode(environment: Environment): 'test' | 'live' {
  return environment === 'production' ? 'live' : 'test';
}
