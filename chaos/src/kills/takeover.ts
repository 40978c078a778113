import { setTimeout as sleep } from 'node:timers/promises';
import type { Outages } from '../faults/outages.ts';
import type { Stack } from '../stack/stack.ts';

/** Another process must take over the leases of a killed process within this time. */
const TAKEOVER_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 500;

const LEASES = `
  select lease_token as token, count(*)::int as rows, min(id::text) as id from (
    select lease_token, id, leased_until from caudal.payins where lease_token is not null
    union all select lease_token, payin_id, leased_until from caudal.breb_keys where lease_token is not null
    union all select lease_token, id, leased_until from caudal.rail_notices where lease_token is not null
    union all select lease_token, id, leased_until from caudal.payouts where lease_token is not null
  ) as lease`;

/**
 * Measures how long leases outlive a kill. The owner of a lease is not visible from outside. Live processes release their
 * leases within moments, so the longest lease belongs to a dead process.
 */
export interface TakeoverWatch {
  /** Records that a process was just killed. */
  noteKill(): void;
  readonly longestMs: number;
  /** Leases that outlived the timeout, not counting outages. */
  readonly late: readonly string[];
  stop(): Promise<void>;
}

export function watchTakeovers(stack: Stack, outages: Outages): TakeoverWatch {
  const held = new Map<string, number>();
  const late: string[] = [];
  let longestMs = 0;
  let killed = false;
  const stopping = new AbortController();
  const poll = async () => {
    const now = performance.now();
    if (killed) {
      killed = false;
      const live = await stack.query<{ token: string }>(
        `${LEASES} where leased_until > clock_timestamp() group by 1`,
      );
      for (const { token } of live) if (!held.has(token)) held.set(token, now);
    }
    if (held.size === 0) return;
    const remaining = await stack.query<{ token: string; rows: number; id: string }>(
      `${LEASES} where lease_token = any($1::uuid[]) group by 1`,
      [[...held.keys()]],
    );
    const remainingByToken = new Map(remaining.map((row) => [row.token, row]));
    for (const [token, since] of held) {
      const waitedMs = now - since - outages.within(since, now);
      const row = remainingByToken.get(token);
      if (row === undefined || waitedMs > TAKEOVER_TIMEOUT_MS) held.delete(token);
      if (row === undefined) longestMs = Math.max(longestMs, now - since);
      else if (waitedMs > TAKEOVER_TIMEOUT_MS)
        late.push(`${row.rows} rows of lease ${token}, including ${row.id}`);
    }
  };
  const done = (async () => {
    while (!stopping.signal.aborted) {
      // The query fails while the database is down.
      await poll().catch(() => undefined);
      await sleep(POLL_INTERVAL_MS);
    }
  })();
  return {
    noteKill: () => {
      killed = true;
    },
    get longestMs() {
      return longestMs;
    },
    late,
    stop: async () => {
      stopping.abort();
      await done;
    },
  };
}
