import type { Config } from '../config.ts';
import { connectionBudget, type ProcessRole, totalConnections } from '../db/connection-budget.ts';
import {
  type DatabaseFacts,
  findExcessPrivileges,
  findTablesMissingInDumps,
  findTablesWithoutRls,
} from '../db/diagnostics.ts';
import { type Login, tryLogin } from '../db/login.ts';
import { migrationStatus } from '../db/migration-files.ts';
import { countPreparedMonths } from '../db/months.ts';
import { findChangedRights } from '../db/rights.ts';
import { schemaProblems } from '../db/schema-range.ts';
import { versionError } from '../db/server-version.ts';
import type { SystemDb } from '../db/system.ts';
import { probeWrite } from '../db/write-probe.ts';
import { deadline } from '../kit/deadline.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const LOGIN_TIMEOUT_MS = 3000;

interface LoginAttempt {
  readonly setting: string;
  readonly url: string;
  readonly login: Login;
}

/** Checks that each role can log in. @returns `reachable`: whether the other database checks can run */
export async function examineLogins(
  database: Config['database'],
): Promise<{ reachable: boolean; findings: Finding[] }> {
  const urls: readonly (readonly [string, string | null])[] = [
    ['DATABASE_READ_URL', database.readUrl],
    ['DATABASE_BATCH_URL', database.batchUrl],
    ['DATABASE_SYSTEM_URL', database.systemUrl],
    ['DATABASE_URL', database.ownerUrl],
  ];
  const attempted = await Promise.all(
    urls.map(
      async ([setting, url]): Promise<LoginAttempt[]> =>
        url === null ? [] : [{ setting, url, login: await tryLogin(url, deadline(LOGIN_TIMEOUT_MS)) }],
    ),
  );
  const attempts = attempted.flat();
  const system = attempts.find(({ setting }) => setting === 'DATABASE_SYSTEM_URL');
  const failed = attempts.filter(({ login }) => login.kind !== 'connected');
  // Roles belong to the PostgreSQL cluster, so they can also log in to a database that was never migrated.
  if (system?.login.kind === 'connected' && !system.login.migrated)
    return { reachable: false, findings: [neverMigrated(system.url)] };
  if (failed.length === 0 && system?.login.kind === 'connected')
    return {
      reachable: true,
      findings: [
        ok('database', `${describeAddress(system.url)} answers, ${Math.round(system.login.ms)} ms to log in`),
      ],
    };
  return { reachable: system?.login.kind === 'connected', findings: [loginFailure(failed, attempts)] };
}

/** One finding for all failed logins, by the cause of the first. */
function loginFailure(failed: readonly LoginAttempt[], all: readonly LoginAttempt[]): Finding {
  const [first] = failed;
  if (!first || first.login.kind === 'connected')
    return fail('database', 'no address is configured', 'set DATABASE_URL');
  const roleNames = [...new Set(failed.map(({ url }) => roleName(url)))].join(', ');
  const message = `${describeAddress(first.url)} as ${roleNames}: ${first.login.cause}`;
  if (first.login.kind === 'pooler')
    return fail(
      'database',
      message,
      `set the address of PostgreSQL itself, not of a pooler (${addressSettings(failed)})`,
    );
  if (first.login.kind === 'rejected' || first.login.kind === 'wrong_password') {
    const migrated = all.some(({ login }) => login.kind === 'connected' && login.migrated);
    const ownerConnected = all.some(
      ({ setting, login }) => setting === 'DATABASE_URL' && login.kind === 'connected',
    );
    return ownerConnected && !migrated
      ? neverMigrated(first.url)
      : fail(
          'database',
          message,
          `correct the password (${addressSettings(failed)}); passwords derived from CAUDAL_MASTER_KEY are set by: caudal migrate`,
        );
  }
  if (first.login.kind === 'no_such_database')
    return fail(
      'database',
      message,
      `correct the name (${addressSettings(failed)}) or create it, then: caudal migrate`,
    );
  if (first.login.kind === 'busy')
    return fail('database', message, 'check the PostgreSQL log; then: caudal doctor');
  return fail('database', message, `start PostgreSQL, or correct the address (${addressSettings(failed)})`);
}

function neverMigrated(url: string): Finding {
  return fail('database', `${describeAddress(url)} is empty: it has never been migrated`, 'caudal migrate');
}

function addressSettings(attempts: readonly LoginAttempt[]): string {
  return attempts.some(({ setting }) => setting === 'DATABASE_URL')
    ? 'DATABASE_URL'
    : attempts.map(({ setting }) => setting).join(', ');
}

/** Host, port and database name, without the password. */
function describeAddress(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `PostgreSQL at ${hostname || 'localhost'}:${port || '5432'}${pathname}`;
}

function roleName(url: string): string {
  return decodeURIComponent(new URL(url).username);
}

export async function examineMigrations(db: SystemDb): Promise<Finding> {
  const { pending, unknown, changed } = await migrationStatus(db);
  const newer = unknown.map(({ name }) => name).join(', ');
  const problems = schemaProblems({ pending, unknown });
  if (unknown.length > 0 && problems.length > 0)
    return fail(
      'migrations',
      `the database is newer than this program, which cannot run on it: it has ${newer}`,
      'run the version that applied it, or a newer one',
    );
  if (changed.length > 0)
    return fail(
      'migrations',
      `${changed.join(', ')} was changed after it was applied`,
      'restore the original file, and write a new migration instead',
    );
  if (unknown.length > 0)
    return warn(
      'migrations',
      `the database is newer than this program, which runs on it: it has ${newer}`,
      'complete the upgrade; nothing is needed after a rollback',
    );
  const text = `${pending.length} pending: ${pending.join(', ')}`;
  if (problems.length > 0) return fail('migrations', text, 'caudal migrate');
  if (pending.length > 0) return warn('migrations', text, 'caudal migrate');
  return ok('migrations', 'the database schema is up to date');
}

export async function examineRoles(db: SystemDb, config: Config): Promise<Finding> {
  const { roles } = config.database;
  const { unknown, pending } = await migrationStatus(db);
  // The rights of another schema are unknown to this version.
  const comparable = unknown.length === 0 && pending.length === 0;
  const [excess, changed, withoutRls, missing] = await Promise.all([
    findExcessPrivileges(db, [roles.read, roles.backup], Object.values(roles)),
    comparable ? findChangedRights(db, roles) : [],
    findTablesWithoutRls(db),
    findTablesMissingInDumps(db, roles.backup),
  ]);
  const problems = [
    ...excess,
    ...changed,
    ...withoutRls.map((table) => `${table} has no forced row-level security`),
    ...missing.map((table) => `${table} cannot be read by ${roles.backup}: a dump would miss its rows`),
  ];
  if (problems.length === 0)
    return ok(
      'roles',
      comparable
        ? 'the roles have exactly the rights that the migrations grant, and row-level security isolates organizations'
        : 'row-level security isolates organizations; the rights of this schema are compared by its own version',
    );
  return fail(
    'roles',
    problems.join('\n'),
    'correct the privileges as an administrator (alter role … nosuperuser nobypassrls, revoke …)',
  );
}

/** Checks that it is the right database, and that acknowledged commits survive a crash. */
export function examineFacts(facts: DatabaseFacts, config: Config): Finding[] {
  const findings = [
    facts.environment === config.environment && facts.cell === config.cell
      ? null
      : fail(
          'deployment',
          `the database belongs to ${facts.environment}, cell ${facts.cell}; the configuration says ${config.environment}, cell ${config.cell}`,
          'correct the database address, or CAUDAL_ENV and CAUDAL_CELL',
        ),
    versionSupport(facts),
    durability(facts),
    connectionRoom(facts, config),
  ];
  return findings.filter((each) => each !== null);
}

function versionSupport({ version_number }: DatabaseFacts): Finding | null {
  const error = versionError(version_number);
  return error === null ? null : fail('version', error, 'upgrade to a supported version of PostgreSQL');
}

function durability(facts: DatabaseFacts): Finding {
  const off = [
    ...(['fsync', 'full_page_writes'] as const).filter((name) => facts[name] !== 'on'),
    ...(['off', 'local'].includes(facts.synchronous_commit) ? (['synchronous_commit'] as const) : []),
  ].map((name) => `${name} = ${facts[name]}`);
  if (off.length > 0)
    return fail(
      'durability',
      `${off.join(', ')}: a crash could lose acknowledged payments`,
      `alter system set … = 'on'; select pg_reload_conf();`,
    );
  if (facts.standby)
    return fail(
      'durability',
      'this server is a standby, which accepts no writes',
      'set the address of the primary',
    );
  if (!/^(?:C|POSIX|en|$)/i.test(facts.lc_messages))
    return fail(
      'durability',
      `lc_messages is ${facts.lc_messages}: warnings about commits that no standby confirmed are only recognized in English`,
      "alter system set lc_messages = 'C'; select pg_reload_conf();",
    );
  return ok(
    'durability',
    `fsync, full_page_writes and synchronous_commit (${facts.synchronous_commit}) are on`,
  );
}

const CONNECTION_REMEDY =
  'raise max_connections in PostgreSQL, run fewer processes, or lower CAUDAL_READ_CONNECTIONS, CAUDAL_BATCH_LANES or CAUDAL_SYSTEM_CONNECTIONS';

function connectionRoom(facts: DatabaseFacts, { database }: Config): Finding {
  const { bytes, connections, max_connections, reserved_connections, version } = facts;
  const limit = (role: ProcessRole) => totalConnections(connectionBudget(role, database));
  const message = `PostgreSQL ${version}, ${Math.round(bytes / 1e6)} MB, ${connections} of ${max_connections} connections in use; an api process uses up to ${limit('api')}, a worker up to ${limit('worker')}`;
  const free = max_connections - reserved_connections;
  return connections > max_connections * 0.85 || limit('api') + limit('worker') > free
    ? warn('room', message, CONNECTION_REMEDY)
    : ok('room', message);
}

export async function examineMonths(db: SystemDb): Promise<Finding> {
  const prepared = await countPreparedMonths(db);
  if (prepared > 0) return ok('months', "next month's partitions exist");
  return fail(
    'months',
    prepared === 0
      ? "next month's partitions are missing: writes will fail when the month begins"
      : "this month's partitions are missing: writes fail",
    'caudal schedules run housekeeping --by NAME',
  );
}

/** Tries a write, as the readiness check does: no setting shows a full disk or a missing standby. */
export async function examineWrites(db: SystemDb): Promise<Finding> {
  const probe = await probeWrite(db);
  switch (probe.kind) {
    case 'written':
      return ok('writes', 'a test write was committed');
    case 'standby_missing':
      return fail(
        'writes',
        `${probe.count} commits wait for a synchronous standby that does not confirm them`,
        'start the standby (pg_stat_replication lists connected ones), or remove it from synchronous_standby_names',
      );
    case 'failed':
      return fail(
        'writes',
        `a test write failed: ${probe.cause}${probe.sqlState ? ` (${probe.sqlState})` : ''}`,
        WRITE_REMEDIES[probe.sqlState ?? ''] ??
          'check the PostgreSQL log, and whether a synchronous standby is missing (select * from pg_stat_replication)',
      );
  }
}

const WRITE_REMEDIES: Readonly<Record<string, string>> = {
  '53100': 'free space on the data volume of PostgreSQL, or enlarge it',
  '25006': 'this server is read-only: set the address of the primary',
};
