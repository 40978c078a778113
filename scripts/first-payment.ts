/**
 * U1: time from an installed clone to a confirmed payin whose event is printed, with two commands, on a machine that has
 * only Node. Prints the transcript; with TIMED=1 it fails when it takes more than 60 seconds.
 *
 *   node scripts/first-payment.ts [--clone] [--any-ports]
 *
 * With --clone it first clones the committed tree and installs it; this time is not counted. With --any-ports, several can run
 * at the same time.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { recordTestCounts } from './test-counts.ts';
import { expectWithin } from './testing/expect-within.ts';

const MAX_SECONDS = 60;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'caudal-first-payment-'));
// When this runs as root, PostgreSQL runs as another user and needs access.
chmodSync(scratch, 0o755);

/** Environment of a new machine: no profile of `caudal login`, no API key, this Node first in PATH. */
const env = {
  PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
  HOME: scratch,
  NO_COLOR: '1',
};

function clone(): string {
  const folder = join(scratch, 'caudal');
  console.log('$ git clone … caudal && cd caudal && npm ci');
  const install = `git clone --quiet '${ROOT}' '${folder}' && cd '${folder}' && npm ci --loglevel=error`;
  const { status } = spawnSync('sh', ['-c', install], {
    env: { ...process.env, PATH: env.PATH },
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('failed to clone and install');
  return folder;
}

interface RunningCommand {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  /** Resolves when the command has printed this text. */
  printed(text: string): Promise<void>;
}

/** Runs a command; its output becomes part of the transcript. */
function run(folder: string, command: string): RunningCommand {
  console.log(`$ ${command}`);
  const [program = '', ...args] = command.split(' ');
  // Its own process group, so that an interrupt reaches npm and its children, like Ctrl-C.
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let output = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      process.stdout.write(text);
      for (const listener of listeners) listener();
    });
  const printed = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const check = () => output.includes(text) && resolve();
      listeners.add(check);
      check();
      void exited.then((code) => reject(new Error(`${command} exited with code ${code}`)));
    });
  return { child, exited, printed };
}

async function main(): Promise<number> {
  const folder = process.argv.includes('--clone') ? clone() : ROOT;
  const startedAt = performance.now();
  const dev = run(folder, `npm run dev${process.argv.includes('--any-ports') ? ' -- --any-ports' : ''}`);
  try {
    await dev.printed('API key');
    const listen = run(folder, 'npm run --silent caudal -- listen --trigger payin.confirmed --exit-after 1');
    await Promise.race([listen.printed('payin.confirmed'), listen.exited]);
    const code = await listen.exited;
    const seconds = (performance.now() - startedAt) / 1000;
    console.log(`U1 ${seconds.toFixed(1)} s from the installed clone to the event (target ${MAX_SECONDS})`);
    expectWithin('U1', seconds * 1000, MAX_SECONDS * 1000);
    recordTestCounts(Number(code === 0), Number(code !== 0));
    return code === 0 ? 0 : 1;
  } finally {
    if (dev.child.pid !== undefined) process.kill(-dev.child.pid, 'SIGINT');
    await dev.exited;
    rmSync(scratch, { recursive: true, force: true });
  }
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
