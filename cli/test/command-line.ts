import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { until } from '../../server/test/harness/until.ts';

export const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

const LATE_MS = 80_000;

const folders: string[] = [];
// For each file of tests that imports this.
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<Ran>;
  /** Until it has said this. @throws when it ends without */
  says(text: string | RegExp, withinMs?: number): Promise<void>;
}

/** The real program, as a user's shell would start it: own home, own folder, nothing of our environment. */
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
      NODE_COMPILE_CACHE: join(tmpdir(), 'caudal-compile-cache'),
      ...env,
    };
  }

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
    return this.#spawn(process.execPath, [this.#main, ...args], env);
  }

  /** On a terminal of its own (util-linux), as a person would see it; what it says is all on stdout. */
  onTerminal(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
    const command = [process.execPath, this.#main, ...args].map((word) => `'${word}'`).join(' ');
    return this.#spawn('script', ['-qec', command, '/dev/null'], { TERM: 'xterm-256color', ...env });
  }

  #spawn(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Running {
    const child = spawn(program, args, { env: { ...this.env, ...env }, cwd: this.folder });
    const late = setTimeout(() => child.kill('SIGKILL'), LATE_MS);
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const ended = new Promise<Ran>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        clearTimeout(late);
        resolve({ code, stdout, stderr });
      });
    });
    const says = async (text: string | RegExp, withinMs = 20_000) => {
      const said = () => stdout + stderr;
      const has = () => (typeof text === 'string' ? said().includes(text) : text.test(said()));
      await until(`caudal ${args.join(' ')}`, async () => has() || child.exitCode !== null, withinMs).catch(
        () => null,
      );
      if (!has())
        throw new Error(`caudal ${args.join(' ')} does not say ${String(text)}; it said:\n${said()}`);
    };
    return { child, stdout: () => stdout, stderr: () => stderr, ended, says };
  }

  async run(...args: readonly string[]): Promise<Ran> {
    const running = this.start(args);
    running.child.stdin.end();
    return running.ended;
  }

  async feed(input: string, ...args: readonly string[]): Promise<Ran> {
    const running = this.start(args);
    running.child.stdin.end(input);
    return running.ended;
  }

  /** @throws when it does not exit with 0 and one JSON document */
  async json<T = Record<string, never>>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run(...args, '--json');
    if (code !== 0) throw new Error(`caudal ${args.join(' ')}: ${code}\n${stdout}${stderr}`);
    return JSON.parse(stdout) as T;
  }
}

/** Address of a stack's first API. */
export function addressOf(stack: { readonly apis: readonly { readonly url: string }[] }): string {
  return stack.apis[0]?.url ?? '';
}
