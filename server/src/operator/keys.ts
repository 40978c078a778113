import type { SystemDeps } from '../deps.ts';
import { createApiKey, revokeApiKey } from '../flows/operations/manage-organizations.system.ts';
import { listApiKeys } from '../flows/operations/read-organizations.system.ts';
import { isUuid } from '../kit/ids.ts';
import type { StoredKey } from '../organizations/credential.store.ts';
import { SCOPES } from '../organizations/organization.ts';
import { readRestrictions, restrictionsText } from './key-restrictions.ts';
import { type Options, type Output, UsageError } from './options.ts';

export async function keysCreate(deps: SystemDeps, options: Options): Promise<Output> {
  const days = options.matching('days', /^[1-9]\d{0,3}$/, 'a number of days, 1 to 9999', '');
  const credential = await createApiKey(deps, options.by, readOrganizationOption(options), {
    name: options.required('name'),
    scopes: options.listed('scopes', SCOPES),
    lifetimeSeconds: days === '' ? null : Number(days) * 86_400,
    ...readRestrictions(options),
  });
  if (!credential) throw noSuchOrganization();
  return {
    json: { keyId: credential.id, apiKey: credential.text },
    text: `API key  ${credential.text}\n\nThis key is shown once and not stored.`,
  };
}

export async function keysList(deps: SystemDeps, options: Options): Promise<Output> {
  const keys = await listApiKeys(deps, readOrganizationOption(options));
  if (!keys) throw noSuchOrganization();
  const now = deps.clock.time();
  const lines = keys.map(
    (key) =>
      `${key.id}  ${keyState(key, now).padEnd(8)}  ${usageText(key)}  ${key.name}${isRestricted(key) ? `  (${restrictionsText(key)})` : ''}`,
  );
  return {
    json: keys.map((key) => ({ ...key, state: keyState(key, now) })),
    text: lines.join('\n') || 'There are no API keys.',
  };
}

export async function keysRevoke(deps: SystemDeps, options: Options): Promise<Output> {
  const [keyId] = options.args;
  if (keyId === undefined) throw new UsageError('keys revoke needs the id of an API key (see keys list)');
  if (!(await revokeApiKey(deps, options.by, keyId))) throw new Error(`there is no live key ${keyId}`);
  return {
    json: { keyId, revoked: true },
    text: `API key ${keyId} is revoked. Every process rejects it within a second.`,
  };
}

function isRestricted({ allowFrom, writesPerSecond, readsPerSecond }: StoredKey): boolean {
  return allowFrom !== null || writesPerSecond !== null || readsPerSecond !== null;
}

function noSuchOrganization(): Error {
  return new Error('there is no such organization (see org list)');
}

function readOrganizationOption(options: Options): string {
  const id = options.required('org');
  if (!isUuid(id)) throw new UsageError('--org must be the id of an organization (see org list)');
  return id;
}

export function keyState(key: StoredKey, nowMs: number): 'live' | 'expired' | 'revoked' {
  if (key.revokedAt) return 'revoked';
  return key.expiresAt && key.expiresAt.getTime() <= nowMs ? 'expired' : 'live';
}

function usageText(key: StoredKey): string {
  const until = key.expiresAt ? `until ${key.expiresAt.toISOString()}, ` : '';
  return until + (key.lastUsedAt ? `used ${key.lastUsedAt.toISOString()}` : 'never used');
}
