import type { Client } from 'pg';
import type { RoleNames } from '../kit/database-roles.ts';
import type { Log } from '../kit/log.ts';
import { applyMigration } from './apply-migration.ts';
import {
  ensureRecords,
  grantDeployment,
  readDeployment,
  recordDeployment,
  rolePrefixError,
  tableExists,
} from './deployment.ts';
import { pendingMigrations } from './migration-files.ts';
import { ownerClient } from './owner-client.ts';
import { isDirect, isPoolerRejection, POOLER_ERROR } from './pooler.ts';
import { provisionRoles } from './provision-roles.ts';
import { versionError } from './server-version.ts';

/** An arbitrary constant that identifies this advisory lock in the database. */
const LOCK = 7_283_146;

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
 * Migrates the database to this version: forward only, one process at a time (advisory lock).
 * Throws at the first failure; migrations applied before it stay.
 * @returns the migrations of a newer, compatible release that the database has: then nothing was migrated
 */
export async function migrate(options: MigrateOptions): Promise<readonly string[]> {
  const client = ownerClient(options.ownerUrl, 'caudal-migrate');
  await connect(client);
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    // Before any change: the passwords and tables of another deployment's database must stay untouched.
    await rejectForeignDeployment(client, options);
    await ensureRoles(client, options);
    const { migrations, newer } = await pendingMigrations(client);
    await options.beforeChanges(migrations.map(({ name }) => name));
    if (newer.length > 0) return newer;
    await ensureRecords(client, options.roles);
    for (const migration of migrations) {
      await applyMigration(client, migration, options);
      options.log.info({ code: 'migration_applied', migration: migration.name }, 'migration applied');
    }
    await ensureDeployment(client, options);
    await client.query("select caudal.make_months(caudal.now() + interval '3 months')");
    return [];
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
