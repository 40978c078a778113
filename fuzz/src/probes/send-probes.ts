import { print, type tally } from '../../../chaos/src/run/outcome.ts';
import { type FuzzRequest, toCommand } from '../generate/request.ts';
import { checkResponse } from '../oracle/oracle.ts';
import { Sender } from '../run/exchange.ts';
import type { Stage } from '../run/stage.ts';
import { findDifference } from './compare.ts';
import type { Probe } from './probe.ts';

const CONCURRENCY = 8;
const SHOWN = 10;

/** Differences and times by operation and place. */
export class ProbeResults {
  readonly #places = new Map<
    string,
    { probes: number; wrong: string[]; foreignMs: number[]; unknownMs: number[] }
  >();
  probes = 0;
  differences = 0;

  add({ operation, place }: Probe, wrong: readonly string[], foreignMs: number, unknownMs: number): void {
    const name = `${operation.id}, ${place}`;
    const entry = this.#places.get(name) ?? { probes: 0, wrong: [], foreignMs: [], unknownMs: [] };
    this.#places.set(name, entry);
    this.probes += 1;
    this.differences += wrong.length;
    entry.probes += 1;
    entry.wrong.push(...wrong);
    entry.foreignMs.push(foreignMs);
    entry.unknownMs.push(unknownMs);
  }

  /** The places for which the other organization had no value. */
  findMissing(places: readonly string[]): string[] {
    return places.filter((place) => !this.#places.has(place));
  }

  report(counts: ReturnType<typeof tally>, layer: string): void {
    for (const [name, { wrong }] of this.#places) {
      if (wrong.length === 0) counts.pass();
      else
        counts.fail(
          `${name} (${layer}): ${wrong.length} differences\n        ${wrong.slice(0, 3).join('\n        ')}`,
        );
    }
  }

  /** A difference in time would also tell that a value exists. */
  describe(): string {
    const gaps = [...this.#places]
      .filter(([, { probes }]) => probes >= SHOWN)
      .map(([name, { foreignMs, unknownMs }]) => ({ name, gap: median(foreignMs) - median(unknownMs) }))
      .sort((one, other) => Math.abs(other.gap) - Math.abs(one.gap));
    const [largest] = gaps;
    return `${this.#places.size} places; largest difference of median times ${largest?.gap.toFixed(2) ?? '-'} ms (${largest?.name ?? '-'})`;
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[values.length >> 1] ?? 0;
}

export async function sendProbes(
  stage: Stage,
  probes: readonly Probe[],
  results: ProbeResults,
): Promise<void> {
  const queue = probes.values();
  const worker = async (_: unknown, number: number) => {
    const sender = new Sender(stage.ports[number % stage.ports.length] ?? 0);
    for (const probe of queue) await sendProbe(stage, sender, probe, results);
    sender.close();
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

async function sendProbe(stage: Stage, sender: Sender, probe: Probe, results: ProbeResults): Promise<void> {
  // Alternating, so that neither is always the first to reach a cold cache.
  const foreignFirst = results.probes % 2 === 0;
  const first = await sender.send(foreignFirst ? probe.foreign : probe.unknown);
  const second = await sender.send(foreignFirst ? probe.unknown : probe.foreign);
  const [foreign, unknown] = foreignFirst ? [first, second] : [second, first];
  if (foreign === null || unknown === null) return results.add(probe, ['no answer'], 0, 0);
  const difference = findDifference(probe, foreign, unknown);
  const { violations } = checkResponse(stage.oracle, probe.foreign, foreign);
  const wrong = [
    ...(difference === null ? [] : [difference]),
    ...violations.filter(({ rule }) => rule !== 'slow').map(({ rule, detail }) => `${rule}: ${detail}`),
  ];
  if (wrong.length > 0 && results.differences < SHOWN) show(probe.foreign, sender.port);
  results.add(probe, wrong, foreign.ms, unknown.ms);
}

function show(request: FuzzRequest, port: number): void {
  print(`  different: ${toCommand(request, port)}`);
}
