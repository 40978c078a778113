import type { Config } from '../config.ts';
import { connectionBudget, type ProcessRole, totalConnections } from '../db/connection-budget.ts';
import { type DatabaseFacts, missingInDumps, surplusRights, unwalledTables } from '../db/examine.ts';
import { type Login, tryLogin } from '../db/login.ts';
import { migrationStatus } from '../db/migration-files.ts';
import { nextMonthExists } from '../db/months.ts';
import { versionFault } from '../db/server-version.ts';
import type { SystemDb } from '../db/system.ts';
import { probeWrite } from '../db/write-probe.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const LOGIN_WITHIN_MS = 3000;

interface Entrance {
  readonly setting: string;
  readonly url: string;
  readonly login: Login;
}

/** Whether each role gets in. @returns whether it makes sense to ask the database anything */
export async function examineLogins(
  database: Config['database'],
): Promise<{ reachable: boolean; findings: Finding[] }> {
  const urls: readonly (readonly [string, string | null])[] = [
    ['DATABASE_READ_URL', database.readUrl],
    ['DATABASE_BATCH_URL', database.batchUrl],
    ['DATABASE_SYSTEM_URL', database.systemUrl],
    ['DATABASE_URL', database.ownerUrl],
  ];
  const tried = await Promise.all(
    urls.map(
      async ([setting, url]): Promise<Entrance[]> =>
        url === null ? [] : [{ setting, url, login: await tryLogin(url, LOGIN_WITHIN_MS) }],
    ),
  );
  const entrances = tried.flat();
  const system = entrances.find(({ setting }) => setting === 'DATABASE_SYSTEM_URL');
  const outside = entrances.filter(({ login }) => login.kind !== 'in');
  // The roles belong to the cluster: they get into a database that was never migrated, too.
  if (system?.login.kind === 'in' && !system.login.migrated)
    return { reachable: false, findings: [neverMigrated(system.url)] };
  if (outside.length === 0 && system?.login.kind === 'in')
    return {
      reachable: true,
      findings: [
        ok('database', `${placeOf(system.url)} answers, ${Math.round(system.login.ms)} ms to log in`),
      ],
    };
  return { reachable: system?.login.kind === 'in', findings: [closedDoor(outside, entrances)] };
}

/** The one sentence that explains most of it. */
function closedDoor(outside: readonly Entrance[], all: readonly Entrance[]): Finding {
  const [first] = outside;
  if (!first || first.login.kind === 'in')
    return fail('database', 'no address is configured', 'set DATABASE_URL');
  const who = [...new Set(outside.map(({ url }) => roleOf(url)))].join(', ');
  const says = `${placeOf(first.url)} as ${who}: ${first.login.cause}`;
  if (first.login.kind === 'pooler')
    return fail('database', says, `give the address of PostgreSQL itself (${addressSettings(outside)})`);
  if (first.login.kind === 'refused' || first.login.kind === 'password') {
    const migrated = all.some(({ login }) => login.kind === 'in' && login.migrated);
    const ownerIn = all.some(({ setting, login }) => setting === 'DATABASE_URL' && login.kind === 'in');
    return ownerIn && !migrated
      ? neverMigrated(first.url)
      : fail(
          'database',
          says,
          `correct the password (${addressSettings(outside)}); those derived from CAUDAL_MASTER_KEY are set by: caudal migrate`,
        );
  }
  if (first.login.kind === 'no_such_database')
    return fail(
      'database',
      says,
      `correct the name (${addressSettings(outside)}) or create it, then: caudal migrate`,
    );
  if (first.login.kind === 'busy')
    return fail('database', says, "look at PostgreSQL's own log; then: caudal doctor");
  return fail('database', says, `start PostgreSQL, or correct the address (${addressSettings(outside)})`);
}

function neverMigrated(url: string): Finding {
  return fail('database', `${placeOf(url)} is empty: it has never been migrated`, 'caudal migrate');
}

function addressSettings(entrances: readonly Entrance[]): string {
  return entrances.some(({ setting }) => setting === 'DATABASE_URL')
    ? 'DATABASE_URL'
    : entrances.map(({ setting }) => setting).join(', ');
}

/** Host, port and name: never the password. */
function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `PostgreSQL at ${hostname || 'localhost'}:${port || '5432'}${pathname}`;
}

function roleOf(url: string): string {
  return decodeURIComponent(new URL(url).username);
}

export async function examineMigrations(db: SystemDb): Promise<Finding> {
  const { pending, unknown, changed } = await migrationStatus(db);
  if (unknown.length > 0)
    return fail(
      'migrations',
      `the database is newer than this program: it has ${unknown.join(', ')}`,
      'run the version that made it, or a newer one',
    );
  if (changed.length > 0)
    return fail(
      'migrations',
      `${changed.join(', ')} was changed after it was applied`,
      'put its text back as it was, and write a new migration instead',
    );
  if (pending.length > 0)
    return fail('migrations', `${pending.length} pending: ${pending.join(', ')}`, 'caudal migrate');
  return ok('migrations', 'the database is of this version');
}

export async function examineRoles(db: SystemDb, config: Config): Promise<Finding> {
  const { roles } = config.database;
  const [surplus, unwalled, missing] = await Promise.all([
    surplusRights(db, [roles.read, roles.backup], Object.values(roles)),
    unwalledTables(db),
    missingInDumps(db, roles.backup),
  ]);
  const walls = [
    ...unwalled.map((table) => `${table} is without forced row-level security`),
    ...missing.map((table) => `${table} cannot be read by ${roles.backup}: a dump would not have its rows`),
  ];
  if (surplus.length + walls.length === 0)
    return ok('roles', 'they hold no right they should not, and the walls between organizations stand');
  return fail(
    'roles',
    [...surplus, ...walls].join('\n'),
    'take the right away as an administrator (alter role … nosuperuser nobypassrls, revoke …)',
  );
}

/** The right database, and one that keeps what it has acknowledged. */
export function examineFacts(facts: DatabaseFacts, config: Config): Finding[] {
  const findings = [
    facts.environment === config.environment && facts.cell === config.cell
      ? null
      : fail(
          'deployment',
          `the database belongs to ${facts.environment}, cell ${facts.cell}; the configuration says ${config.environment}, cell ${config.cell}`,
          'correct the address of the database, or CAUDAL_ENV and CAUDAL_CELL',
        ),
    supported(facts),
    durability(facts),
    room(facts, config),
  ];
  return findings.filter((each) => each !== null);
}

function supported({ version_number }: DatabaseFacts): Finding | null {
  const fault = versionFault(version_number);
  return fault === null ? null : fail('version', fault, 'move the database to a supported version');
}

function durability(facts: DatabaseFacts): Finding {
  const off = [
    ...(['fsync', 'full_page_writes'] as const).filter((name) => facts[name] !== 'on'),
    ...(['off', 'local'].includes(facts.synchronous_commit) ? (['synchronous_commit'] as const) : []),
  ].map((name) => `${name} = ${facts[name]}`);
  if (off.length > 0)
    return fail(
      'durability',
      `${off.join(', ')}: a payment that was acknowledged could be lost in a crash`,
      `alter system set … = 'on'; select pg_reload_conf();`,
    );
  if (facts.standby)
    return fail(
      'durability',
      'this is a standby: nothing can be written to it',
      'give the address of the primary',
    );
  if (!/^(?:C|POSIX|en|$)/i.test(facts.lc_messages))
    return fail(
      'durability',
      `it speaks ${facts.lc_messages}: that a standby has not confirmed a commit would not be understood`,
      "alter system set lc_messages = 'C'; select pg_reload_conf();",
    );
  return ok(
    'durability',
    `fsync, full_page_writes and synchronous_commit (${facts.synchronous_commit}) hold`,
  );
}

const FEWER_CONNECTIONS =
  'a higher max_connections in PostgreSQL, fewer processes, or lower CAUDAL_READ_CONNECTIONS, CAUDAL_BATCH_LANES or CAUDAL_SYSTEM_CONNECTIONS';

function room(facts: DatabaseFacts, { database }: Config): Finding {
  const { bytes, connections, max_connections, reserved_connections, version } = facts;
  const limit = (role: ProcessRole) => totalConnections(connectionBudget(role, database));
  const says = `PostgreSQL ${version}, ${Math.round(bytes / 1e6)} MB, ${connections} of ${max_connections} connections taken; an api process takes up to ${limit('api')}, a worker ${limit('worker')}`;
  const free = max_connections - reserved_connections;
  return connections > max_connections * 0.85 || limit('api') + limit('worker') > free
    ? warn('room', says, FEWER_CONNECTIONS)
    : ok('room', says);
}

export async function examineMonths(db: SystemDb): Promise<Finding> {
  return (await nextMonthExists(db))
    ? ok('months', "next month's partitions are there")
    : fail(
        'months',
        "next month's partitions are missing: when it begins, nothing can be written",
        'caudal schedules run housekeeping --by NAME',
      );
}

/** Tries a write, as readiness does: a full disk and a missing standby do not show in any setting. */
export async function examineWrites(db: SystemDb): Promise<Finding> {
  const probe = await probeWrite(db);
  switch (probe.kind) {
    case 'written':
      return ok('writes', 'a test write was committed');
    case 'standby_missing':
      return fail(
        'writes',
        `${probe.count} commits wait for a synchronous standby that does not confirm them`,
        'start the standby (pg_stat_replication lists those connected), or take it out of synchronous_standby_names',
      );
    case 'failed':
      return fail(
        'writes',
        `a test write failed: ${probe.cause}${probe.sqlState ? ` (${probe.sqlState})` : ''}`,
        WRITE_REMEDIES[probe.sqlState ?? ''] ??
          'is a synchronous standby missing (select * from pg_stat_replication)? See the log of PostgreSQL',
      );
  }
}

const WRITE_REMEDIES: Readonly<Record<string, string>> = {
  '53100': 'free space on the data volume of PostgreSQL, or enlarge it',
  '25006': 'this server is read-only: set the address of the primary',
};
