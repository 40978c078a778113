import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, DatabaseError } from 'pg';
import { monotonicMs } from '../kit/clock.ts';
import { type RoleNames, withRoleNames } from '../kit/database-roles.ts';
import type { Log } from '../kit/log.ts';
import { grantDeployment, prefixFault, readDeployment, recordDeployment } from './deployment.ts';
import { type Migration, pendingMigrations } from './migration-files.ts';
import { ownerClient } from './owner-client.ts';
import { isDirect, isPoolerRefusal, POOLER_FAULT } from './pooler.ts';
import { provisionRoles } from './provision-roles.ts';
import { versionFault } from './server-version.ts';

/** Any constant; it names this lock among the advisory locks of the database. */
const LOCK = 7_283_146;

/**
 * While a migration waits for a lock, everything that comes after it waits too. It therefore gives up well before the
 * statements of payments do (db/pool.ts), lets them pass, and tries again.
 */
const LOCK_TIMEOUT_MS = 500;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 5000;
const LOCK_NOT_AVAILABLE = '55P03';

export interface MigrateOptions {
  /** Connects as the owner of the schema, who may also create roles. */
  readonly ownerUrl: string;
  readonly rolePrefix: string;
  readonly roles: RoleNames;
  /** Address of each role with its password; null for a role whose password an administrator sets. */
  readonly roleUrls: Readonly<Record<keyof RoleNames, string | null>>;
  readonly environment: string;
  readonly cell: number;
  /** How long a migration is tried while other sessions hold a lock it needs. */
  readonly lockWaitSeconds: number;
  readonly log: Log;
  /** Called when the roles can log in and before the first migration is applied. */
  readonly beforeChanges: (pending: readonly string[]) => Promise<void>;
}

/**
 * Brings the database to this version: forward only, one at a time (advisory lock), each file in its own transaction.
 * Throws at the first failure; what was applied before it stays.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const client = ownerClient(options.ownerUrl, 'caudal-migrate');
  await connect(client);
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    // Before anything is changed: the database of another deployment keeps its passwords and its tables.
    await refuseForeignDeployment(client, options);
    await ensureRoles(client, options);
    const migrations = await pendingMigrations(client);
    await options.beforeChanges(migrations.map(({ name }) => name));
    for (const migration of migrations) {
      await applyWhenUnlocked(client, migration, options);
      options.log.info({ migration: migration.name }, 'migration applied');
    }
    await ensureDeployment(client, options);
    await client.query("select caudal.make_months(caudal.now() + interval '3 months')");
  } finally {
    await client.end();
  }
}

/** @throws when PostgreSQL of a supported version is not at the other end */
async function connect(client: Client): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    throw isPoolerRefusal(error) ? new Error(POOLER_FAULT, { cause: error }) : error;
  }
  const { rows } = await client.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  );
  const fault = (await isDirect(client)) ? versionFault(rows[0]?.version ?? 0) : POOLER_FAULT;
  if (fault === null) return;
  await client.end();
  throw new Error(fault);
}

async function ensureRoles(client: Client, options: MigrateOptions): Promise<void> {
  const deployment = await readDeployment(client);
  const fault = prefixFault(deployment, options.rolePrefix);
  if (fault !== null) throw new Error(fault);
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
    const pauseMs = Math.min(FIRST_PAUSE_MS * attempt, LONGEST_PAUSE_MS);
    if (monotonicMs() + pauseMs > giveUpAt)
      throw new Error(
        `migration ${migration.name} was not applied: for ${lockWaitSeconds} s other sessions held a lock that it needs, as a report or pg_dump does. See pg_stat_activity for long transactions, end or await them and repeat \`caudal migrate\`, or give it longer (CAUDAL_MIGRATE_LOCK_WAIT_SECONDS)`,
        { cause: locked },
      );
    log.warn(
      { code: 'migration_lock_timeout', migration: migration.name, attempt },
      'migration could not get a lock; retrying',
    );
    await sleep(pauseMs);
  }
}

/** @returns the error when a lock could not be had in time; nothing of the migration is left then */
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
    // The migration's own error is the one to report, also when the connection is gone.
    await client.query('rollback').catch(() => {});
    if (error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE) return error;
    throw new Error(
      `migration ${migration.name} failed: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}
/** A database belongs to one environment and one cell from its first migration on. */
async function refuseForeignDeployment(client: Client, options: MigrateOptions): Promise<void> {
  const { rows: tables } = await client.query<{ there: boolean }>(
    "select to_regclass('caudal.deployment') is not null as there",
  );
  if (!tables[0]?.there) return;
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
