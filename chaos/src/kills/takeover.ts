import { setTimeout as sleep } from 'node:timers/promises';
import type { Outages } from './outages.ts';
import type { Stage } from './stage.ts';

/** Within this, another process goes on with what a killed one held. */
const TAKEN_OVER_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 500;

const CLAIMS = `
  select lease_token as token, count(*)::int as rows, min(id::text) as id from (
    select lease_token, id, leased_until from caudal.payins where lease_token is not null
    union all select lease_token, payin_id, leased_until from caudal.breb_keys where lease_token is not null
    union all select lease_token, id, leased_until from caudal.rail_notices where lease_token is not null
    union all select lease_token, id, leased_until from caudal.payouts where lease_token is not null
  ) as claim`;

/**
 * Measures how long claims outlive a kill. Whose a claim was nobody can see from outside; those of the living end within
 * moments, so the longest is a dead one's.
 */
export interface TakeoverWatch {
  /** A process was killed just now. */
  noteKill(): void;
  readonly longestMs: number;
  /** Claims that stood longer than they may, outages not counted. */
  readonly late: readonly string[];
  stop(): Promise<void>;
}

export function watchTakeovers(stage: Stage, outages: Outages): TakeoverWatch {
  const held = new Map<string, number>();
  const late: string[] = [];
  let longestMs = 0;
  let killed = false;
  const stopping = new AbortController();
  const look = async () => {
    const now = performance.now();
    if (killed) {
      killed = false;
      const live = await stage.query<{ token: string }>(
        `${CLAIMS} where leased_until > clock_timestamp() group by 1`,
      );
      for (const { token } of live) if (!held.has(token)) held.set(token, now);
    }
    if (held.size === 0) return;
    const still = await stage.query<{ token: string; rows: number; id: string }>(
      `${CLAIMS} where lease_token = any($1::uuid[]) group by 1`,
      [[...held.keys()]],
    );
    const standing = new Map(still.map((row) => [row.token, row]));
    for (const [token, since] of held) {
      const owed = now - since - outages.within(since, now);
      const row = standing.get(token);
      if (row === undefined || owed > TAKEN_OVER_WITHIN_MS) held.delete(token);
      if (row === undefined) longestMs = Math.max(longestMs, now - since);
      else if (owed > TAKEN_OVER_WITHIN_MS)
        late.push(`${row.rows} rows of claim ${token}, ${row.id} among them`);
    }
  };
  const done = (async () => {
    while (!stopping.signal.aborted) {
      // While the database is away there is nothing to see.
      await look().catch(() => undefined);
      await sleep(LOOK_EVERY_MS);
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
