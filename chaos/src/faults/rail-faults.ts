import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../run/random.ts';
import type { FaultOrder, RailControl } from '../stack/rail-control.ts';
import type { Outages } from './outages.ts';

/** A `persistent` fault is removed after some seconds; the others apply to a few calls and expire. */
interface FaultKind {
  readonly weight: number;
  readonly on: 'calls' | 'notices';
  readonly persistent?: true;
  /** The simulator's name of the fault, if it differs. */
  readonly fault?: string;
  readonly ms?: number;
}

const FAULT_KINDS: Readonly<Record<string, FaultKind>> = {
  'slow calls': { weight: 10, on: 'calls', ms: 1500 },
  'hang calls': { weight: 6, on: 'calls' },
  'reset calls': { weight: 10, on: 'calls' },
  'lost-answer calls': { weight: 12, on: 'calls' },
  'down calls': { weight: 8, on: 'calls', persistent: true },
  'rate-limited calls': { weight: 8, on: 'calls' },
  'duplicate notices': { weight: 10, on: 'notices' },
  'reorder notices': { weight: 8, on: 'notices' },
  'wrong-amount notices': { weight: 8, on: 'notices' },
  'unknown-id notices': { weight: 6, on: 'notices' },
  'bad-signature notices': { weight: 6, on: 'notices' },
  'lost-notice notices': { weight: 6, on: 'notices' },
  'slow notices': { weight: 4, on: 'notices', ms: 1500 },
  'reset notices': { weight: 4, on: 'notices' },
  // All notices are held back and then sent at once, as after an outage.
  'down notices': { weight: 6, on: 'notices', persistent: true },
};

/** The rail calls that faults target, and additional kinds of faults. */
interface FaultPlan {
  readonly targets: readonly [Target, ...Target[]];
  readonly extra: Readonly<Record<string, FaultKind>>;
}
interface Target {
  readonly rail: 'BRE_B' | 'PSE';
  readonly calls: readonly [string, ...string[]];
}

export const EVERY_CALL: FaultPlan = {
  targets: [
    { rail: 'BRE_B', calls: ['*', 'register', 'close', 'query', 'order', 'order-query'] },
    { rail: 'PSE', calls: ['*', 'create', 'query'] },
  ],
  extra: {},
};

export const PAYOUT_CALLS: FaultPlan = {
  targets: [{ rail: 'BRE_B', calls: ['*', 'order', 'order', 'order-query', 'order-query', 'resolve'] }],
  // Longer than the caller's timeout: the rail executes the call after the caller gave up, polled and resent it.
  extra: { 'late calls': { weight: 14, on: 'calls', fault: 'slow', ms: 7000 } },
};

export interface Faults {
  readonly injected: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Injects random rail faults one after another. Call faults are recorded as outages, since work may wait for them. */
export function startFaults(
  rails: RailControl,
  random: Random,
  outages: Outages,
  { targets, extra }: FaultPlan,
): Faults {
  const injected = new Map<string, number>();
  const stopping = new AbortController();
  const all: Readonly<Record<string, FaultKind>> = { ...FAULT_KINDS, ...extra };
  const weights = Object.fromEntries(Object.entries(all).map(([name, { weight }]) => [name, weight]));
  const injectOne = async () => {
    const name = random.weighted(weights);
    const kind = all[name];
    if (!kind) return;
    const endOutage = kind.on === 'calls' ? outages.start() : () => undefined;
    try {
      const id = await rails.addFault(toFaultOrder(random.pick(targets), random, name, kind));
      injected.set(name, (injected.get(name) ?? 0) + 1);
      await sleep(random.integer(800, 3000), undefined, { signal: stopping.signal }).catch(() => undefined);
      // Removing the fault also releases a hanging call.
      if (kind.persistent || name === 'hang calls') await removeWithRetry(rails, id);
    } finally {
      endOutage();
    }
  };
  const done = (async () => {
    while (!stopping.signal.aborted) {
      // The simulator may be down; remaining faults are cleared at the end.
      await injectOne().catch(() => undefined);
      await sleep(random.integer(100, 1200));
    }
  })();
  return {
    injected,
    stop: async () => {
      stopping.abort();
      await done;
    },
  };
}

/** Retries because the simulator may be down and restores its faults on restart; a leftover fault would block all notices. */
async function removeWithRetry(rails: RailControl, id: string): Promise<void> {
  for (let tries = 0; tries < 40; tries += 1) {
    try {
      return await rails.removeFault(id);
    } catch {
      await sleep(500);
    }
  }
}

function toFaultOrder(
  { rail, calls }: Target,
  random: Random,
  name: string,
  { on, persistent, fault, ms }: FaultKind,
): FaultOrder {
  return {
    rail,
    operation: on === 'notices' ? 'notice' : random.pick(calls),
    fault: fault ?? name.split(' ')[0] ?? '',
    ...(ms === undefined ? {} : { ms }),
    ...(persistent ? {} : { times: random.integer(1, 4) }),
  };
}
