/**
 * The simulator's clock. Tests shift it together with the server's clock to test long expiries in seconds.
 * Delays (the `slow` fault) use real time.
 */
export type Clock = { shiftMs: number };

export function nowMs(clock: Clock): number {
  return Date.now() + clock.shiftMs;
}

export function nowIso(clock: Clock): string {
  return new Date(nowMs(clock)).toISOString();
}
