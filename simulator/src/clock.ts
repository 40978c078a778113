/**
 * The simulator's own time. A test shifts it together with the server's, so that an hour's expiry is tested
 * in seconds; waits (the `slow` fault) stay in real time.
 */
export type Clock = { shiftMs: number };

export function nowMs(clock: Clock): number {
  return Date.now() + clock.shiftMs;
}

export function nowIso(clock: Clock): string {
  return new Date(nowMs(clock)).toISOString();
}
