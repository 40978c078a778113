import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, DatabaseError } from 'pg';
import { monotonicMs } from '../kit/clock.ts';
import { type RoleNames, withRoleNames } from '../kit/database-roles.ts';
import type { Log } from '../kit/log.ts';
import { buildIndex } from './concurrent-index.ts';
import type { Migration } from './migration-files.ts';
import { type MigrationStep, migrationSteps, parseIndex } from './migration-steps.ts';

/**
 * While a migration waits for a lock, later statements on the table queue behind it. It therefore gives up well before
 * payment statements time out (db/pool.ts), lets them run, and retries.
 */
const LOCK_TIMEOUT_MS = 500;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 5000;
const LOCK_NOT_AVAILABLE = '55P03';

export interface ApplyOptions {
  readonly roles: RoleNames;
  /** How long a migration, or a step of it, is retried while other sessions hold a lock it needs. */
  readonly lockWaitSeconds: number;
  readonly log: Log;
}

/**
 * Applies a migration in one transaction, or in its steps. A step that committed is not repeated when `migrate` is run again.
 * @throws when it fails, or other sessions held a lock that it needs for longer than `lockWaitSeconds`
 */
export async function applyMigration(
  client: Client,
  migration: Migration,
  options: ApplyOptions,
): Promise<void> {
  const { name, text } = migration;
  try {
    const steps = migrationSteps(name, text);
    if (steps === null)
      return await transact(client, name, options, async () => {
        await client.query(withRoleNames(text, options.roles));
        await record(client, migration);
      });
    const done = await readProgress(client, migration);
    for (const [index, step] of steps.entries())
      if (!done.has(index)) await applyStep(client, migration, { step, index }, options);
    await transact(client, name, options, async () => {
      await record(client, migration);
      await client.query('delete from caudal_meta.migration_steps where name = $1', [name]);
    });
  } catch (error) {
    if (error instanceof LockTimeout) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`migration ${name} failed: ${message}`, { cause: error });
  }
}

/** @returns the indexes of the steps that are applied */
async function readProgress(client: Client, { name, checksum }: Migration): Promise<ReadonlySet<number>> {
  const { rows } = await client.query<{ step: number; checksum: string }>(
    'select step, checksum from caudal_meta.migration_steps where name = $1',
    [name],
  );
  if (rows.some((row) => row.checksum !== checksum))
    throw new Error('the file was changed after some of its steps were applied: restore it');
  return new Set(rows.map(({ step }) => step));
}

async function applyStep(
  client: Client,
  migration: Migration,
  { step, index }: { readonly step: MigrationStep; readonly index: number },
  options: ApplyOptions,
): Promise<void> {
  const { name, checksum } = migration;
  const text = withRoleNames(step.text, options.roles);
  const finish = () =>
    client.query('insert into caudal_meta.migration_steps (name, step, checksum) values ($1, $2, $3)', [
      name,
      index,
      checksum,
    ]);
  if (step.kind === 'transaction') {
    await transact(client, name, options, async () => {
      await client.query(text);
      await finish();
    });
  } else {
    if (step.kind === 'index') await indexStep(client, name, text, options);
    else await repeat(client, name, text, options);
    await finish();
  }
  options.log.info(
    { code: 'migration_step_applied', migration: name, count: index + 1 },
    'migration step applied',
  );
}

/**
 * A concurrent build waits for transactions that are older than it and blocks nothing meanwhile, so it may wait as long as
 * retries may take. It uses one core: parallel workers would finish earlier, but take the other cores from payments.
 */
async function indexStep(client: Client, name: string, text: string, options: ApplyOptions): Promise<void> {
  await client.query(`set lock_timeout = '${options.lockWaitSeconds}s'`);
  await client.query('set max_parallel_maintenance_workers = 0');
  try {
    await buildIndex(client, parseIndex(name, text), (work) => transact(client, name, options, work));
  } catch (error) {
    throw isLockTimeout(error) ? lockTimeout(name, options, error) : error;
  } finally {
    await client.query('reset lock_timeout').catch(() => {});
    await client.query('reset max_parallel_maintenance_workers').catch(() => {});
  }
}

/** Each repetition is a transaction, so that row locks are held briefly and an interrupted step continues. */
async function repeat(client: Client, name: string, text: string, options: ApplyOptions): Promise<void> {
  for (;;) {
    let changed = 0;
    await transact(client, name, options, async () => {
      changed = (await client.query(text)).rowCount ?? 0;
    });
    if (changed === 0) return;
  }
}

async function record(client: Client, { name, checksum, compatibleFrom }: Migration): Promise<void> {
  await client.query(
    'insert into caudal_meta.migrations (name, checksum, compatible_from) values ($1, $2, $3)',
    [name, checksum, compatibleFrom],
  );
}

class LockTimeout extends Error {}

function lockTimeout(name: string, { lockWaitSeconds }: ApplyOptions, cause: unknown): LockTimeout {
  return new LockTimeout(
    `migration ${name} was not applied: for ${lockWaitSeconds} s other sessions held a lock that it needs, for example a report or pg_dump. Find long transactions in pg_stat_activity, end them or wait for them, and run \`caudal migrate\` again, or increase CAUDAL_MIGRATE_LOCK_WAIT_SECONDS`,
    { cause },
  );
}

function isLockTimeout(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE;
}

/** Runs the work in a transaction and retries it while other sessions hold a lock it needs. */
async function transact(
  client: Client,
  name: string,
  options: ApplyOptions,
  work: () => Promise<unknown>,
): Promise<void> {
  const { lockWaitSeconds, log } = options;
  const giveUpAt = monotonicMs() + lockWaitSeconds * 1000;
  for (let attempt = 1; ; attempt += 1) {
    const locked = await tryOnce(client, work);
    if (!locked) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * attempt, MAX_PAUSE_MS);
    if (monotonicMs() + pauseMs > giveUpAt) throw lockTimeout(name, options, locked);
    log.warn(
      { code: 'migration_lock_timeout', migration: name, attempt },
      'migration lock timeout; retrying',
    );
    await sleep(pauseMs);
  }
}

/** @returns the error on a lock timeout, after rolling back; null when it committed */
async function tryOnce(client: Client, work: () => Promise<unknown>): Promise<DatabaseError | null> {
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await work();
    await client.query('commit');
    return null;
  } catch (error) {
    // Report the migration's own error, even when the rollback fails because the connection is lost.
    await client.query('rollback').catch(() => {});
    if (isLockTimeout(error)) return error;
    throw error;
  }
}
