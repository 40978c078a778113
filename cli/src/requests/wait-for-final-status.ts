import { setTimeout as sleep } from 'node:timers/promises';
import type { OptionDescription } from '@caudal/command-tree';
import { UnknownOutcomeError } from '../framework/errors.ts';
import { EXIT, type ExitCode } from '../framework/exit-codes.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { withProgress } from '../output/progress.ts';
import type { Screen } from '../output/screen.ts';
import { parseDurationOption } from './time.ts';

export const WAIT_OPTIONS: readonly OptionDescription[] = [
  {
    name: 'wait',
    value: null,
    summary: 'wait for the final status; exit 1 unless it succeeded',
  },
  { name: 'timeout', value: 'SPAN', summary: 'timeout of --wait: 30s, 10m (default: 5m)' },
];

const DEFAULT_TIMEOUT_MS = 300_000;
const POLL_INTERVAL_MS = 400;

const FINAL = new Set(['CONFIRMED', 'DECLINED', 'CANCELED', 'COMPLETED', 'EXPIRED']);

export const isFinal = (status: string): boolean => FINAL.has(status);

export function exitCodeForStatus(status: string): ExitCode {
  return status === 'CONFIRMED' || status === 'COMPLETED' ? EXIT.success : EXIT.failed;
}

/** Polls until the status is final. @throws UnknownOutcomeError on timeout: the payment may still succeed */
export async function waitForFinalStatus<T extends { readonly status: string }>(
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
  const timeoutMs = span === undefined ? DEFAULT_TIMEOUT_MS : parseDurationOption('timeout', span);
  const deadline = performance.now() + timeoutMs;
  return withProgress(screen, `Waiting for the outcome of ${what}`, async () => {
    for (;;) {
      const resource = await read();
      if (isFinal(resource.status)) return resource;
      if (performance.now() > deadline) {
        throw new UnknownOutcomeError(`still ${resource.status} after ${Math.round(timeoutMs / 1000)} s`, [
          `Processing continues. Check later: caudal ${what.split(' ')[0]}s get ${id}`,
        ]);
      }
      await sleep(POLL_INTERVAL_MS, undefined, { signal });
    }
  });
}
