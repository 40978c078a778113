import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../run/random.ts';
import type { SinkFault } from '../webhooks/sink.ts';
import type { Sinks } from '../webhooks/sinks.ts';

/** Weights. */
const FAULTS: Readonly<Record<SinkFault['fault'], number>> = {
  error: 26,
  hang: 8,
  slow: 18,
  reset: 20,
  too_many_requests: 12,
  down: 16,
};

export interface SinkFaults {
  stop(): Promise<void>;
}

/** Injects random faults into merchants' endpoints. */
export function startSinkFaults(sinks: Sinks, random: Random, names: () => readonly string[]): SinkFaults {
  const stopping = new AbortController();
  const down = new Set<Promise<void>>();
  const done = (async () => {
    while (!stopping.signal.aborted) {
      const all = names();
      const sink = all[random.integer(0, all.length - 1)] ?? '';
      const pending = sinks.addFault(drawFault(random, sink)).finally(() => down.delete(pending));
      down.add(pending);
      await sleep(random.integer(100, 900));
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

function drawFault(random: Random, sink: string): SinkFault {
  const fault = random.weighted(FAULTS);
  const times = random.integer(1, 6);
  switch (fault) {
    case 'hang':
      return { sink, fault, times: random.integer(1, 2) };
    case 'slow':
      return { sink, fault, times, ms: random.integer(300, 3000) };
    case 'too_many_requests':
      return { sink, fault, times, retryAfterSeconds: random.pick([0, 1, 60, 3600, 86_400, 999_999]) };
    case 'down':
      return { sink, fault, ms: random.integer(500, 5000) };
    default:
      return { sink, fault, times };
  }
}
