import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, DatabaseError } from 'pg';
import { monotonicMs } from '../kit/clock.ts';
import { type RoleNames, withRoleNames } from '../kit/database-roles.ts';
import type { Log } from '../kit/log.ts';
import {
  grantDeployment,
  readDeployment,
  recordDeployment,
  rolePrefixError,
  tableExists,
} from './deployment.ts';
import { type Migration, pendingMigrations } from './migration-files.ts';
import { ownerClient } from './owner-client.ts';
import { isDirect, isPoolerRejection, POOLER_ERROR } from './pooler.ts';
import { provisionRoles } from './provision-roles.ts';
import { versionError } from './server-version.ts';

/** An arbitrary constant that identifies this advisory lock in the database. */
const LOCK = 7_283_146;

/**
 * While a migration waits for a lock, later statements on the table queue behind it. It therefore gives up well before
 * payment statements time out (db/pool.ts), lets them run, and retries.
 */
const LOCK_TIMEOUT_MS = 500;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 5000;
const LOCK_NOT_AVAILABLE = '55P03';

export interface MigrateOptions {
  /** Connects as the schema owner, who may also create roles. */
  readonly ownerUrl: string;
  readonly rolePrefix: string;
  readonly roles: RoleNames;
  /** URL of each role with its password; null for a role whose password an administrator sets. */
  readonly roleUrls: Readonly<Record<keyof RoleNames, string | null>>;
  readonly environment: string;
  readonly cell: number;
  /** How long a migration is retried while other sessions hold a lock it needs. */
  readonly lockWaitSeconds: number;
  readonly log: Log;
  /** Called after the roles can log in and before the first migration is applied. */
  readonly beforeChanges: (pending: readonly string[]) => Promise<void>;
}

/**
 * Migrates the database to this version: forward only, one process at a time (advisory lock), one transaction per file.
 * Throws at the first failure; migrations applied before it stay.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const client = ownerClient(options.ownerUrl, 'caudal-migrate');
  await connect(client);
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    // Before any change: the passwords and tables of another deployment's database must stay untouched.
    await rejectForeignDeployment(client, options);
    await ensureRoles(client, options);
    const migrations = await pendingMigrations(client);
    await options.beforeChanges(migrations.map(({ name }) => name));
    for (const migration of migrations) {
      await applyWhenUnlocked(client, migration, options);
      options.log.info({ code: 'migration_applied', migration: migration.name }, 'migration applied');
    }
    await ensureDeployment(client, options);
    await client.query("select caudal.make_months(caudal.now() + interval '3 months')");
  } finally {
    await client.end();
  }
}

/** @throws when the server is not PostgreSQL of a supported version, reached without a pooler */
async function connect(client: Client): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    throw isPoolerRejection(error) ? new Error(POOLER_ERROR, { cause: error }) : error;
  }
  const { rows } = await client.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  );
  const problem = (await isDirect(client)) ? versionError(rows[0]?.version ?? 0) : POOLER_ERROR;
  if (problem === null) return;
  await client.end();
  throw new Error(problem);
}

async function ensureRoles(client: Client, options: MigrateOptions): Promise<void> {
  const deployment = await readDeployment(client);
  const problem = rolePrefixError(deployment, options.rolePrefix);
  if (problem !== null) throw new Error(problem);
  const kinds = Object.keys(options.roles) as (keyof RoleNames)[];
  await provisionRoles(
    client,
    kinds.map((kind) => ({ name: options.roles[kind], url: options.roleUrls[kind] })),
    {
      id: deployment?.id ?? null,
      record: () => recordDeployment(client, options.rolePrefix),
      grant: () => grantDeployment(client, options.roles),
    },
  );
}

/** @throws when other sessions held a lock that the migration needs for longer than `lockWaitSeconds` */
async function applyWhenUnlocked(
  client: Client,
  migration: Migration,
  { roles, lockWaitSeconds, log }: MigrateOptions,
): Promise<void> {
  const giveUpAt = monotonicMs() + lockWaitSeconds * 1000;
  for (let attempt = 1; ; attempt += 1) {
    const locked = await apply(client, migration, roles);
    if (!locked) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * attempt, MAX_PAUSE_MS);
    if (monotonicMs() + pauseMs > giveUpAt)
      throw new Error(
        `migration ${migration.name} was not applied: for ${lockWaitSeconds} s other sessions held a lock that it needs, for example a report or pg_dump. Find long transactions in pg_stat_activity, end them or wait for them, and run \`caudal migrate\` again, or increase CAUDAL_MIGRATE_LOCK_WAIT_SECONDS`,
        { cause: locked },
      );
    log.warn(
      { code: 'migration_lock_timeout', migration: migration.name, attempt },
      'migration lock timeout; retrying',
    );
    await sleep(pauseMs);
  }
}

/** @returns the error on a lock timeout, after rolling the migration back; null when it was applied */
async function apply(client: Client, migration: Migration, roles: RoleNames): Promise<DatabaseError | null> {
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query(withRoleNames(migration.text, roles));
    await client.query('insert into caudal_meta.migrations (name, checksum) values ($1, $2)', [
      migration.name,
      migration.checksum,
    ]);
    await client.query('commit');
    return null;
  } catch (error) {
    // Report the migration's own error, even when the rollback fails because the connection is lost.
    await client.query('rollback').catch(() => {});
    if (error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE) return error;
    throw new Error(
      `migration ${migration.name} failed: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/** A database belongs to one environment and one cell from its first migration on. */
async function rejectForeignDeployment(client: Client, options: MigrateOptions): Promise<void> {
  if (!(await tableExists(client, 'caudal.deployment'))) return;
  const { rows } = await client.query<{ environment: string; cell: number }>(
    'select environment, cell from caudal.deployment',
  );
  const [row] = rows;
  if (row && (row.environment !== options.environment || row.cell !== options.cell)) {
    throw new Error(
      `this database belongs to ${row.environment}, cell ${row.cell}; the configuration says ${options.environment}, cell ${options.cell}`,
    );
  }
}

async function ensureDeployment(client: Client, options: MigrateOptions): Promise<void> {
  await client.query(
    'insert into caudal.deployment (environment, cell) values ($1, $2) on conflict do nothing',
    [options.environment, options.cell],
  );
}
