import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TIMED } from '../../scripts/testing/expect-within.ts';
import { PATIENCE_MS } from '../../scripts/testing/patience.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const READY_DEADLINE_MS = 120_000;

/** A starved machine must not meet the deadlines of notices: a repeated or released notice would change a result. */
const PATIENT_ENV: Readonly<Record<string, string>> = TIMED ? {} : { SIM_TEST_DEADLINE_FACTOR: '12' };
/** For simulators that must meet a deadline. */
export const PRODUCTION_DEADLINES: Readonly<Record<string, string>> = { SIM_TEST_DEADLINE_FACTOR: '1' };

export type Simulator = {
  readonly url: string;
  readonly dataDir: string;
  readonly journalFile: string;
  /** Sends the signal and resolves with the exit code (null when the signal killed the process). */
  readonly end: (signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL') => Promise<number | null>;
};

const started: ChildProcess[] = [];
const directories: string[] = [];

/** Call in `afterAll` of every file that starts a simulator. */
export async function cleanUp(): Promise<void> {
  await Promise.all(started.map((child) => endChild(child, 'SIGKILL')));
  await Promise.all(directories.map((path) => rm(path, { recursive: true, force: true })));
}

type StartOptions = {
  readonly dataDir?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Maximum file size: larger writes fail, as on a full disk. */
  readonly maxFileKb?: number;
};

/** Starts the real process on a free port, with a temporary data directory by default. */
export async function startSimulator(options: StartOptions = {}): Promise<Simulator> {
  const dataDir = options.dataDir ?? (await temporaryDirectory());
  const child = spawnSimulator(['--port', '0', '--data', dataDir, ...(options.args ?? [])], options);
  const output = collect(child);
  await eventually(
    () => output.out.includes('\n') || child.exitCode !== null,
    () => `the simulator was not ready: ${output.err}`,
    READY_DEADLINE_MS,
  );
  // What it wrote last may arrive after its exit.
  if (child.exitCode !== null) await output.closed;
  if (child.exitCode !== null) throw new Error(`the simulator ended with ${child.exitCode}: ${output.err}`);
  const { url } = JSON.parse(output.out) as { url: string };
  return {
    url,
    dataDir,
    journalFile: join(dataDir, 'journal.jsonl'),
    end: (signal) => endChild(child, signal),
  };
}

/** Runs a simulator whose start is expected to fail. */
export async function runSimulator(
  args: string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawnSimulator(args, { env });
  const output = collect(child);
  await output.closed;
  return { code: child.exitCode, out: output.out, err: output.err };
}

export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'caudal-simulator-'));
  directories.push(path);
  return path;
}

/** Polls until the condition holds; after the deadline throws an error that contains `expectation`. */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  expectation: () => string,
  deadlineMs = PATIENCE_MS,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${expectation()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function spawnSimulator(args: readonly string[], { env, maxFileKb }: StartOptions = {}): ChildProcess {
  const command = [process.execPath, MAIN, ...args];
  const limited = ['/bin/sh', '-c', `ulimit -f ${(maxFileKb ?? 0) * 2}; exec "$@"`, 'sh', ...command];
  const [program = '', ...rest] = maxFileKb === undefined ? command : limited;
  const child = spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...PATIENT_ENV, ...env },
  });
  started.push(child);
  return child;
}

type Output = { out: string; err: string; readonly closed: Promise<unknown> };

function collect(child: ChildProcess): Output {
  const output = { out: '', err: '', closed: once(child, 'close') };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.err += text));
  return output;
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
  return child.exitCode;
}
