import { spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stage } from './stage.ts';

export interface PgbenchResult {
  readonly clients: number;
  readonly perSecond: number;
  readonly latencyMs: number;
}

interface PgbenchRun {
  /** pgbench picks one at random for each transaction. */
  readonly scripts: readonly string[];
  readonly clients: number;
  readonly seconds: number;
  readonly seed: number;
}

let runs = 0;

/** Runs pgbench against the baseline database of the same cluster. */
export async function runPgbench(
  stage: Stage,
  { scripts, clients, seconds, seed }: PgbenchRun,
): Promise<PgbenchResult> {
  const run = runs++;
  const files = scripts.map((text, index) => {
    const file = join(stage.folder, `pgbench-${run}-${index}.sql`);
    writeFileSync(file, text);
    return file;
  });
  const output = await programOutput(pgbenchPath(), [
    '-n',
    '-M',
    'prepared',
    // A different seed per run: the same numbers would collide with existing rows.
    `--random-seed=${seed * 1000 + run}`,
    ...files.flatMap((file) => ['-f', file]),
    '-c',
    String(clients),
    '-j',
    '2',
    '-T',
    String(seconds),
    stage.baselineUrl,
  ]);
  const perSecond = Number(/tps = ([\d.]+)/.exec(output)?.[1]);
  const latencyMs = Number(/latency average = ([\d.]+)/.exec(output)?.[1]);
  if (!Number.isFinite(perSecond)) throw new Error(`cannot parse the output of pgbench:\n${output}`);
  // A client stops when a statement fails, which makes the other clients faster.
  if (/aborted|ERROR/.test(output)) throw new Error(`pgbench reported errors:\n${output}`);
  return { clients, perSecond, latencyMs };
}

export function findBest(results: readonly PgbenchResult[]): PgbenchResult {
  return results.reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
}

function pgbenchPath(): string {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const found = [
    ...versions.map((version) => `/usr/lib/postgresql/${version}/bin/pgbench`),
    '/usr/local/bin/pgbench',
    '/usr/bin/pgbench',
    '/opt/homebrew/bin/pgbench',
  ].find((path) => existsSync(path));
  if (!found) throw new Error('pgbench is not installed. On Debian: apt-get install postgresql');
  return found;
}

function programOutput(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.once('error', reject);
    // Not `exit`: output may still be pending at that point.
    child.once('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${command} exited with code ${code}:\n${output}`)),
    );
  });
}
