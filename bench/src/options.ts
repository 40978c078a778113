import { parseArgs } from 'node:util';
import { BENCHES, type BenchOptions } from './benches.ts';

const ROWS = 10_000_000;
const MINUTES = 60;

export const HELP = `npm run bench [-- OPTIONS]

  --quick          under a minute: shorter runs, without slow benches
  --only P1,P5     only these metrics
  --only starvation  the latency of a merchant beside attacks; not part of a run of all metrics
  --only tracing   what tracing costs at 1 % sampling; not part of a run of all metrics
  --only engines   the engines of docs/decisions/0037; not part of a run of all metrics
  --seed N         random seed; printed, so that a run can be repeated
  --rows N         payins in the large database for P3, P4 and G1 (${ROWS})
  --minutes N      duration of churn for G2 (${MINUTES})
  --flame          profile creation, confirmation and delivery, and draw flame graphs; measures nothing
  --capacity       write docs/operating/capacity.md from the last full run; measures nothing
  --help           show this help

Prints every metric of the scoreboard next to its target and writes bench/report/ (report.html, report.json). Metrics: ${[...new Set(BENCHES.flatMap(({ ids }) => ids))].join(', ')}.
Needs pgbench (Debian: apt-get install postgresql).
`;

export interface Options extends BenchOptions {
  readonly task: 'measure' | 'flame' | 'capacity' | 'help';
}

/** @throws when a metric or an option is unknown */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      seed: { type: 'string', default: String(Math.floor(Date.now() / 1000) % 1_000_000) },
      rows: { type: 'string', default: String(ROWS) },
      minutes: { type: 'string', default: String(MINUTES) },
      flame: { type: 'boolean', default: false },
      capacity: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
    strict: true,
  });
  const only = values.only?.split(',').map((id) => id.trim().toUpperCase()) ?? null;
  const known = new Set(BENCHES.flatMap(({ ids }) => ids));
  const unknown = only?.filter((id) => !known.has(id)) ?? [];
  if (unknown.length > 0)
    throw new Error(`no such metric: ${unknown.join(', ')}; available: ${[...known].join(', ')}`);
  const task = values.help ? 'help' : values.capacity ? 'capacity' : values.flame ? 'flame' : 'measure';
  return {
    quick: values.quick,
    only,
    task,
    seed: parseInteger('--seed', values.seed),
    rows: parseInteger('--rows', values.rows),
    minutes: parseInteger('--minutes', values.minutes),
  };
}

function parseInteger(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${option}: ${text} is not a whole number`);
  return value;
}
