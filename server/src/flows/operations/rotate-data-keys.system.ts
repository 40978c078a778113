import { recordAction } from '../../audit/operator-action.store.ts';
import type { SystemDeps } from '../../deps.ts';
import { announceChange } from '../../organizations/organization.store.ts';
import {
  insertDataKey,
  insertHashKey,
  listNewestKeys,
  listWithoutHashKey,
  type NewestKey,
} from '../../organizations/organization-keys.store.ts';
import { startRotation } from '../../organizations/reencryption.store.ts';
import { makeDataKey, wrapDerivedHashKey } from '../../organizations/secrets.ts';

/**
 * Until then a new key only decrypts. Every process that serves requests reads new keys within a second (heartbeat.ts); the
 * rest is for requests in progress and for processes whose heartbeat is late, which read keys again after ten seconds.
 */
const ACTIVATION_SECONDS = 30;

/**
 * A random nonce of 96 bits is safe for 2^32 values under one key. Half of it, because processes that crash lose their
 * counts of the last half minute.
 */
const MAX_MESSAGES = 2 ** 31;

export interface Rotated {
  readonly organizationId: string;
  /** The number of the new key. */
  readonly number: number;
}

/**
 * Gives organizations a new data key and schedules the re-encryption of their values. Skips an organization whose newest
 * key is not active yet.
 * @param organizationId null: all, with the operator's
 */
export async function rotateDataKeys(
  deps: SystemDeps,
  operator: string,
  organizationId: string | null,
): Promise<Rotated[]> {
  const newest = await listNewestKeys(deps.system);
  return rotate(
    deps,
    operator,
    newest.filter((key) => organizationId === null || key.organizationId === organizationId),
  );
}

/** Rotates the data keys that have encrypted too many values. The operator's is the first: it encrypts all raw notices. */
export async function rotateExhaustedKeys(deps: SystemDeps, maxMessages = MAX_MESSAGES): Promise<void> {
  const newest = await listNewestKeys(deps.system);
  const exhausted = newest.filter(({ messages }) => messages >= maxMessages);
  for (const { organizationId, number } of await rotate(deps, 'schedule data-keys', exhausted))
    deps.log.info(
      { code: 'data_key_rotated', organizationId, count: number },
      'rotated a data key that encrypted too many values',
    );
}

async function rotate(deps: SystemDeps, operator: string, newest: readonly NewestKey[]): Promise<Rotated[]> {
  const rotated: Rotated[] = [];
  for (const { organizationId, number, active } of newest)
    if (active && (await rotateOne(deps, operator, organizationId, number + 1)))
      rotated.push({ organizationId, number: number + 1 });
  return rotated;
}

/** @returns false when another process has added the key meanwhile */
async function rotateOne(
  { system, masterKeys }: SystemDeps,
  operator: string,
  organizationId: string,
  number: number,
): Promise<boolean> {
  // Before the transaction: a key management service is called over the network.
  const wrapped = await makeDataKey(organizationId, number, masterKeys);
  await keepHashKey({ system, masterKeys }, organizationId);
  return system.transaction('rotate data keys', async (tx) => {
    if (!(await insertDataKey(tx, organizationId, { number, wrapped, activeInSeconds: ACTIVATION_SECONDS })))
      return false;
    await startRotation(tx, organizationId, number);
    await announceChange(tx, organizationId);
    await recordAction(tx, {
      operator,
      action: 'secrets.rotate',
      organizationId,
      resource: organizationId,
      details: { dataKeyNumber: number },
    });
    return true;
  });
}

/** A hash key that is derived from the first data key must be stored before that key is deleted. */
async function keepHashKey(
  { system, masterKeys }: Pick<SystemDeps, 'system' | 'masterKeys'>,
  organizationId: string,
): Promise<void> {
  const derived = (await listWithoutHashKey(system)).find((key) => key.organizationId === organizationId);
  if (!derived) return;
  await insertHashKey(system, organizationId, await wrapDerivedHashKey(organizationId, derived, masterKeys));
}
