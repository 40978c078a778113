import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A time in which this machine did not run its processes at their normal speed, for a cause outside of it. */
export interface Stall {
  /** Unix milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly cause: string;
}

export interface StallWatch {
  readonly stalls: readonly Stall[];
  stop(): Promise<void>;
}

export function watchStalls(): StallWatch {
  const stalls: Stall[] = [];
  const child = spawn(process.execPath, [fileURLToPath(new URL('measure-stalls.ts', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  createInterface(child.stdout).on('line', (line) => void stalls.push(JSON.parse(line) as Stall));
  const closed = once(child, 'close');
  return {
    stalls,
    async stop() {
      child.stdin.end();
      await closed;
    },
  };
}

export function stallsBetween(stalls: readonly Stall[], from: number, to: number): Stall[] {
  return stalls.filter((stall) => stall.from < to && stall.to > from);
}

export function describeStalls(stalls: readonly Stall[]): string {
  return stalls
    .map(({ from, cause }) => `${new Date(from).toISOString().slice(11, 19)} ${cause}`)
    .join('\n  ');
}
