import { type ChildProcess, spawn } from 'node:child_process';
import { COMPILE_CACHE } from './compile-cache.ts';

/** A child process that the stack starts and stops. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  /** The message that the process sent or printed when it became ready. */
  readonly ready: Record<string, unknown>;
  readonly exited: Promise<number | null>;
  /** Its recent output, for error messages. */
  output(): string;
  stop(): Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

interface ChildOptions {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /**
   * `ipc`: the process sends a message when ready and exits when the channel closes. `line`: it prints a JSON line.
   * `exit`: wait until it exits with code 0.
   */
  readonly readiness: 'ipc' | 'line' | 'exit';
  readonly withinMs?: number;
  /** Receives every line of output. */
  readonly onLine?: (line: string) => void;
}

const running = new Set<Pick<Child, 'name' | 'output'>>();

/** The children of this process that have not exited. */
export function runningChildren(): readonly Pick<Child, 'name' | 'output'>[] {
  return [...running];
}

export async function startChild(options: ChildOptions): Promise<Child> {
  const child = spawn(process.execPath, [...options.args], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '/',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...options.env,
    },
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    // Its own process group: Ctrl-C reaches only the parent, which stops its children in order.
    detached: true,
  });
  let output = '';
  const lines = lineReader((line) => options.onLine?.(line));
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      // Trimmed occasionally, not at every chunk: a busy server writes thousands per second.
      if (output.length > 4_000_000) output = output.slice(-2_000_000);
      lines(text);
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const entry = { name: options.name, output: () => output };
  running.add(entry);
  void exited.then(() => running.delete(entry));
  const ready = await readiness(child, options, exited, () => output);
  return {
    ...entry,
    pid: child.pid ?? 0,
    ready,
    exited,
    kill: (signal) => void child.kill(signal),
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

async function readiness(
  child: ChildProcess,
  options: ChildOptions,
  exited: Promise<number | null>,
  output: () => string,
): Promise<Record<string, unknown>> {
  if (options.readiness === 'exit') {
    const code = await exited;
    if (code !== 0) throw new Error(`${options.name} exited with code ${code}:\n${output()}`);
    return {};
  }
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail('was not ready in time'), options.withinMs ?? 120_000);
    const fail = (what: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`${options.name} ${what}:\n${output()}`));
    };
    const succeed = (message: Record<string, unknown>) => {
      clearTimeout(timer);
      resolve(message);
    };
    void exited.then((code) => fail(`exited with code ${code} before it was ready`));
    if (options.readiness === 'ipc') {
      child.on('message', (message) => succeed(message as Record<string, unknown>));
    } else {
      child.stdout?.on(
        'data',
        lineReader(
          (line) =>
            line.startsWith('{') &&
            line.includes('"ready"') &&
            succeed(JSON.parse(line) as Record<string, unknown>),
        ),
      );
    }
  });
}

function lineReader(onLine: (line: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  };
}
