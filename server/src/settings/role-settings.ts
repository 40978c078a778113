import { freshBytes } from '../kit/ids.ts';
import type { RawSettings, Role } from './settings.ts';

const SERVERS = ['api', 'worker', 'all'] as const;
const ALL_BUT_MIGRATE = [...SERVERS, 'operator'] as const;

/** API processes register Bre-B keys, look up receivers, open PSE payins and read the list of banks. */
const CALLS_RAILS = SERVERS;
const RECEIVES_NOTIFICATIONS = ['api', 'all'] as const;
const SENDS_EMAIL = ['worker', 'all'] as const;

/**
 * Required secrets that only some roles need. The other roles start without them, so that a compromised process reveals
 * only its own. An operator command names what it needs (operator/command-secrets.ts).
 */
const REQUIRED_SECRETS: Readonly<Record<string, readonly Role[]>> = {
  CAUDAL_KEY_PEPPER: ['api', 'all'],
  CAUDAL_TOKEN_KEY: SERVERS,
  CAUDAL_RECEIPT_KEY: SERVERS,
  BREB_CLIENT_SECRET: CALLS_RAILS,
  BREB_NOTICE_SECRET: RECEIVES_NOTIFICATIONS,
  PSE_SECRET: CALLS_RAILS,
  PSE_NOTICE_SECRET: RECEIVES_NOTIFICATIONS,
};

const OPTIONAL_SECRETS: Readonly<Record<string, readonly Role[]>> = {
  CAUDAL_SMTP_URL: SENDS_EMAIL,
  CAUDAL_SMTP_TLS_KEY_FILE: SENDS_EMAIL,
  BREB_TLS_KEY_FILE: CALLS_RAILS,
  PSE_TLS_KEY_FILE: CALLS_RAILS,
  DATABASE_BACKUP_URL: ['migrate'],
  OTEL_EXPORTER_OTLP_HEADERS: SERVERS,
};

/** Required settings without which `migrate` starts, because it calls no rail and serves no page. */
const NOT_FOR_MIGRATE: Readonly<Record<string, string>> = {
  CAUDAL_BASE_URL: 'https://unused.invalid',
  CAUDAL_CHECKOUT_URL: 'https://unused.invalid',
  BREB_URL: 'https://unused.invalid',
  BREB_CLIENT_ID: 'unused',
  BREB_PAYER_DOCUMENT: '000000000',
  PSE_URL: 'https://unused.invalid',
  PSE_ENTITY: 'unused',
};

/** Roles that need the setting; null for a setting of every role. */
export function rolesWith(name: string): readonly Role[] | null {
  if (name in NOT_FOR_MIGRATE) return ALL_BUT_MIGRATE;
  // The second secret of a rotation belongs to the roles of the first.
  const base = name.replace(/_PREVIOUS$/, '');
  return REQUIRED_SECRETS[base] ?? OPTIONAL_SECRETS[base] ?? null;
}

/** Secrets that a process of this role does not need. */
export function secretsOfOtherRoles(role: Role): string[] {
  return Object.entries({ ...REQUIRED_SECRETS, ...OPTIONAL_SECRETS }).flatMap(([name, roles]) =>
    roles.includes(role) ? [] : [name],
  );
}

/**
 * Completes the settings of a role. A missing secret that it does not need becomes a random one: whatever the process
 * would do with it by mistake fails, because no other process has the same secret.
 * @param needs secrets that this process needs beyond those of its role
 */
export function completeForRole(role: Role, raw: RawSettings, needs: readonly string[]): RawSettings {
  const unneeded = Object.entries(REQUIRED_SECRETS).flatMap(([name, roles]) =>
    roles.includes(role) || needs.includes(name) ? [] : [[name, freshBytes(32).toString('base64url')]],
  );
  return {
    ...Object.fromEntries(unneeded),
    ...(role === 'migrate' ? NOT_FOR_MIGRATE : {}),
    ...raw,
  };
}
