import { parseArgs } from 'node:util';
import { BENCHES, type BenchOptions } from './benches.ts';

const ROWS = 10_000_000;
const MINUTES = 60;

export const HELP = `npm run bench [-- OPTIONS]

  --quick          under a minute; shorter turns, without what is slow
  --only P1,P5     these lines only
  --seed N         of what is random; printed, so that a run can be had again
  --rows N         payins of the large database for P3, P4 and G1 (${ROWS})
  --minutes N      of churn for G2 (${MINUTES})
  --flame          profiles creating, confirming and delivering, and draws flame graphs; measures nothing
  --capacity       writes docs/operating/capacity.md from what was last measured at length; measures nothing
  --help           this text

Prints every line of the scoreboard beside its target and writes bench/report/ (report.html, report.json). Lines: ${[...new Set(BENCHES.flatMap(({ ids }) => ids))].join(', ')}.
Needs pgbench (Debian: apt-get install postgresql).
`;

export interface Options extends BenchOptions {
  readonly task: 'measure' | 'flame' | 'capacity' | 'help';
}

/** @throws when a line or an option is not known */
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
  const strange = only?.filter((id) => !known.has(id)) ?? [];
  if (strange.length > 0)
    throw new Error(`no such line: ${strange.join(', ')}; there are ${[...known].join(', ')}`);
  const task = values.help ? 'help' : values.capacity ? 'capacity' : values.flame ? 'flame' : 'measure';
  return {
    quick: values.quick,
    only,
    task,
    seed: whole('--seed', values.seed),
    rows: whole('--rows', values.rows),
    minutes: whole('--minutes', values.minutes),
  };
}

function whole(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${option}: ${text} is not a whole number`);
  return value;
}
