/** A program of an example, started as its reader would, for the examples' tests. */
import { spawn } from 'node:child_process';
import { until } from '../server/test/harness/until.ts';

export interface Program {
  readonly output: () => string;
  /** Settles with its exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  /** Waits until it has said so. @returns what the first group caught */
  says(what: RegExp): Promise<string>;
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
    says: async (what) => {
      await until(`it says ${what}`, async () => what.test(output), 20_000);
      return what.exec(output)?.[1] ?? '';
    },
    stop: async () => {
      child.kill();
      await exited;
    },
  };
}
