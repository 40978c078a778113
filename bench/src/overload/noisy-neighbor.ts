import { runServerCommand } from '../../../scripts/stack/processes.ts';
import { withBaselineServers } from '../load/baseline-servers.ts';
import { quantile } from '../load/load-result.ts';
import { atMost, type Metric } from '../metric.ts';
import type { Stage } from '../stage/stage.ts';
import { runOverload } from './load.ts';
import { creation, type StreamResult } from './plan.ts';

const QUIET = 10;
/** Rate limit of the noisy organization, per API process. */
const LIMIT_PER_SECOND = 25;
const TIMES_ITS_LIMIT = 50;

const ROUND = ['alone', 'lead', 'beside', 'baseline'] as const;
type Kind = (typeof ROUND)[number];

/**
 * O4: one organization at 50 times its limit and its effect on the latency of others. Alternates between the others
 * alone, next to the noise, and next to the same noise sent to baseline servers. A slowdown of the machine does not decide
 * the ratio, and the baseline shows how much of the effect comes from sharing the machine.
 */
export async function benchNoisyNeighbor(
  stage: Stage,
  options: { readonly quietPerSecond: number; readonly seconds: number; readonly rounds: number },
): Promise<Metric> {
  const [noisy, ...quiet] = await stage.newOrganizations(1 + QUIET);
  if (!noisy) throw new Error('the noisy organization was not created');
  await runServerCommand(
    ['org', 'limits', noisy.organizationId, '--writes', String(LIMIT_PER_SECOND)],
    stage.settings,
  );
  const noise = LIMIT_PER_SECOND * TIMES_ITS_LIMIT * stage.ports.length;
  const { seconds, rounds, quietPerSecond } = options;
  const alone = { seconds, perSecond: [quietPerSecond, 0, 0] };
  const beside = { seconds, perSecond: [quietPerSecond, noise, 0] };
  const besideBaseline = { seconds, perSecond: [quietPerSecond, 0, noise] };
  const warmUp = { seconds: 3, perSecond: [quietPerSecond, noise, 0] };
  // The allowed burst is used up before the flood is measured.
  const lead = { seconds: 1, perSecond: [quietPerSecond, noise, 0] };
  const run = Date.now().toString(36);
  const { phases, generatorCpuSeconds } = await withBaselineServers((ports) =>
    runOverload(stage, {
      streams: [
        { requests: quiet.map(({ apiKey }, index) => creation(apiKey, `q${index}${run}`)) },
        { requests: [creation(noisy.apiKey, `n${run}`)] },
        { requests: [creation('none', `b${run}`)], ports },
      ],
      phases: [warmUp, ...Array.from({ length: rounds }, () => [alone, lead, beside, besideBaseline]).flat()],
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
  const [aloneMs, besideMs, besideBaselineMs] = (['alone', 'beside', 'baseline'] as const).map((kind) =>
    latencies(others(kind)),
  ) as Triple;
  const rejected = flood('beside').reduce((sum, { statuses }) => sum + (statuses['429'] ?? 0), 0);
  return atMost(1.2, {
    id: 'O4',
    description: 'p99 of other merchants next to one at 50 times its limit ÷ without it',
    value: quantile(besideMs, 0.99) / quantile(aloneMs, 0.99),
    details: {
      'p99 beside, ms': quantile(besideMs, 0.99),
      'p99 alone, ms': quantile(aloneMs, 0.99),
      'p99 while a baseline server gets the noise, ms': quantile(besideBaselineMs, 0.99),
      'p50 beside, ms': quantile(besideMs, 0.5),
      'p50 alone, ms': quantile(aloneMs, 0.5),
      'p50 while a baseline server gets the noise, ms': quantile(besideBaselineMs, 0.5),
      'others, requests/s': quietPerSecond,
      'noise, requests/s': noise,
      'rejected 429/s': rejected / (seconds * rounds),
      'others rejected': others('beside').reduce((sum, each) => sum + each.rejectedAtMs.length, 0),
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
