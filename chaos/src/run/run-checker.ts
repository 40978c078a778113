import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Stage } from './stage.ts';

const CHECKER = fileURLToPath(new URL('checker/main.ts', import.meta.url));

export interface Verdict {
  readonly whole: boolean;
  readonly text: string;
}

/** The checker's word, of a run that goes on or of one that has come to rest. */
export function judge(
  stage: Stage,
  clientJournal: string,
  state: 'going on' | 'at rest',
  sinksJournal?: string,
): Promise<Verdict> {
  const { promise, resolve } = Promise.withResolvers<Verdict>();
  const args = [
    '--client',
    clientJournal,
    '--simulator',
    stage.simulatorJournal,
    '--incidents',
    stage.incidents,
  ];
  const sinks = sinksJournal === undefined ? [] : ['--sinks', sinksJournal];
  const open = state === 'going on' ? ['--open-ok'] : [];
  const child = spawn(
    process.execPath,
    [CHECKER, ...args, ...sinks, '--database', stage.databaseUrl, ...open],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
  child.once('close', (code) => resolve({ whole: code === 0, text: text.trimEnd() }));
  return promise;
}

/** Copies the journals to where they outlive the run. */
export function keepJournals(
  stage: Stage,
  clientJournal: string,
  name: string,
  sinksJournal?: string,
): string {
  const kept = join(tmpdir(), `caudal-chaos-kept-${name}`);
  mkdirSync(kept, { recursive: true });
  copyFileSync(clientJournal, join(kept, 'client.jsonl'));
  copyFileSync(stage.simulatorJournal, join(kept, 'simulator.jsonl'));
  copyFileSync(stage.incidents, join(kept, 'incidents.jsonl'));
  if (sinksJournal !== undefined) copyFileSync(sinksJournal, join(kept, 'sinks.jsonl'));
  return kept;
}
