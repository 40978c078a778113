import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from '../../../scripts/stack/free-port.ts';
import { makeDatabaseFolder } from '../../../scripts/stack/memory-folder.ts';
import {
  createOwner,
  databaseUser,
  OWNER,
  type PostgresCluster,
  startPostgres,
} from '../../../scripts/stack/postgres.ts';

const execute = promisify(execFile);

const RECOVERS_WITHIN_MS = 60_000;

/** PostgreSQL with a pgBackRest repository, configured as deploy/pgbackrest says. */
export interface BackedUpCluster {
  readonly database: string;
  readonly postgres: PostgresCluster;
  /** Makes a full base backup. */
  backUp(): Promise<void>;
  /** Archives what was written until now. */
  archive(): Promise<void>;
  /** Restores the database to a time, into another cluster on another port, and waits until it accepts writes. */
  restore(to: Date): Promise<PostgresCluster>;
  /** Stops both clusters and deletes everything. */
  stop(): Promise<void>;
}

export async function startBackedUpCluster(): Promise<BackedUpCluster> {
  const folder = makeDatabaseFolder('caudal-restore-');
  const user = databaseUser();
  const port = await freePort();
  const makeFolder = (name: string) => {
    const path = join(folder, name);
    mkdirSync(path, { mode: 0o750 });
    if (user.uid !== undefined && user.gid !== undefined) chownSync(path, user.uid, user.gid);
    return path;
  };
  chmodSync(folder, 0o755);
  const sockets = makeFolder('sockets');
  const repository = makeFolder('repository');
  const logs = makeFolder('log');
  const dataDir = join(folder, 'pg');
  const config = join(folder, 'pgbackrest.conf');
  writeFileSync(config, toConfig({ repository, logs, locks: makeFolder('lock'), sockets, dataDir, port }));
  const pgbackrest = `pgbackrest --config=${config} --stanza=caudal`;
  const run = async (...args: readonly string[]): Promise<void> => {
    const [program = '', ...options] = pgbackrest.split(' ');
    const env = { PATH: process.env['PATH'] ?? '', PGPASSWORD: 'dev-postgres', HOME: folder };
    // Not synchronous: the load of this process goes on meanwhile.
    await execute(program, [...options, ...args], { ...user, cwd: '/', env });
  };
  const postgres = await startPostgres({
    dataDir,
    port,
    settings: {
      unix_socket_directories: sockets,
      max_connections: '200',
      archive_mode: 'on',
      archive_command: `${pgbackrest} archive-push %p`,
      archive_timeout: '60',
      wal_level: 'replica',
    },
    temporaryFolder: folder,
  });
  let restored: PostgresCluster | null = null;
  await withClient(postgres.url('postgres'), async (client) => {
    await createOwner(client);
    await client.query(`create database caudal owner ${OWNER}`);
  });
  await run('stanza-create');
  return {
    database: 'caudal',
    postgres,
    backUp: () => run('--type=full', '--start-fast', 'backup'),
    archive: () => archiveAll(postgres),
    restore: async (to) => {
      const target = join(folder, 'restored');
      makeFolder('restored');
      chmodSync(target, 0o700);
      const time = to.toISOString().replace('T', ' ').replace('Z', '+00');
      await run(
        `--pg1-path=${target}`,
        '--type=time',
        `--target=${time}`,
        '--target-action=promote',
        'restore',
      );
      restored = await startPostgres({
        dataDir: target,
        settings: { max_connections: '200', archive_mode: 'off' },
        temporaryFolder: folder,
      });
      await untilPromoted(restored);
      return restored;
    },
    stop: async () => {
      await restored?.stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface ConfigPaths {
  readonly repository: string;
  readonly logs: string;
  readonly locks: string;
  readonly sockets: string;
  readonly dataDir: string;
  readonly port: number;
}

function toConfig({ repository, logs, locks, sockets, dataDir, port }: ConfigPaths): string {
  return [
    '[global]',
    `repo1-path=${repository}`,
    'repo1-retention-full=2',
    `log-path=${logs}`,
    `lock-path=${locks}`,
    'log-level-console=warn',
    'compress-type=lz4',
    'archive-timeout=60',
    '[caudal]',
    `pg1-path=${dataDir}`,
    `pg1-port=${port}`,
    `pg1-socket-path=${sockets}`,
    'pg1-user=postgres',
    '',
  ].join('\n');
}

async function archiveAll(postgres: PostgresCluster): Promise<void> {
  await withClient(postgres.url('postgres'), async (client) => {
    const { rows } = await client.query<{ name: string }>('select pg_walfile_name(pg_switch_wal()) as name');
    const name = rows[0]?.name ?? '';
    const deadline = performance.now() + RECOVERS_WITHIN_MS;
    for (;;) {
      const archived = await client.query('select 1 from pg_stat_archiver where last_archived_wal >= $1', [
        name,
      ]);
      if (archived.rows.length > 0) return;
      if (performance.now() > deadline) throw new Error(`segment ${name} was not archived`);
      await sleep(100);
    }
  });
}

async function untilPromoted(postgres: PostgresCluster): Promise<void> {
  await withClient(postgres.url('postgres'), async (client) => {
    const deadline = performance.now() + RECOVERS_WITHIN_MS;
    for (;;) {
      const { rows } = await client.query<{ recovering: boolean }>(
        'select pg_is_in_recovery() as recovering',
      );
      if (rows[0]?.recovering === false) return;
      if (performance.now() > deadline) throw new Error('the restored database was not promoted');
      await sleep(100);
    }
  });
}

export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
