import type { IdRange } from '../kit/clock.ts';
import type { Pulse } from './credential.store.ts';

/** The high-water mark is raised when ids are this far beyond it: one write per 20 seconds for the whole deployment. */
const RAISED_AFTER_MS = 20_000;
/**
 * No id is generated further beyond the high-water mark. Less than the minute that lists and the event stream look back.
 */
const LIMIT_MS = 40_000;
/** Same value as in `caudal.advance_id_clock`: processes read the time at different moments. */
const TOLERANCE_MS = 10_000;

type IdTimes = Pick<Pulse, 'nowMs' | 'idsMs' | 'highMs'>;

/** The high-water mark must be raised, or the database clock stepped back and this is not recorded yet. */
export function isIdClockBehind({ idsMs, highMs }: IdTimes): boolean {
  return idsMs > highMs + RAISED_AFTER_MS || idsMs < highMs - TOLERANCE_MS;
}

export function toIdRange({ nowMs, idsMs, highMs }: IdTimes): IdRange {
  return { leadMs: Math.max(0, idsMs - nowMs), floorMs: highMs, limitMs: highMs + LIMIT_MS };
}
