import { atLeast, type Metric, valueText } from '../metric.ts';
import type { Stage } from '../stage/stage.ts';
import { DRIVERS } from './drivers.ts';
import { SET_SIZE } from './engine.ts';
import { type EngineFigures, withEngines } from './measure-engine.ts';
import type { Workload, WorkloadPlan } from './workload.ts';

const BASELINE = 'baseline';
const CAUDAL = 'Caudal';

const WORKLOADS: Readonly<Record<Workload, string>> = {
  single: 'durable creations one by one',
  sets: `durable creations in sets of ${SET_SIZE}`,
  backlog: 'empty jobs of a backlog',
  steps: 'creations with two completed steps',
};

interface Options extends Pick<WorkloadPlan, 'warmUpSeconds' | 'seconds'> {
  readonly rounds: number;
}

/** The results of one engine, one per round. */
interface EngineRounds {
  readonly engine: string;
  readonly rounds: readonly EngineFigures[];
}

/**
 * Repeats the comparison of decision 0037 for the engines that npm installs. All use the same cluster, number of
 * connections and number of callers. Each round measures a workload of all engines in succession, so that a slowdown of
 * the machine affects all.
 */
export async function benchEngines(stage: Stage, { rounds, ...duration }: Options): Promise<Metric[]> {
  await stage.pauseWorkers();
  const names = Object.keys(DRIVERS);
  return withEngines(stage, names, async (measure) => {
    const metrics: Metric[] = [];
    for (const workload of Object.keys(WORKLOADS) as Workload[]) {
      const engines = names.map((engine) => ({ engine, rounds: [] as EngineFigures[] }));
      for (let round = 0; round < rounds; round += 1)
        for (const each of engines) each.rounds.push(await measure(each.engine, workload, duration));
      metrics.push(toMetric(workload, engines));
    }
    return metrics;
  });
}

function toMetric(workload: Workload, engines: readonly EngineRounds[]): Metric {
  const perRound = (name: string) => engines.find(({ engine }) => engine === name)?.rounds ?? [];
  const baseline = perRound(BASELINE);
  const others = engines.filter(({ engine }) => engine !== BASELINE && engine !== CAUDAL);
  const ratios = perRound(CAUDAL).map(
    ({ perSecond }, round) =>
      perSecond / Math.max(...others.map(({ rounds }) => rounds[round]?.perSecond ?? Number.NaN)),
  );
  return atLeast(1, {
    id: 'ENGINES',
    description: `${WORKLOADS[workload]}: Caudal's way ÷ the fastest other engine`,
    value: median(ratios),
    details: Object.fromEntries(
      engines.map(({ engine, rounds }) => [engine, figuresText(rounds, baseline)] as const),
    ),
    samples: {
      bars: engines.map(({ engine, rounds }) => ({
        name: engine,
        value: median(rounds.map(({ perSecond }) => perSecond)),
      })),
    },
  });
}

/** `1524/s (0.21 of the baseline: 0.20, 0.21, 0.22), p99 51.2 ms, 812 bytes of WAL, 1.00 commits` */
function figuresText(rounds: readonly EngineFigures[], baseline: readonly EngineFigures[]): string {
  const of = (name: keyof EngineFigures) => valueText(median(rounds.map((each) => each[name])));
  const ratios = rounds.map(({ perSecond }, round) => perSecond / (baseline[round]?.perSecond ?? Number.NaN));
  return `${of('perSecond')}/s (${valueText(median(ratios))} of the baseline: ${ratios.map(valueText).join(', ')}), p99 ${of('p99Ms')} ms, ${of('walBytes')} bytes of WAL, ${of('commits')} commits`;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
