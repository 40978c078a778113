import { recordAction } from '../../audit/operator-action.store.ts';
import type { SystemDeps } from '../../deps.ts';
import type { SecretKey } from '../../kit/crypto.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { openAccounts } from '../../ledger/balance.store.ts';
import { insertKey, revokeKey } from '../../organizations/credential.store.ts';
import { type Credential, credentialMac, makeCredential } from '../../organizations/credential.ts';
import {
  announceChange,
  insertOrganization,
  lockLimits,
  type NewOrganization,
  organizationExists,
  setLimits,
} from '../../organizations/organization.store.ts';
import { type Limits, OPERATOR_ORGANIZATION_ID } from '../../organizations/organization.ts';
import { makeDataKey } from '../../organizations/secrets.ts';

export type OrganizationDetails = Omit<NewOrganization, 'id' | 'isOperator'>;

type ManageDeps = Pick<SystemDeps, 'system' | 'environment' | 'cell' | 'clock' | 'masterKeys' | 'peppers'>;

export interface KeyDetails {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly lifetimeSeconds: number | null;
}

/** A new organization and its first key. The key's text is in the answer and nowhere else. */
export async function createOrganization(
  deps: ManageDeps,
  operator: string,
  details: OrganizationDetails,
  key: KeyDetails,
  credential = makeCredential('key', deps.environment, deps.cell),
): Promise<{ id: string; credential: Credential }> {
  const id = uuidv7(deps.clock.now(), deps.cell);
  await deps.system.transaction('manage organizations', async (tx) => {
    await insertOrganization(tx, { ...details, id, isOperator: false }, makeDataKey(id, deps.masterKeys));
    await openAccounts(tx, id);
    await insertKey(tx, {
      id: credential.id,
      organizationId: id,
      mac: credentialMac(credential, pepperOf(deps)),
      ...key,
    });
    await recordAction(tx, {
      operator,
      action: 'org.create',
      organizationId: id,
      resource: id,
      details: { rails: [...details.rails], keyId: credential.id, scopes: [...key.scopes] },
    });
  });
  return { id, credential };
}

/**
 * A further key, for instance to take over from one that is to be revoked.
 * @returns null when there is no such organization
 */
export async function createKey(
  deps: ManageDeps,
  operator: string,
  organizationId: string,
  key: KeyDetails,
): Promise<Credential | null> {
  const credential = makeCredential('key', deps.environment, deps.cell);
  return deps.system.transaction('manage organizations', async (tx) => {
    if (!(await organizationExists(tx, organizationId))) return null;
    await insertKey(tx, {
      id: credential.id,
      organizationId,
      mac: credentialMac(credential, pepperOf(deps)),
      ...key,
    });
    await announceChange(tx, organizationId);
    await recordAction(tx, {
      operator,
      action: 'keys.create',
      organizationId,
      resource: credential.id,
      details: { scopes: [...key.scopes], lifetimeSeconds: key.lifetimeSeconds },
    });
    return credential;
  });
}

/** Ends a key, and every token made from it, on every node within a second. @returns whether there was such a live key */
export async function endKey(deps: ManageDeps, operator: string, keyId: string): Promise<boolean> {
  return deps.system.transaction('manage organizations', async (tx) => {
    const organizationId = await revokeKey(tx, keyId);
    if (organizationId === null) return false;
    await announceChange(tx, organizationId);
    await recordAction(tx, { operator, action: 'keys.revoke', organizationId, resource: keyId });
    return true;
  });
}

/**
 * Sets the limits that are given and leaves the others; every process knows within a second.
 * @returns all of them as they are now, or null when there is no such organization
 */
export async function changeLimits(
  deps: ManageDeps,
  operator: string,
  organizationId: string,
  given: Partial<Limits>,
): Promise<Limits | null> {
  return deps.system.transaction('manage organizations', async (tx) => {
    const before = await lockLimits(tx, organizationId);
    if (before === null) return null;
    const limits = { ...before, ...given };
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

/** The house owns what belongs to no merchant. Ensured by every migration. */
export async function ensureOperatorOrganization(
  deps: Pick<SystemDeps, 'system' | 'masterKeys'>,
): Promise<void> {
  const house: NewOrganization = {
    id: OPERATOR_ORGANIZATION_ID,
    name: 'House',
    accent: '#0f766e',
    supportContact: 'the operator of this service',
    rails: [],
    city: 'BOGOTA',
    postalCode: '110111',
    merchantCategory: '0000',
    isOperator: true,
  };
  await deps.system.transaction('manage organizations', (tx) =>
    insertOrganization(tx, house, makeDataKey(OPERATOR_ORGANIZATION_ID, deps.masterKeys)),
  );
}

function pepperOf(deps: ManageDeps): SecretKey {
  const [pepper] = deps.peppers;
  if (!pepper) throw new Error('there is no pepper');
  return pepper;
}
