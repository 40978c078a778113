import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './random.ts';
import type { SinkFault } from './sink.ts';
import type { Sinks } from './sinks.ts';

/** Weights. */
const FAULTS: Readonly<Record<SinkFault['fault'], number>> = {
  error: 26,
  hang: 8,
  slow: 18,
  reset: 20,
  'too many': 12,
  down: 16,
};

export interface SinkFaults {
  stop(): Promise<void>;
}

/** Merchants' endpoints misbehave in turn, as the seed has it. */
export function startSinkFaults(sinks: Sinks, random: Random, names: () => readonly string[]): SinkFaults {
  const stopping = new AbortController();
  const down = new Set<Promise<void>>();
  const done = (async () => {
    while (!stopping.signal.aborted) {
      const all = names();
      const sink = all[random.whole(0, all.length - 1)] ?? '';
      const struck = sinks.strike(faultOf(random, sink)).finally(() => down.delete(struck));
      down.add(struck);
      await sleep(random.whole(100, 900));
    }
    await Promise.all(down);
  })();
  return {
    stop: async () => {
      stopping.abort();
      await done;
      await sinks.clearFaults();
    },
  };
}

function faultOf(random: Random, sink: string): SinkFault {
  const fault = random.weighted(FAULTS);
  const times = random.whole(1, 6);
  switch (fault) {
    case 'hang':
      return { sink, fault, times: random.whole(1, 2) };
    case 'slow':
      return { sink, fault, times, ms: random.whole(300, 3000) };
    case 'too many':
      return { sink, fault, times, retryAfterSeconds: random.pick([0, 1, 60, 3600, 86_400, 999_999]) };
    case 'down':
      return { sink, fault, ms: random.whole(500, 5000) };
    default:
      return { sink, fault, times };
  }
}
