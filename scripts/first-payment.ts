/**
 * U1: from an installed clone to a confirmed payin whose event is on the screen, by two commands, on a machine with Node
 * and nothing else. Prints the transcript and fails after sixty seconds.
 *
 *   node scripts/first-payment.ts [--clone]
 *
 * With --clone it first clones the committed tree and installs it, which is not counted.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MOST_SECONDS = 60;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'caudal-first-payment-'));
// PostgreSQL runs as another user when we are root, and must be able to enter.
chmodSync(scratch, 0o755);

/** As on a new machine: no profile of `caudal login`, no key in the environment, this Node before any other. */
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
  if (status !== 0) throw new Error('the clone could not be installed');
  return folder;
}

interface Shown {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  /** Resolves once it has printed this. */
  says(text: string): Promise<void>;
}

/** In a terminal: what it prints is the transcript. */
function run(folder: string, command: string): Shown {
  console.log(`$ ${command}`);
  const [program = '', ...args] = command.split(' ');
  // A group of its own: an interruption reaches npm and what npm started, as Ctrl-C does.
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
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => output.includes(text) && resolve();
      listeners.add(look);
      look();
      void exited.then((code) => reject(new Error(`${command} ended with ${code}`)));
    });
  return { child, exited, says };
}

async function main(): Promise<number> {
  const folder = process.argv.includes('--clone') ? clone() : ROOT;
  const began = performance.now();
  const dev = run(folder, 'npm run dev');
  try {
    await dev.says('API key');
    const listen = run(folder, 'npx caudal listen --trigger payin.confirmed --exit-after 1');
    await Promise.race([listen.says('payin.confirmed'), listen.exited]);
    const code = await listen.exited;
    const seconds = (performance.now() - began) / 1000;
    console.log(`U1 ${seconds.toFixed(1)} s from the installed clone to the event (target ${MOST_SECONDS})`);
    return code === 0 && seconds <= MOST_SECONDS ? 0 : 1;
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
