import type { z } from 'zod';
import { ROLE_KINDS, roleNames } from '../kit/database-roles.ts';
import { parseKeyIds } from '../receipts/key-settings.ts';
import { receiptKeyId } from '../receipts/receipt-keys.ts';
import { findPlaintextDatabases } from './database-transport.ts';
import { estimateBits, MIN_MASTER_KEY_BITS } from './key-strength.ts';
import { receiptKey } from './receipt-key.ts';
import { type RawSettings, type Role, SECRETS, SETTINGS, type Settings } from './settings.ts';

/** Prefix of the secrets of `npm run dev`; production rejects them, so that a copied file cannot protect real money. */
export const DEVELOPMENT_SECRET = 'dev-';

export function describeIssue(issue: z.core.$ZodIssue, raw: RawSettings): string {
  const name = String(issue.path[0]);
  return raw[name] === undefined ? `${name} is not set` : `${name}: ${issue.message}`;
}

export function findMissingDatabaseUrls(role: Role, raw: RawSettings): string[] {
  if (raw['DATABASE_URL'] !== undefined) return [];
  if (role === 'migrate') return ['DATABASE_URL is not set (migrate connects as the owner of the schema)'];
  return ['DATABASE_READ_URL', 'DATABASE_BATCH_URL', 'DATABASE_SYSTEM_URL']
    .filter((name) => raw[name] === undefined)
    .map((name) => `${name} is not set, nor DATABASE_URL`);
}

/** New receipts would be rejected by everyone who verifies them. */
export function findRevokedReceiptKey(settings: Settings): string[] {
  const id = receiptKeyId(receiptKey(settings.CAUDAL_RECEIPT_KEY).publicKey);
  return parseKeyIds(settings.CAUDAL_RECEIPT_KEYS_REVOKED)?.includes(id)
    ? [
        `CAUDAL_RECEIPT_KEYS_REVOKED contains ${id}, the id of CAUDAL_RECEIPT_KEY: set a new CAUDAL_RECEIPT_KEY`,
      ]
    : [];
}

/** Privileges are granted to roles by name: a URL with another login would connect and see no rows. */
export function findWrongLogins(raw: RawSettings): string[] {
  const prefix = raw['CAUDAL_DATABASE_ROLE_PREFIX'] ?? 'caudal';
  return ROLE_KINDS.flatMap((kind) => {
    const setting = `DATABASE_${kind.toUpperCase()}_URL`;
    const url = raw[setting];
    if (url === undefined || !URL.canParse(url)) return [];
    const login = decodeURIComponent(new URL(url).username);
    return login === roleNames(prefix)[kind]
      ? []
      : [
          `${setting} logs in as "${login}": the role is named ${roleNames(prefix)[kind]} (CAUDAL_DATABASE_ROLE_PREFIX)`,
        ];
  });
}

/** Settings of the merchant CLI, which may run in the same shell. */
const CLI_SETTINGS: ReadonlySet<string> = new Set([
  'CAUDAL_API_KEY',
  'CAUDAL_PROFILE',
  'CAUDAL_SIMULATOR_URL',
]);

/**
 * Multiplies the deadlines of the server's own answers in processes of tests (kit/deadline.ts). Not a setting of a deployment: no
 * page lists it, and production rejects it.
 */
export const TEST_DEADLINE_FACTOR = 'CAUDAL_TEST_DEADLINE_FACTOR';

/** A misspelled setting would silently leave its default in effect. */
export function findUnknownSettings(raw: RawSettings): string[] {
  return Object.keys(raw)
    .filter((name) => /^(?:CAUDAL|BREB|PSE)_/.test(name) && !(name in SETTINGS) && !CLI_SETTINGS.has(name))
    .filter((name) => name !== TEST_DEADLINE_FACTOR)
    .map((name) => `${name} is not a setting`);
}

export function findTestDeadlineProblems(raw: RawSettings): string[] {
  const factor = raw[TEST_DEADLINE_FACTOR];
  return factor === undefined || /^[1-9]\d?$/.test(factor)
    ? []
    : [`${TEST_DEADLINE_FACTOR}: a whole number from 1 to 99`];
}

/** Groups of secrets that have the same value. */
export function findEqualSecrets(raw: RawSettings): string[][] {
  return [...Map.groupBy(SECRETS, (name) => raw[name])].flatMap(([value, names]) =>
    value !== undefined && names.length > 1 ? [names] : [],
  );
}

/** Whether the secret has too few different characters to be randomly generated. */
export function isLowEntropy(secret: string): boolean {
  return new Set(secret).size < 8;
}

/** API processes only offer e-mail; workers send it. */
export function findMailProblems(role: Role, raw: RawSettings): string[] {
  const [url, from] = [raw['CAUDAL_SMTP_URL'] !== undefined, raw['CAUDAL_MAIL_FROM'] !== undefined];
  const sends = role === 'worker' || role === 'all';
  return (url && !from) || (from && !url && sends)
    ? ['CAUDAL_SMTP_URL and CAUDAL_MAIL_FROM must be set together']
    : [];
}

/** Whether a URL sends plaintext beyond this machine. */
function isPlaintextRemote(text: string | undefined): boolean {
  const url = URL.parse(text ?? '');
  return url?.protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
}

export function findProductionProblems(raw: RawSettings): string[] {
  const problems: string[] = [];
  for (const name of SECRETS) {
    const value = raw[name];
    if (value?.startsWith(DEVELOPMENT_SECRET))
      problems.push(`${name} is a development secret: not allowed in production`);
    else if (value !== undefined && isLowEntropy(value))
      problems.push(`${name} is too simple to be a secret`);
    else if (name === 'CAUDAL_MASTER_KEY' && value !== undefined && estimateBits(value) < MIN_MASTER_KEY_BITS)
      problems.push(
        `${name} can be guessed: use 32 random bytes (openssl rand -base64 32); to replace it, set the old one as CAUDAL_MASTER_KEY_PREVIOUS`,
      );
  }
  if (raw['BREB_PAYER_DOCUMENT'] === undefined)
    problems.push('BREB_PAYER_DOCUMENT is not set: production requires the NIT of the operator');
  if (raw['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
    problems.push('NODE_TLS_REJECT_UNAUTHORIZED is 0: production must verify certificates');
  problems.push(...findPlaintextDatabases(raw));
  for (const name of ['CAUDAL_FAILPOINT', TEST_DEADLINE_FACTOR])
    if (raw[name] !== undefined) problems.push(`${name} is for tests: not allowed in production`);
  if (raw['CAUDAL_WEBHOOKS_ALLOW_LOOPBACK'] === 'yes')
    problems.push('CAUDAL_WEBHOOKS_ALLOW_LOOPBACK is for development: not allowed in production');
  for (const name of [
    'CAUDAL_BASE_URL',
    'CAUDAL_CHECKOUT_URL',
    'CAUDAL_OPERATOR_TERMS_URL',
    'CAUDAL_OPERATOR_PRIVACY_URL',
    'BREB_URL',
    'PSE_URL',
    'CAUDAL_KMS_URL',
  ]) {
    if (/^\s*http:/i.test(raw[name] ?? '')) problems.push(`${name} must be https in production`);
  }
  if (
    raw['OTEL_EXPORTER_OTLP_HEADERS'] !== undefined &&
    isPlaintextRemote(raw['OTEL_EXPORTER_OTLP_ENDPOINT'])
  )
    problems.push(
      'OTEL_EXPORTER_OTLP_ENDPOINT must be https in production, because OTEL_EXPORTER_OTLP_HEADERS is a secret',
    );
  for (const names of findEqualSecrets(raw))
    problems.push(`${names.join(' and ')} are equal: each secret must have its own value`);
  return problems;
}
