import { runServerCommand } from '../../../scripts/stack/processes.ts';
import { quantile } from '../load/load-result.ts';
import { atMost, type Metric } from '../metric.ts';
import { runOverload } from '../overload/load.ts';
import type { Stage } from '../stage/stage.ts';
import { bigBody, freshTokens, madeUpKeys, read } from './requests.ts';

export interface StarvationOptions {
  readonly seconds: number;
  readonly rounds: number;
}

/** One way to starve others, and a well-behaved neighbor. */
interface Case {
  readonly name: string;
  readonly attack: readonly string[];
  /** What is sent at the same rate in the other phases. */
  readonly harmless: readonly string[];
  readonly attacksPerSecond: number;
  /** Requests of the neighbor for each phase. */
  readonly neighbor: () => Promise<readonly string[]>;
}

const NEIGHBOR_PER_SECOND = 20;
/** The attack starts before the neighbor is measured and ends after it. */
const MARGIN_SECONDS = 2;
const MAX_P50_RATIO = 1.3;
const MAX_P99_RATIO = 2;

/**
 * Latency of a merchant beside an attack, divided by its latency beside harmless requests at the same rate. Both phases
 * alternate, so that a slow machine decides no ratio; attackers and neighbor are separate processes.
 */
export async function benchStarvation(stage: Stage, options: StarvationOptions): Promise<Metric[]> {
  const [attacker, merchant] = await stage.newOrganizations(2);
  if (!attacker || !merchant) throw new Error('the organizations were not created');
  await runServerCommand(['org', 'limits', attacker.organizationId, '--reads', '0'], stage.settings);
  const harmless = [read('/balance', { 'x-api-key': attacker.apiKey })];
  const tokens = options.seconds * NEIGHBOR_PER_SECOND;
  const metrics: Metric[] = [];
  for (const each of [
    {
      name: '64 KB of unknown fields, 90/s by a merchant',
      attack: [bigBody(attacker.apiKey)],
      harmless,
      attacksPerSecond: 90,
      neighbor: () => Promise.resolve([read('/balance', { 'x-api-key': merchant.apiKey })]),
    },
    {
      name: 'made-up keys, 1,000/s',
      attack: madeUpKeys(3000).map((key) => read('/balance', { 'x-api-key': key })),
      harmless,
      attacksPerSecond: 1000,
      neighbor: async () =>
        (await freshTokens(stage.ports[0] ?? 0, merchant, tokens)).map((token) =>
          read('/balance', { authorization: `Bearer ${token}` }),
        ),
    },
  ] satisfies Case[])
    metrics.push(...(await measureCase(stage, each, options)));
  return metrics;
}

interface Measured {
  readonly ms: number[];
  refused: number;
}

async function measureCase(stage: Stage, each: Case, options: StarvationOptions): Promise<Metric[]> {
  const beside: Record<'harmless' | 'attack', Measured> = {
    harmless: { ms: [], refused: 0 },
    attack: { ms: [], refused: 0 },
  };
  for (let round = 0; round < options.rounds; round += 1) {
    for (const kind of ['harmless', 'attack'] as const) {
      const found = await measurePhase(stage, each, kind, options.seconds);
      beside[kind].ms.push(...found.ms);
      beside[kind].refused += found.refused;
    }
  }
  const { harmless, attack } = beside;
  const at = ({ ms }: Measured, share: number) =>
    quantile(
      ms.toSorted((a, b) => a - b),
      share,
    );
  const ratio = (share: number) => at(attack, share) / at(harmless, share);
  const details = {
    'p50 beside the attack, ms': at(attack, 0.5),
    'p50 beside harmless requests, ms': at(harmless, 0.5),
    'p99 beside the attack, ms': at(attack, 0.99),
    'p99 beside harmless requests, ms': at(harmless, 0.99),
    'answered beside the attack': attack.ms.length,
    'refused beside harmless requests': harmless.refused,
  };
  const id = 'STARVATION';
  return [
    atMost(MAX_P50_RATIO, { id, description: `p50 ratio: ${each.name}`, value: ratio(0.5), details }),
    atMost(MAX_P99_RATIO, { id, description: `p99 ratio: ${each.name}`, value: ratio(0.99), details: {} }),
    atMost(0, { id, description: `refused neighbors: ${each.name}`, value: attack.refused, details: {} }),
  ];
}

async function measurePhase(
  stage: Stage,
  { attack, harmless, attacksPerSecond, neighbor }: Case,
  kind: 'harmless' | 'attack',
  seconds: number,
): Promise<Measured> {
  const requests = await neighbor();
  const noise = runOverload(stage, {
    streams: [{ requests: kind === 'attack' ? attack : harmless }],
    phases: [{ seconds: seconds + 2 * MARGIN_SECONDS, perSecond: [attacksPerSecond] }],
    connections: 256,
  });
  const { phases } = await runOverload(stage, {
    streams: [{ requests }],
    // The first phase waits until the other process sends; it uses few requests.
    phases: [
      { seconds: MARGIN_SECONDS, perSecond: [0] },
      { seconds, perSecond: [NEIGHBOR_PER_SECOND] },
    ],
    connections: 32,
  });
  await noise;
  const [result] = phases[1] ?? [];
  if (!result) throw new Error('the neighbor was not measured');
  return { ms: result.done.map(([, tookMs]) => tookMs), refused: result.rejectedAtMs.length };
}
