import { setTimeout as sleep } from 'node:timers/promises';
import type { Outages } from './outages.ts';
import type { FaultOrder, RailControl } from './rail-control.ts';
import type { Random } from './random.ts';

/** `standing` ones are taken away after some seconds; the others strike a few times and are over. */
interface Mischief {
  readonly weight: number;
  readonly of: 'calls' | 'notices';
  readonly standing?: true;
  readonly ms?: number;
}

const MISCHIEF: Readonly<Record<string, Mischief>> = {
  'slow calls': { weight: 10, of: 'calls', ms: 1500 },
  'hang calls': { weight: 6, of: 'calls' },
  'reset calls': { weight: 10, of: 'calls' },
  'lost-answer calls': { weight: 12, of: 'calls' },
  'down calls': { weight: 8, of: 'calls', standing: true },
  'duplicate notices': { weight: 10, of: 'notices' },
  'reorder notices': { weight: 8, of: 'notices' },
  'wrong-amount notices': { weight: 8, of: 'notices' },
  'unknown-id notices': { weight: 6, of: 'notices' },
  'bad-signature notices': { weight: 6, of: 'notices' },
  'lost-notice notices': { weight: 6, of: 'notices' },
  'slow notices': { weight: 4, of: 'notices', ms: 1500 },
  'reset notices': { weight: 4, of: 'notices' },
  // Held back all together and let go at once: the flood after an outage.
  'down notices': { weight: 6, of: 'notices', standing: true },
};

const CALLS = { BRE_B: ['*', 'register', 'close', 'query'], PSE: ['*', 'create', 'query'] } as const;

export interface Faults {
  readonly struck: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Rails misbehave in turn, as the seed has it. Calls that fail are written down as outages: work may wait for them. */
export function startFaults(rails: RailControl, random: Random, outages: Outages): Faults {
  const struck = new Map<string, number>();
  const stopping = new AbortController();
  const weights = Object.fromEntries(Object.entries(MISCHIEF).map(([name, { weight }]) => [name, weight]));
  const one = async () => {
    const name = random.weighted(weights);
    const mischief = MISCHIEF[name];
    if (!mischief) return;
    const end = mischief.of === 'calls' ? outages.begin() : () => undefined;
    try {
      const id = await rails.addFault(orderOf(random, name, mischief));
      struck.set(name, (struck.get(name) ?? 0) + 1);
      await sleep(random.whole(800, 3000), undefined, { signal: stopping.signal }).catch(() => undefined);
      // A call that hangs is let go by it, too.
      if (mischief.standing || name === 'hang calls') await rails.removeFault(id);
    } finally {
      end();
    }
  };
  const done = (async () => {
    while (!stopping.signal.aborted) {
      // The simulator may be away: whatever stands then is cleared at the end.
      await one().catch(() => undefined);
      await sleep(random.whole(100, 1200));
    }
  })();
  return {
    struck,
    stop: async () => {
      stopping.abort();
      await done;
    },
  };
}

function orderOf(random: Random, name: string, { of, standing, ms }: Mischief): FaultOrder {
  const rail = random.pick(['BRE_B', 'PSE']);
  return {
    rail,
    operation: of === 'notices' ? 'notice' : random.pick(CALLS[rail]),
    fault: name.split(' ')[0] ?? '',
    ...(ms === undefined ? {} : { ms }),
    ...(standing ? {} : { times: random.whole(1, 4) }),
  };
}
