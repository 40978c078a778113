import { runServerCommand } from '../../../scripts/stack/processes.ts';
import { besideBareServers } from '../load/baseline-servers.ts';
import { quantile } from '../load/load-result.ts';
import { atMost, type Metric } from '../metric.ts';
import type { Stage } from '../stage/stage.ts';
import { runOverload } from './load.ts';
import { creation, type StreamResult } from './plan.ts';

const QUIET = 10;
/** Of the noisy one, in each API process. */
const LIMIT_PER_SECOND = 25;
const TIMES_ITS_LIMIT = 50;

const ROUND = ['alone', 'lead', 'beside', 'bare'] as const;
type Kind = (typeof ROUND)[number];

/**
 * One organization at fifty times its limit: how much longer the others wait. Alone, beside it, and beside the same noise at
 * servers that do nothing, in turn: a machine that slows down during the run does not decide the ratio, and what such
 * noise takes from everybody on one machine is told apart from what we do with it.
 */
export async function benchNoisyNeighbour(
  stage: Stage,
  options: { readonly quietPerSecond: number; readonly seconds: number; readonly rounds: number },
): Promise<Metric> {
  const [noisy, ...quiet] = await stage.newOrganizations(1 + QUIET);
  if (!noisy) throw new Error('there is no noisy organization');
  await runServerCommand(
    ['org', 'limits', noisy.organizationId, '--writes', String(LIMIT_PER_SECOND)],
    stage.settings,
  );
  const noise = LIMIT_PER_SECOND * TIMES_ITS_LIMIT * stage.ports.length;
  const { seconds, rounds, quietPerSecond } = options;
  const alone = { seconds, perSecond: [quietPerSecond, 0, 0] };
  const beside = { seconds, perSecond: [quietPerSecond, noise, 0] };
  const besideBare = { seconds, perSecond: [quietPerSecond, 0, noise] };
  const warmUp = { seconds: 3, perSecond: [quietPerSecond, noise, 0] };
  // What a bucket holds may come at once, as everybody's may: it is used up before the flood is measured.
  const lead = { seconds: 1, perSecond: [quietPerSecond, noise, 0] };
  const run = Date.now().toString(36);
  const { phases, generatorCpuSeconds } = await besideBareServers((ports) =>
    runOverload(stage, {
      streams: [
        { requests: quiet.map(({ apiKey }, index) => creation(apiKey, `q${index}${run}`)) },
        { requests: [creation(noisy.apiKey, `n${run}`)] },
        { requests: [creation('none', `b${run}`)], ports },
      ],
      phases: [warmUp, ...Array.from({ length: rounds }, () => [alone, lead, beside, besideBare]).flat()],
    }),
  );
  const [others, flood] = [0, 1].map(
    (stream) => (kind: Kind) =>
      phases
        .slice(1)
        .flatMap((each, index) =>
          index % ROUND.length === ROUND.indexOf(kind) ? [each[stream] as StreamResult] : [],
        ),
  ) as [Results, Results];
  const [aloneMs, besideMs, besideBareMs] = (['alone', 'beside', 'bare'] as const).map((kind) =>
    latencies(others(kind)),
  ) as Triple;
  const refused = flood('beside').reduce((sum, { statuses }) => sum + (statuses['429'] ?? 0), 0);
  return atMost(1.2, {
    id: 'O4',
    says: 'p99 of others beside an organization at 50 times its limit ÷ without it',
    value: quantile(besideMs, 0.99) / quantile(aloneMs, 0.99),
    details: {
      'p99 beside, ms': quantile(besideMs, 0.99),
      'p99 alone, ms': quantile(aloneMs, 0.99),
      'p99 while a bare server on this machine gets the noise, ms': quantile(besideBareMs, 0.99),
      'p50 beside, ms': quantile(besideMs, 0.5),
      'p50 alone, ms': quantile(aloneMs, 0.5),
      'p50 while a bare server gets it, ms': quantile(besideBareMs, 0.5),
      'others, requests/s': quietPerSecond,
      'noise, requests/s': noise,
      'refused 429/s': refused / (seconds * rounds),
      'others refused': others('beside').reduce((sum, each) => sum + each.refusedAtMs.length, 0),
      'generator beside, of a core':
        (generatorCpuSeconds[1 + ROUND.indexOf('beside')] ?? Number.NaN) / seconds,
    },
  });
}

type Results = (kind: Kind) => StreamResult[];
type Triple = [number[], number[], number[]];

function latencies(results: readonly StreamResult[]): number[] {
  return results.flatMap(({ done }) => done.map(([, tookMs]) => tookMs)).toSorted((a, b) => a - b);
}
