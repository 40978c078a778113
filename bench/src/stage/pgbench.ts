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
  /** One of them for each turn of a client, chosen at random. */
  readonly scripts: readonly string[];
  readonly clients: number;
  readonly seconds: number;
  readonly seed: number;
}

let runs = 0;

/** Against the twin, a database of its own in the same cluster. */
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
    // Another one for each run: with the same numbers again the rows would be there already.
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
  if (!Number.isFinite(perSecond)) throw new Error(`pgbench said nothing readable:\n${output}`);
  // A client whose statement fails stops, and the others would be the faster for it.
  if (/aborted|ERROR/.test(output)) throw new Error(`pgbench ran into errors:\n${output}`);
  return { clients, perSecond, latencyMs };
}

export function bestOf(results: readonly PgbenchResult[]): PgbenchResult {
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
    // Not `exit`: the output may still be on its way then.
    child.once('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${command} ended with ${code}:\n${output}`)),
    );
  });
}
