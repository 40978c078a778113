import { setTimeout as sleep } from 'node:timers/promises';
import type { Option } from './command.ts';
import { UnknownOutcome } from './errors.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { ParsedArgs } from './parsed-args.ts';
import { withProgress } from './progress.ts';
import type { Screen } from './screen.ts';
import { durationOption } from './time.ts';

export const WAIT_OPTIONS: readonly Option[] = [
  {
    name: 'wait',
    value: null,
    summary: 'stay until the outcome is final; exit 1 when it is not the good one',
  },
  { name: 'timeout', value: 'SPAN', summary: 'how long --wait stays: 30s, 10m; 5m when left out' },
];

const USUAL_MS = 300_000;
const EVERY_MS = 400;

const FINAL = new Set(['CONFIRMED', 'DECLINED', 'CANCELED', 'COMPLETED', 'EXPIRED']);

export const isFinal = (status: string): boolean => FINAL.has(status);

export function exitCodeOf(status: string): ExitCode {
  return status === 'CONFIRMED' || status === 'COMPLETED' ? EXIT.done : EXIT.failed;
}

/** Asks until it has ended. @throws UnknownOutcome when that takes too long: that is no refusal */
export async function followToEnd<T extends { readonly status: string }>(
  options: {
    readonly screen: Screen;
    readonly signal: AbortSignal;
    readonly args: ParsedArgs;
    readonly what: string;
    readonly id: string;
  },
  read: () => Promise<T>,
): Promise<T> {
  const { screen, signal, args, what, id } = options;
  const span = args.text('timeout');
  const withinMs = span === undefined ? USUAL_MS : durationOption('timeout', span);
  const deadline = performance.now() + withinMs;
  return withProgress(screen, `Waiting for the outcome of ${what}`, async () => {
    for (;;) {
      const seen = await read();
      if (isFinal(seen.status)) return seen;
      if (performance.now() > deadline) {
        throw new UnknownOutcome(`still ${seen.status} after ${Math.round(withinMs / 1000)} s`, [
          `It goes on by itself. Look again: caudal ${what.split(' ')[0]}s get ${id}`,
        ]);
      }
      await sleep(EVERY_MS, undefined, { signal });
    }
  });
}
