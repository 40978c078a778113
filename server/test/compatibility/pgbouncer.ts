import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../../scripts/stack/free-port.ts';
import { databaseUser } from '../../../scripts/stack/postgres.ts';
import { until } from '../harness/until.ts';

const PROGRAM = '/usr/sbin/pgbouncer';

export const HAS_PGBOUNCER = existsSync(PROGRAM);

export interface Pgbouncer {
  /** The same URL through the pooler. */
  through(direct: string): string;
  stop(): Promise<void>;
}

/** Starts a real pgbouncer in front of the server of these URLs, with their logins. */
export async function startPgbouncer(
  urls: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<Pgbouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-pgbouncer-'));
  const port = await freePort();
  const target = new URL(urls[0] ?? '');
  const logins = urls.map((url) => new URL(url));
  const users = logins.map(({ username, password }) => `"${username}" "${decodeURIComponent(password)}"\n`);
  writeFileSync(join(folder, 'users.txt'), users.join(''));
  const lines = Object.entries({
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(folder, 'users.txt'),
    ...settings,
  }).map(([name, value]) => `${name} = ${value}\n`);
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]\n* = host=127.0.0.1 port=${target.port}\n[pgbouncer]\n${lines.join('')}`,
  );
  chmodSync(folder, 0o755);
  const child = spawn(PROGRAM, [join(folder, 'pgbouncer.ini')], {
    ...databaseUser(),
    cwd: '/',
    stdio: 'ignore',
  });
  const through = (direct: string) => {
    const url = new URL(direct);
    url.port = String(port);
    return url.href;
  };
  await until('pgbouncer answers', () => canConnect(through(urls[0] ?? '')));
  return {
    through,
    stop: async () => {
      await kill(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function canConnect(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    return true;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function kill(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
