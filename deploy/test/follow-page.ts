/**
 * Runs the commands under "First payment" of docs/operating/containers.md with the image and Debian's PostgreSQL 15, whose
 * owner is no superuser, and prints how long it took. Runs in a network namespace of its own, so that all ports are free and
 * nothing outside is reachable.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeBlocks } from '../../docs/test/blocks/code-blocks.ts';
import { startPostgres } from '../../scripts/stack/postgres.ts';
import { expectEqual } from './checks.ts';
import { VERSION } from './image.ts';

const PAGE = 'operating/containers.md';
const NOTE = 'run by node deploy/test/main.ts';
const MAX_SECONDS = 60;

const folder = process.env['IMAGE_FOLDER'] ?? '';
const work = join(folder, 'page');
const bin = join(folder, 'bin');

async function main(): Promise<void> {
  process.env['POSTGRES_BIN'] ??= '/usr/lib/postgresql/15/bin';
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres'), port: 5432 });
  try {
    const env = prepareEnvironment(new URL(postgres.url('postgres')));
    const script = codeBlocks(PAGE)
      .filter(({ note }) => note === NOTE)
      .map(({ text }) => text.replaceAll('caudal:0.1.0', `caudal:${VERSION}`))
      .join('');
    try {
      const startedAt = performance.now();
      const output = await bash(script, env);
      const seconds = (performance.now() - startedAt) / 1000;
      if (!output.includes('CONFIRMED')) throw new Error(`the payin was not confirmed:\n${output}`);
      console.log(`First payment with the image: ${seconds.toFixed(1)} s`);
      if (seconds > MAX_SECONDS) throw new Error(`it took more than ${MAX_SECONDS} s`);
      for (const path of ['/docs', `/packages/caudal-cli-${VERSION}.tgz`])
        expectEqual((await fetch(`http://127.0.0.1:8080${path}`)).status, 200, `status of ${path}`);
    } finally {
      await bash('docker stop api worker simulator', env);
    }
    for (const name of ['api', 'worker']) {
      const log = readFileSync(join(folder, 'containers', `${name}.log`), 'utf8');
      if (!log.includes('"code":"stopped"')) throw new Error(`${name} did not stop gracefully:\n${log}`);
    }
  } finally {
    await postgres.stop();
  }
}

/** The environment of an administrator of PostgreSQL on a machine with `docker`. */
function prepareEnvironment(admin: URL): Record<string, string> {
  for (const path of [work, bin]) mkdirSync(path, { recursive: true });
  const shim = fileURLToPath(new URL('docker.ts', import.meta.url));
  writeFileSync(join(bin, 'docker'), `#!/bin/sh\nexec '${process.execPath}' '${shim}' "$@"\n`);
  chmodSync(join(bin, 'docker'), 0o755);
  return {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: work,
    IMAGE_FOLDER: folder,
    PGHOST: admin.hostname,
    PGPORT: admin.port,
    PGUSER: admin.username,
    PGPASSWORD: admin.password,
  };
}

/** Runs a script to its end and returns its output. */
function bash(script: string, env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: work,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.once('error', reject);
    // Not `close`: detached containers keep running.
    child.once('exit', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`exit code ${code}:\n${output}`)),
    );
  });
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
