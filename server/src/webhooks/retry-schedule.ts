import { randomFraction } from '../kit/ids.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Delay after each failed attempt; then daily, until thirty days after the event. */
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
 * Delay before the next attempt, with up to 10% jitter so that a backlog does not retry at once.
 * @param retryAfterSeconds `Retry-After` of the response, at most a day: it can delay the attempt, never advance it
 */
export function retryDelayMs(attempts: number, retryAfterSeconds: number | null): number {
  const planned = DELAYS_MS[attempts - 1] ?? DAY;
  return Math.max(Math.round(planned * (1 + randomFraction() / 10)), (retryAfterSeconds ?? 0) * SECOND);
}
