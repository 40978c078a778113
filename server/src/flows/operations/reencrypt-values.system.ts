import { setTimeout as sleep } from 'node:timers/promises';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { monotonicMs } from '../../kit/clock.ts';
import type { KeyRing } from '../../kit/key-ring.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { ENCRYPTED_TABLES, type EncryptedTable } from '../../organizations/encrypted-tables.ts';
import { announceChange } from '../../organizations/organization.store.ts';
import {
  advanceRotation,
  finishRotation,
  type KeyRotation,
  lockDueRotation,
  type OutdatedRow,
  readOutdated,
  replaceValue,
  scheduleNextPass,
} from '../../organizations/reencryption.store.ts';

/** With a batch and a pause this long, a worker reads at most a thousand rows a second for all rotations. */
const BATCH_ROWS = 100;
const PAUSE_MS = 100;
/** A run ends well before the timeout of its schedule; the next one continues. */
const RUN_MS = 200_000;
/** A payout in progress or a concurrent change left a value of an older key. */
const NEXT_PASS_SECONDS = 600;
/**
 * Older keys are deleted only after a pass that started a day after the new key became active: a process that was
 * suspended meanwhile may have written a value of an older key.
 */
const CONCLUSIVE_AFTER_SECONDS = 86_400;

const DELAYS = { afterFindSeconds: NEXT_PASS_SECONDS, conclusiveAfterSeconds: CONCLUSIVE_AFTER_SECONDS };

/**
 * Encrypts values of older data keys again with the newest key of their organization, in small transactions. Each stores
 * its position, so that a killed run is continued where it stopped.
 */
export async function reencryptValues(
  deps: SystemDeps,
  signal: AbortSignal,
  pauseMs = PAUSE_MS,
): Promise<void> {
  const keys = new DataKeys(deps.system, deps.masterKeys);
  const unusable = new Set<string>();
  const endsAt = monotonicMs() + RUN_MS;
  while (!signal.aborted && monotonicMs() < endsAt) {
    if (!(await deps.system.transaction('reencrypt values', (tx) => work(deps, tx, keys, unusable)))) return;
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** @returns false when no rotation is due */
async function work(deps: SystemDeps, tx: Tx, keys: DataKeys, unusable: Set<string>): Promise<boolean> {
  const rotation = await lockDueRotation(tx, [...unusable], CONCLUSIVE_AFTER_SECONDS);
  if (!rotation) return false;
  const ring = await loadRing(tx, keys, rotation);
  if (!ring) {
    unusable.add(rotation.organizationId);
    const { organizationId } = rotation;
    deps.log.error(
      { code: 'data_key_not_loaded', organizationId },
      'failed to load the newest data key; re-encryption postponed (wrong master key?)',
    );
    return true;
  }
  const table = currentTable(rotation);
  if (table) await reencryptBatch(deps, tx, { rotation, table, ring });
  else await endPass(deps, tx, rotation);
  return true;
}

/** @returns null when the newest key cannot be loaded */
async function loadRing(
  tx: Tx,
  keys: DataKeys,
  { organizationId, number }: KeyRotation,
): Promise<KeyRing | null> {
  const owner = new Set([organizationId]);
  try {
    const { dataKey } = (await keys.loadInTransaction(tx, owner))(organizationId);
    // The rotation may have started after the keys were cached.
    if (dataKey.number !== number) await keys.refresh(tx, owner, monotonicMs());
    return dataKey.number === number ? dataKey : null;
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('failed to decrypt')) return null;
    throw error;
  }
}

/** The table in progress; null when the pass has gone through all. */
function currentTable({ currentTable }: KeyRotation): EncryptedTable | null {
  if (currentTable === '') return ENCRYPTED_TABLES[0] ?? null;
  return ENCRYPTED_TABLES.find(({ name }) => name === currentTable) ?? null;
}

interface Batch {
  readonly rotation: KeyRotation;
  readonly table: EncryptedTable;
  readonly ring: KeyRing;
}

/** The value of `current_table` after the last table. */
const END = 'end';

async function reencryptBatch(deps: SystemDeps, tx: Tx, batch: Batch): Promise<void> {
  const { rotation, table } = batch;
  const rows = await readOutdated(tx, table, rotation, BATCH_ROWS);
  let found = 0;
  let reencrypted = 0;
  for (const row of rows) {
    const outdated = row.values.filter((value) => value !== null).length;
    found += outdated;
    if (outdated > 0 && row.changeable) reencrypted += await reencryptRow(deps, tx, batch, row);
  }
  const last = rows.length < BATCH_ROWS;
  const next = ENCRYPTED_TABLES[ENCRYPTED_TABLES.indexOf(table) + 1]?.name ?? END;
  await advanceRotation(tx, rotation.organizationId, {
    currentTable: last ? next : table.name,
    afterKey: last ? [] : (rows.at(-1)?.key ?? []),
    found,
    reencrypted,
  });
}

/** @returns the number of replaced values */
async function reencryptRow(
  deps: SystemDeps,
  tx: Tx,
  { rotation: { organizationId }, table, ring }: Batch,
  { key, id, values }: OutdatedRow,
): Promise<number> {
  let replaced = 0;
  for (const [index, [column, boundTo]] of Object.entries(table.columns).entries()) {
    const from = values[index];
    if (!from) continue;
    const identity = `${boundTo}/${organizationId}/${id}`;
    const to = reencrypt(ring, from, identity);
    if (to === null)
      deps.log.error(
        { code: 'reencryption_failed', organizationId, table: table.name },
        'failed to decrypt a value; it keeps its old key',
      );
    else if (await replaceValue(tx, table, column, { organizationId, key, from, to })) replaced += 1;
  }
  return replaced;
}

function reencrypt(ring: KeyRing, value: Buffer, identity: string): Buffer | null {
  try {
    return ring.encrypt(ring.decrypt(value, identity), identity);
  } catch {
    return null;
  }
}

async function endPass(deps: SystemDeps, tx: Tx, rotation: KeyRotation): Promise<void> {
  const { organizationId, number, found, conclusive } = rotation;
  if (found > 0 || !conclusive) return scheduleNextPass(tx, organizationId, found > 0, DELAYS);
  const deleted = await finishRotation(tx, organizationId, number);
  await announceChange(tx, organizationId);
  deps.log.info(
    { code: 'data_key_rotation_finished', organizationId, count: deleted.length },
    'no value carries an older data key; deleted those that no detached month needs',
  );
}
