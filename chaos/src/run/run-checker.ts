import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Stack } from '../stack/stack.ts';

const CHECKER = fileURLToPath(new URL('../checker/main.ts', import.meta.url));

export interface CheckResult {
  readonly ok: boolean;
  readonly text: string;
}

/** Pending work is a violation only in a drained run. */
export type CheckedState = 'running' | 'drained';

/** Runs the checker as a separate process. */
export function runChecker(
  stack: Stack,
  clientJournal: string,
  state: CheckedState,
  sinksJournal?: string,
): Promise<CheckResult> {
  const { promise, resolve } = Promise.withResolvers<CheckResult>();
  const args = [
    '--client',
    clientJournal,
    '--simulator',
    stack.simulatorJournal,
    '--incidents',
    stack.incidents,
  ];
  const sinks = sinksJournal === undefined ? [] : ['--sinks', sinksJournal];
  const pending = state === 'running' ? ['--open-ok'] : [];
  const child = spawn(
    process.execPath,
    [CHECKER, ...args, ...sinks, '--database', stack.databaseUrl, ...pending],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
  child.once('close', (code) => resolve({ ok: code === 0, text: text.trimEnd() }));
  return promise;
}

/** Copies the journals to a folder that outlives the run. */
export function keepJournals(
  stack: Stack,
  clientJournal: string,
  name: string,
  sinksJournal?: string,
): string {
  const kept = join(tmpdir(), `caudal-chaos-kept-${name}`);
  mkdirSync(kept, { recursive: true });
  copyFileSync(clientJournal, join(kept, 'client.jsonl'));
  copyFileSync(stack.simulatorJournal, join(kept, 'simulator.jsonl'));
  copyFileSync(stack.incidents, join(kept, 'incidents.jsonl'));
  if (sinksJournal !== undefined) copyFileSync(sinksJournal, join(kept, 'sinks.jsonl'));
  return kept;
}
