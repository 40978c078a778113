import { setTimeout as sleep } from 'node:timers/promises';
import { SCRAPE_SECONDS } from './durations.ts';
import type { InjectedFault } from './fault.ts';
import type { ActiveAlert } from './prometheus.ts';
import type { World } from './world.ts';

const FIRES_WITHIN_MS = 90_000;
const ENDS_WITHIN_MS = 150_000;
const POLL_MS = 500;
const QUIET_MS = (SCRAPE_SECONDS + 2) * 1000;

export interface FaultResult {
  /** Seconds from the injection until every alert of the fault fired. */
  readonly firedAfter: number;
  /** Seconds from the end of the fault until the condition of no alert held. */
  readonly endedAfter: number;
}

/** @throws unless exactly the alerts of the fault fire, and all of them end afterwards */
export async function injectFault(world: World, fault: InjectedFault): Promise<FaultResult> {
  const { fires, mayFire = [] } = fault;
  const allowed = new Set<string>([...fires, ...mayFire]);
  const rejectOthers = (alerts: readonly ActiveAlert[]) => {
    const unexpected = alerts.filter(({ name, firing }) => firing && !allowed.has(name));
    if (unexpected.length > 0) throw new Error(`unexpected: ${describeAlerts(unexpected)}`);
  };
  await requireQuiet(world);
  let firedAfter: number;
  let endedAt: number;
  const startedAt = performance.now();
  const end = await fault.inject(world);
  try {
    const fired = new Set<string>();
    while (fires.some((name) => !fired.has(name))) {
      if (performance.now() - startedAt > FIRES_WITHIN_MS)
        throw new Error(`did not fire: ${fires.filter((name) => !fired.has(name)).join(', ')}`);
      const alerts = await world.prometheus.active();
      rejectOthers(alerts);
      for (const { name, firing } of alerts) if (firing) fired.add(name);
      await sleep(POLL_MS);
    }
    firedAfter = (performance.now() - startedAt) / 1000;
  } finally {
    await end();
    endedAt = performance.now();
  }
  const quietAt = await waitUntilQuiet(world, rejectOthers);
  return { firedAfter, endedAfter: Math.max(0, quietAt - endedAt) / 1000 };
}

/**
 * Waits until the condition of no alert holds, for longer than a scrape takes to see what happened before.
 * @returns since when
 */
export async function waitUntilQuiet(
  { prometheus }: World,
  check: (alerts: readonly ActiveAlert[]) => void = () => undefined,
): Promise<number> {
  const deadline = performance.now() + ENDS_WITHIN_MS;
  let quietSince: number | null = null;
  for (;;) {
    const alerts = await prometheus.active();
    check(alerts);
    const now = performance.now();
    quietSince = alerts.length === 0 ? (quietSince ?? now) : null;
    if (quietSince !== null && now - quietSince > QUIET_MS) return quietSince;
    if (now > deadline) throw new Error(`still active: ${describeAlerts(alerts)}`);
    await sleep(POLL_MS);
  }
}

export async function requireQuiet({ prometheus }: World): Promise<void> {
  const firing = (await prometheus.active()).filter((alert) => alert.firing);
  if (firing.length > 0) throw new Error(`fires without a fault: ${describeAlerts(firing)}`);
}

function describeAlerts(alerts: readonly ActiveAlert[]): string {
  return alerts.map(({ labels }) => JSON.stringify(labels)).join(', ');
}
