import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import type { Stage } from '../stage/stage.ts';

/** The conditions of a run, which are needed to interpret its figures. */
export interface Conditions {
  readonly at: string;
  readonly commit: string;
  readonly seed: number;
  readonly quick: boolean;
  readonly node: string;
  readonly cores: number;
  readonly processor: string;
  readonly memoryGib: number;
  /** Before the run. Well above zero, other processes used the machine. */
  readonly loadAverage: number;
  readonly postgres: string;
  readonly postgresSettings: Readonly<Record<string, string>>;
}

export async function readConditions(
  stage: Stage,
  { seed, quick, loadAverage }: { seed: number; quick: boolean; loadAverage: number },
): Promise<Conditions> {
  const [version] = await stage.query<{ server_version: string }>('show server_version');
  return {
    at: new Date().toISOString(),
    commit: commit(),
    seed,
    quick,
    node: process.version,
    cores: cpus().length,
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGib: Math.round(totalmem() / 2 ** 30),
    loadAverage,
    postgres: version?.server_version ?? 'unknown',
    postgresSettings: stage.postgresSettings,
  };
}

export function loadAverage(): number {
  return loadavg()[0] ?? 0;
}

export function conditionsText(conditions: Conditions): string {
  const settings = Object.entries(conditions.postgresSettings).map(([name, value]) => `${name}=${value}`);
  return [
    `commit ${conditions.commit}, seed ${conditions.seed}, ${conditions.quick ? 'quick run' : 'full run'} at ${conditions.at}`,
    `Node ${conditions.node}, ${conditions.cores} cores of ${conditions.processor}, ${conditions.memoryGib} GiB, load average before ${conditions.loadAverage.toFixed(2)}`,
    `PostgreSQL ${conditions.postgres}, ${settings.join(' ')}`,
  ].join('\n');
}

/** Marked when the working tree has changes: then the commit alone does not identify the measured code. */
function commit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain') === '' ? '' : ' with changes'}`;
  } catch {
    return 'unknown';
  }
}
