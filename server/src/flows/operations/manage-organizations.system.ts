import { recordAction } from '../../audit/operator-action.store.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import type { SecretKey } from '../../kit/crypto.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { openAccounts } from '../../ledger/balance.store.ts';
import {
  insertKey,
  type KeyRestrictions,
  lockRestrictions,
  revokeKey,
  setRestrictions,
} from '../../organizations/credential.store.ts';
import { type Credential, credentialMac, makeCredential, pepperId } from '../../organizations/credential.ts';
import {
  announceChange,
  insertOrganization,
  lockLimits,
  type NewOrganization,
  organizationExists,
  setLimits,
} from '../../organizations/organization.store.ts';
import { type Limits, OPERATOR_ORGANIZATION_ID } from '../../organizations/organization.ts';
import { makeOrganizationKeys } from '../../organizations/secrets.ts';

export type OrganizationDetails = Omit<NewOrganization, 'id' | 'isOperator'>;

type ManageDeps = Pick<SystemDeps, 'system' | 'environment' | 'cell' | 'clock' | 'masterKeys' | 'peppers'>;

export interface ApiKeyDetails extends Partial<KeyRestrictions> {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly lifetimeSeconds: number | null;
}

/** Creates an organization and its first API key. The key's plain text is only in the result and never stored. */
export async function createOrganization(
  deps: ManageDeps,
  operator: string,
  details: OrganizationDetails,
  apiKey: ApiKeyDetails,
  credential = makeKey(deps),
): Promise<{ id: string; credential: Credential }> {
  const id = uuidv7(deps.clock.now(), deps.cell);
  const keys = await makeOrganizationKeys(id, deps.masterKeys);
  await deps.system.transaction('manage organizations', async (tx) => {
    await insertOrganization(tx, { ...details, id, isOperator: false }, keys);
    await openAccounts(tx, id);
    await storeKey(deps, tx, id, credential, apiKey);
    await recordAction(tx, {
      operator,
      action: 'org.create',
      organizationId: id,
      resource: id,
      details: { rails: [...details.rails], keyId: credential.id, scopes: [...apiKey.scopes] },
    });
  });
  return { id, credential };
}

/**
 * Creates another API key, for instance to replace one that will be revoked.
 * @returns null when there is no such organization
 */
export async function createApiKey(
  deps: ManageDeps,
  operator: string,
  organizationId: string,
  apiKey: ApiKeyDetails,
): Promise<Credential | null> {
  const credential = makeKey(deps);
  return deps.system.transaction('manage organizations', async (tx) => {
    if (!(await organizationExists(tx, organizationId))) return null;
    await storeKey(deps, tx, organizationId, credential, apiKey);
    await announceChange(tx, organizationId);
    await recordAction(tx, {
      operator,
      action: 'keys.create',
      organizationId,
      resource: credential.id,
      details: {
        scopes: [...apiKey.scopes],
        lifetimeSeconds: apiKey.lifetimeSeconds,
        ...toRestrictions(apiKey),
      },
    });
    return credential;
  });
}

/** Revokes an API key and its tokens, on every process within a second. @returns false when there is no such live key */
export async function revokeApiKey(deps: ManageDeps, operator: string, keyId: string): Promise<boolean> {
  return deps.system.transaction('manage organizations', async (tx) => {
    const organizationId = await revokeKey(tx, keyId);
    if (organizationId === null) return false;
    await announceChange(tx, organizationId);
    await recordAction(tx, { operator, action: 'keys.revoke', organizationId, resource: keyId });
    return true;
  });
}

/**
 * Changes some restrictions of an API key and keeps the others; every process applies them within a second.
 * @returns all current restrictions, or null when there is no such live key
 */
export async function changeKeyRestrictions(
  deps: ManageDeps,
  operator: string,
  keyId: string,
  changes: Partial<KeyRestrictions>,
): Promise<KeyRestrictions | null> {
  return deps.system.transaction('manage organizations', async (tx) => {
    const locked = await lockRestrictions(tx, keyId);
    if (locked === null) return null;
    const { organizationId, ...before } = locked;
    const restrictions = { ...before, ...changes };
    await setRestrictions(tx, keyId, restrictions);
    await announceChange(tx, organizationId);
    await recordAction(tx, {
      operator,
      action: 'keys.update',
      organizationId,
      resource: keyId,
      details: { ...restrictions, previousAllowFrom: before.allowFrom, ...previous(before) },
    });
    return restrictions;
  });
}

/**
 * Changes some limits and keeps the others; every process applies them within a second.
 * @returns all current limits, or null when there is no such organization
 */
export async function changeLimits(
  deps: ManageDeps,
  operator: string,
  organizationId: string,
  changes: Partial<Limits>,
): Promise<Limits | null> {
  return deps.system.transaction('manage organizations', async (tx) => {
    const before = await lockLimits(tx, organizationId);
    if (before === null) return null;
    const limits = { ...before, ...changes };
    await setLimits(tx, organizationId, limits);
    await announceChange(tx, organizationId);
    await recordAction(tx, {
      operator,
      action: 'org.limits',
      organizationId,
      resource: organizationId,
      details: { ...limits, ...previous(before) },
    });
    return limits;
  });
}

function previous({ writesPerSecond, readsPerSecond }: Limits) {
  return { previousWritesPerSecond: writesPerSecond, previousReadsPerSecond: readsPerSecond };
}

/** The operator organization owns everything that belongs to no merchant. Every migration ensures that it exists. */
export async function ensureOperatorOrganization(
  deps: Pick<SystemDeps, 'system' | 'masterKeys'>,
): Promise<void> {
  const operatorOrganization: NewOrganization = {
    id: OPERATOR_ORGANIZATION_ID,
    name: 'Operator',
    accent: '#0f766e',
    supportContact: 'the operator of this service',
    rails: [],
    city: 'BOGOTA',
    postalCode: '110111',
    merchantCategory: '0000',
    isOperator: true,
  };
  const keys = await makeOrganizationKeys(OPERATOR_ORGANIZATION_ID, deps.masterKeys);
  await deps.system.transaction('manage organizations', (tx) =>
    insertOrganization(tx, operatorOrganization, keys),
  );
}

function makeKey({ environment, cell, peppers }: ManageDeps): Credential {
  return makeCredential('key', environment, cell, currentPepper(peppers));
}

function currentPepper([pepper]: ManageDeps['peppers']): SecretKey {
  if (!pepper) throw new Error('no pepper is configured');
  return pepper;
}

/** The restrictions of a new API key; those that are not given are null. */
function toRestrictions({ allowFrom, writesPerSecond, readsPerSecond }: ApiKeyDetails): KeyRestrictions {
  return {
    allowFrom: allowFrom ?? null,
    writesPerSecond: writesPerSecond ?? null,
    readsPerSecond: readsPerSecond ?? null,
  };
}

async function storeKey(
  { peppers }: ManageDeps,
  tx: Tx,
  organizationId: string,
  credential: Credential,
  apiKey: ApiKeyDetails,
): Promise<void> {
  const pepper = currentPepper(peppers);
  await insertKey(tx, {
    ...apiKey,
    ...toRestrictions(apiKey),
    id: credential.id,
    organizationId,
    mac: credentialMac(credential, pepper),
    pepperId: pepperId(pepper),
  });
}
