import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Metric } from '../metric.ts';
import { type Cost, cpuMsOf } from '../stage/cost.ts';
import type { Conditions } from './conditions.ts';
import { earlierLines } from './report.ts';

const PAGE = fileURLToPath(new URL('../../../docs/operating/capacity.md', import.meta.url));
/** Busy cores are planned with so much of their time; the rest is for peaks, vacuum and a lost process. */
const PLANNED_SHARE = 0.5;
/** What one cell is taken to be: its PostgreSQL, API and worker processes together. */
const CORES_OF_A_CELL = 16;

const DEMANDS: readonly { readonly what: string; readonly perSecond: number }[] = [
  { what: 'a million payins a day, a tenth of them in one hour', perSecond: 100_000 / 3600 },
  { what: 'Bre-B (Colombia), the average of its first 146 days', perSecond: 468e6 / (146 * 86_400) },
  { what: 'the same, with a tenth of a day in one hour', perSecond: (0.1 * 468e6) / (146 * 3600) },
  { what: "Stripe's published peak", perSecond: 2300 },
  { what: 'Pix (Brazil), the average of its record day', perSecond: 3600 },
];

/** @returns the path of the page */
export function writeCapacityPage(): string {
  const earlier = earlierLines();
  const conditions = earlier.get('P2')?.conditions;
  if (!conditions) throw new Error('no whole lives were measured yet: npm run bench, without --quick, does');
  writeFileSync(
    PAGE,
    capacityPage(
      conditions,
      [...earlier.values()].flatMap(({ lines }) => lines),
    ),
  );
  return PAGE;
}

function capacityPage(conditions: Conditions, lines: readonly Metric[]): string {
  const create = costOf(lines, 'P8');
  const life = costOf(lines, 'P2');
  const creations = figuresOf(lines, 'P1')['perSecond'] ?? Number.NaN;
  const lives = figuresOf(lines, 'P2')['perSecond'] ?? Number.NaN;
  return `---
title: Capacity
description: What one core carries, what a payin costs, what known peaks would need.
---

Written by \`npm run bench -- --capacity\` from a full run of \`npm run bench\`; do not edit it by hand. Measured at commit ${conditions.commit} on ${conditions.cores} cores of ${conditions.processor} with ${conditions.memoryGib} GiB, Node ${conditions.node}, PostgreSQL ${conditions.postgres}, seed ${conditions.seed}, load average before the run ${conditions.loadAverage.toFixed(1)}. Everything ran on that one machine: API, workers, database, the simulated rail, the load and the receiver of webhooks. Every write was on disk before it was acknowledged (${['fsync', 'synchronous_commit', 'full_page_writes'].map((name) => `\`${name}=${conditions.postgresSettings[name]}\``).join(', ')}).

Your machine has other figures. Run it there: \`npm run bench\`.

## What a payin costs

| What it takes | created | its whole life |
|---|---:|---:|
| processor, API | ${ms(create.apiMs)} | ${ms(life.apiMs)} |
| processor, worker | ${ms(create.workerMs)} | ${ms(life.workerMs)} |
| processor, PostgreSQL | ${ms(create.postgresMs)} | ${ms(life.postgresMs)} |
| processor, together | **${ms(cpuMsOf(create))}** | **${ms(cpuMsOf(life))}** |
| write-ahead log | ${bytes(create.walBytes)} | ${bytes(life.walBytes)} |
| disk, indexes included | ${bytes(create.diskBytes)} | ${bytes(life.diskBytes)} |
| commits | ${create.commits.toFixed(3)} | ${life.commits.toFixed(3)} |

Created: \`POST /payins\` with an idempotency key, a reference and a customer, and its key registered at the network. Its whole life: also paid, confirmed, booked in the ledger, its event recorded and delivered to one endpoint. Milliseconds are of one core. Under load many share one commit, which is why a payin has less than one. Right after a write a page goes to the log whole (\`full_page_writes\`), so the log of a quiet system is longer per payin than this.

A million whole lives take ${gib(1e6 * life.diskBytes)} of disk and write ${gib(1e6 * life.walBytes)} of log.

## What one core carries

| Done | a second, on one core | measured on this machine, all parts on it |
|---|---:|---:|
| payins created | ${perCore(create)} | ${creations.toFixed(0)} a second |
| whole lives | ${perCore(life)} | ${lives.toFixed(0)} a second |

The first column is a core's second divided by the cost above: ours and the database's time, without the load, the rail and the receiver, which run elsewhere in production.${unpaid(lines)}

## What known peaks would need

Planned at ${(100 * PLANNED_SHARE).toFixed(0)} % of each core, whole lives, one endpoint each. A cell is one PostgreSQL with its API and worker processes, ${CORES_OF_A_CELL} cores together here; organizations are shared out between cells, so that each cell stays within one database.

| Demand | payins a second | cores | cells of ${CORES_OF_A_CELL} cores |
|---|---:|---:|---:|
${DEMANDS.map((demand) => demandRow(demand, life)).join('\n')}

Bre-B: 468 million operations from 6 October 2025 to the end of February 2026 (Valora Analitik). All of a country's payments would hardly go through one operator; the rows say what if.

A figure of ours for one cell scaled to many is arithmetic, not a measurement: cells share nothing, and a network, a disk and a standby of your own belong into it. With a synchronous standby each commit waits for it; that costs latency, and little processor time.
`;
}

/** Creations at a steady rate, where the overload bench was run too. */
function unpaid(lines: readonly Metric[]): string {
  const capacity = lines.find((line) => line.id === 'O1')?.figures?.['capacity'];
  return capacity === undefined
    ? ''
    : `\n\nA payin that nobody pays is work too: its rail is asked after half a minute and after five, its key is closed when its time is over, and it is asked about once more. With the first of these questions under way at the same rate, the same machine created ${capacity.toFixed(0)} a second.`;
}

function demandRow({ what, perSecond }: (typeof DEMANDS)[number], life: Cost): string {
  const cores = (perSecond * cpuMsOf(life)) / 1000 / PLANNED_SHARE;
  const cells = Math.ceil(cores / CORES_OF_A_CELL);
  return `| ${what} | ${perSecond.toFixed(0)} | ${Math.max(1, Math.ceil(cores))} | ${cells} |`;
}

function figuresOf(lines: readonly Metric[], id: string): Readonly<Record<string, number>> {
  const found = lines.find((line) => line.id === id && line.figures !== undefined)?.figures;
  if (!found) throw new Error(`${id} was not measured at length yet: npm run bench -- --only ${id}`);
  return found;
}

function costOf(lines: readonly Metric[], id: string): Cost {
  const figures = figuresOf(lines, id);
  const of = (name: keyof Cost) => figures[name] ?? Number.NaN;
  return {
    apiMs: of('apiMs'),
    workerMs: of('workerMs'),
    postgresMs: of('postgresMs'),
    walBytes: of('walBytes'),
    diskBytes: of('diskBytes'),
    commits: of('commits'),
  };
}

function perCore(cost: Cost): string {
  return (1000 / cpuMsOf(cost)).toFixed(0);
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

function ms(value: number): string {
  return `${value.toFixed(2)} ms`;
}

function bytes(value: number): string {
  return `${Math.round(value).toLocaleString('en')} bytes`;
}
