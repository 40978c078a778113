import { randomFraction } from '../kit/ids.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** After the previous attempt; then daily, until thirty days after the event. */
const DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  DAY,
];

/**
 * When to try again after so many attempts, with a tenth of jitter so that a backlog does not come back as one.
 * @param askedForSeconds `Retry-After` of the answer, at most a day: later than planned, never earlier
 */
export function retryDelayMs(attempts: number, askedForSeconds: number | null): number {
  const planned = DELAYS_MS[attempts - 1] ?? DAY;
  return Math.max(Math.round(planned * (1 + randomFraction() / 10)), (askedForSeconds ?? 0) * SECOND);
}
