import { integer } from './setting-types.ts';

/** Limits that apply to every organization. */
export const LIMIT_SETTINGS = {
  CAUDAL_WRITES_PER_SECOND: integer(
    0,
    1_000_000,
    'Write requests per second per organization, enforced per API process. Bursts of up to five seconds of the limit are allowed. 0: no limit. `caudal org limits` overrides it for one organization.',
  ).default(100),
  CAUDAL_READS_PER_SECOND: integer(
    0,
    1_000_000,
    'Read requests per second per organization, enforced like CAUDAL_WRITES_PER_SECOND.',
  ).default(200),
  CAUDAL_MAX_CONCURRENT_REQUESTS: integer(
    1,
    10_000,
    'Maximum concurrent merchant requests per API process, separately for writes and reads; further requests get 503. The process lowers the limit automatically when requests are slow.',
  ).default(256),
  CAUDAL_SETTLEMENT_DELAY_MINUTES: integer(
    0,
    43_200,
    'Delay between the confirmation of a payin and the availability of its money.',
  ).default(0),
} as const;
