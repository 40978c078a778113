import type { IdRange } from '../kit/clock.ts';
import type { Pulse } from './credential.store.ts';

/** The high-water mark is raised when ids are this far beyond it: one write in twenty seconds for a whole deployment. */
const RAISED_AFTER_MS = 20_000;
/** No id is stamped further beyond the high-water mark. Less than a minute, by which lists and the event stream look back. */
const LIMIT_MS = 40_000;
/** As in `caudal.keep_id_clock`: processes hear the time at different moments. */
const TOLERANCE_MS = 10_000;

type IdTimes = Pick<Pulse, 'nowMs' | 'idsMs' | 'highMs'>;

/** The high-water mark must be raised, or the database's clock went back and that is not recorded yet. */
export function isIdClockBehind({ idsMs, highMs }: IdTimes): boolean {
  return idsMs > highMs + RAISED_AFTER_MS || idsMs < highMs - TOLERANCE_MS;
}

export function idRangeOf({ nowMs, idsMs, highMs }: IdTimes): IdRange {
  return { leadMs: Math.max(0, idsMs - nowMs), floorMs: highMs, limitMs: highMs + LIMIT_MS };
}
