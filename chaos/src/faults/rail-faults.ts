import { setTimeout as sleep } from 'node:timers/promises';
import type { Outages } from './outages.ts';
import type { FaultOrder, RailControl } from './rail-control.ts';
import type { Random } from './random.ts';

/** `standing` ones are taken away after some seconds; the others strike a few times and are over. */
interface Mischief {
  readonly weight: number;
  readonly of: 'calls' | 'notices';
  readonly standing?: true;
  /** The rail's name of it, where ours is another. */
  readonly fault?: string;
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

/** Which calls of which rails are struck, and what strikes beside the usual. */
interface FaultPlan {
  readonly aims: readonly [Aim, ...Aim[]];
  readonly more: Readonly<Record<string, Mischief>>;
}
interface Aim {
  readonly rail: 'BRE_B' | 'PSE';
  readonly calls: readonly [string, ...string[]];
}

export const EVERY_CALL: FaultPlan = {
  aims: [
    { rail: 'BRE_B', calls: ['*', 'register', 'close', 'query', 'order', 'order-query'] },
    { rail: 'PSE', calls: ['*', 'create', 'query'] },
  ],
  more: {},
};

export const PAYOUT_CALLS: FaultPlan = {
  aims: [{ rail: 'BRE_B', calls: ['*', 'order', 'order', 'order-query', 'order-query', 'resolve'] }],
  // Longer than whoever calls waits: carried out when it has been given up, asked about and sent again.
  more: { 'late calls': { weight: 14, of: 'calls', fault: 'slow', ms: 7000 } },
};

export interface Faults {
  readonly struck: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Rails misbehave in turn, as the seed has it. Calls that fail are written down as outages: work may wait for them. */
export function startFaults(
  rails: RailControl,
  random: Random,
  outages: Outages,
  { aims, more }: FaultPlan,
): Faults {
  const struck = new Map<string, number>();
  const stopping = new AbortController();
  const all: Readonly<Record<string, Mischief>> = { ...MISCHIEF, ...more };
  const weights = Object.fromEntries(Object.entries(all).map(([name, { weight }]) => [name, weight]));
  const one = async () => {
    const name = random.weighted(weights);
    const mischief = all[name];
    if (!mischief) return;
    const end = mischief.of === 'calls' ? outages.begin() : () => undefined;
    try {
      const id = await rails.addFault(orderOf(random.pick(aims), random, name, mischief));
      struck.set(name, (struck.get(name) ?? 0) + 1);
      await sleep(random.whole(800, 3000), undefined, { signal: stopping.signal }).catch(() => undefined);
      // A call that hangs is let go by it, too.
      if (mischief.standing || name === 'hang calls') await takeAway(rails, id);
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

/** The simulator may be away just then, and comes back with the fault: what stays would leave a run without notices. */
async function takeAway(rails: RailControl, id: string): Promise<void> {
  for (let tries = 0; tries < 40; tries += 1) {
    try {
      return await rails.removeFault(id);
    } catch {
      await sleep(500);
    }
  }
}

function orderOf(
  { rail, calls }: Aim,
  random: Random,
  name: string,
  { of, standing, fault, ms }: Mischief,
): FaultOrder {
  return {
    rail,
    operation: of === 'notices' ? 'notice' : random.pick(calls),
    fault: fault ?? name.split(' ')[0] ?? '',
    ...(ms === undefined ? {} : { ms }),
    ...(standing ? {} : { times: random.whole(1, 4) }),
  };
}
