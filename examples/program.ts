/** Starts the program of an example like its reader would, for the tests of the examples. */
import { spawn } from 'node:child_process';
import { until } from '../server/test/harness/until.ts';

export interface Program {
  readonly output: () => string;
  /** Resolves with the exit code; null when a signal ended the program. */
  readonly exited: Promise<number | null>;
  /** Waits until the output matches. @returns the first capture group */
  printed(pattern: RegExp): Promise<string>;
  stop(): Promise<void>;
}

export function startProgram(folder: string, file: string, environment: Record<string, string>): Program {
  const child = spawn(process.execPath, [file], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return {
    output: () => output,
    exited,
    printed: async (pattern) => {
      await until(`the program prints ${pattern}`, async () => pattern.test(output));
      return pattern.exec(output)?.[1] ?? '';
    },
    stop: async () => {
      child.kill();
      await exited;
    },
  };
}
