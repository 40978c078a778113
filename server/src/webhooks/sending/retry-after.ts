import { realSeconds } from '../../kit/clock.ts';

const DAY_SECONDS = 86_400;

/** The only date format HTTP allows senders to generate; `Date.parse` alone accepts almost anything. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Parses `Retry-After`, capped at one day; null when it is missing or invalid.
 * @param date the response's `Date` header: comparing two times of the same clock cancels its error
 */
export function retryAfterSeconds(value: string | undefined, date: string | undefined): number | null {
  if (value === undefined) return null;
  if (/^\d+$/.test(value)) return Math.min(Number(value), DAY_SECONDS);
  const until = httpDateSeconds(value);
  if (until === null) return null;
  const from = httpDateSeconds(date ?? '') ?? realSeconds();
  return Math.min(Math.max(Math.ceil(until - from), 0), DAY_SECONDS);
}

function httpDateSeconds(text: string): number | null {
  const ms = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? null : ms / 1000;
}
