import { type Duration, type Durations, toSeconds } from '../durations.ts';

/** Interval of scrapes here; longer than the two seconds that a scrape waits for a frozen database. */
export const SCRAPE_SECONDS = 3;

/** Ranges of rates: at least five scrapes. */
const WINDOWS: Partial<Record<Duration, string>> = {
  '1m': '7s',
  '5m': '15s',
  '30m': '20s',
  '1h': '20s',
  '6h': '30s',
  '1d': '10m',
};

/** The rules as they run here: the same expressions, with shorter durations. */
export const SHORT: Durations = {
  window: (range) => {
    const shorter = WINDOWS[range];
    if (shorter === undefined) throw new Error(`no shorter window for ${range}`);
    return shorter;
  },
  // A minute becomes a second; hours and days become six.
  hold: (duration) => `${Math.min(6, Math.ceil(toSeconds(duration) / 60))}s`,
  age: (duration) => String(toSeconds(duration) / 10),
};
