import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { COMPILE_CACHE } from '../../scripts/stack/compile-cache.ts';
import { TIMED } from '../../scripts/testing/expect-within.ts';
import { PATIENCE_MS } from '../../scripts/testing/patience.ts';
import { until } from '../../server/test/harness/until.ts';

export const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** Options of Node for a CLI whose own deadlines may not decide a test. */
export const PATIENT: readonly string[] = TIMED
  ? []
  : ['--import', new URL('patient-clock.ts', import.meta.url).href];

const KILL_AFTER_MS = 2 * PATIENCE_MS;

const folders: string[] = [];
// Runs in every test file that imports this module.
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcessWithoutNullStreams;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<CommandResult>;
  /** Resolves when the output contains the text. @throws when the command ends without it */
  waitForOutput(text: string | RegExp, timeoutMs?: number): Promise<void>;
}

/** Runs the real CLI as a user's shell would: own home, own folder, none of the test's environment. */
export class CommandLine {
  readonly folder = mkdtempSync(join(tmpdir(), 'caudal-cli-'));
  readonly env: Readonly<Record<string, string>>;
  readonly #main: string;

  constructor(env: Readonly<Record<string, string>> = {}, main = MAIN) {
    this.#main = main;
    folders.push(this.folder);
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      XDG_CONFIG_HOME: join(this.folder, 'config'),
      TZ: 'UTC',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...env,
    };
  }

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningCommand {
    // A timeout that a test sets itself is in real time.
    const options = args.includes('--timeout') ? [] : PATIENT;
    return this.#spawn(process.execPath, [...options, this.#main, ...args], env);
  }

  /** Runs the CLI on a pseudo-terminal (`script` of util-linux); all output is on stdout. */
  onTerminal(args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningCommand {
    const command = [process.execPath, this.#main, ...args].map((arg) => `'${arg}'`).join(' ');
    return this.#spawn('script', ['-qec', command, '/dev/null'], { TERM: 'xterm-256color', ...env });
  }

  #spawn(program: string, args: readonly string[], env: Readonly<Record<string, string>>): RunningCommand {
    const child = spawn(program, args, { env: { ...this.env, ...env }, cwd: this.folder });
    const killTimer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
    let [stdout, stderr] = ['', ''];
    let closed = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const ended = new Promise<CommandResult>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        closed = true;
        clearTimeout(killTimer);
        resolve({ code, stdout, stderr });
      });
    });
    const waitForOutput = async (text: string | RegExp, timeoutMs = PATIENCE_MS) => {
      const output = () => stdout + stderr;
      const has = () => (typeof text === 'string' ? output().includes(text) : text.test(output()));
      // Not the exit: the rest of the output arrives after it.
      await until(`caudal ${args.join(' ')}`, async () => has() || closed, timeoutMs).catch(() => null);
      if (!has())
        throw new Error(`caudal ${args.join(' ')} did not print ${String(text)}; output:\n${output()}`);
    };
    return { child, stdout: () => stdout, stderr: () => stderr, ended, waitForOutput };
  }

  async run(...args: readonly string[]): Promise<CommandResult> {
    const running = this.start(args);
    running.child.stdin.end();
    return running.ended;
  }

  async runWithInput(input: string, ...args: readonly string[]): Promise<CommandResult> {
    const running = this.start(args);
    running.child.stdin.end(input);
    return running.ended;
  }

  /** @throws unless it exits with 0 and prints one JSON document */
  async json<T = Record<string, never>>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run(...args, '--json');
    if (code !== 0) throw new Error(`caudal ${args.join(' ')}: ${code}\n${stdout}${stderr}`);
    return JSON.parse(stdout) as T;
  }
}

/** Base URL of the stack's first API process. */
export function stackUrl(stack: { readonly apis: readonly { readonly url: string }[] }): string {
  return stack.apis[0]?.url ?? '';
}
