import { z } from 'zod';
import { AUTHOR_RULE, isAuthor } from '../kit/author.ts';
import { integer, yesOrNo } from './setting-types.ts';

/** Settings of workers, operators and tests. */
export const WORKER_SETTINGS = {
  CAUDAL_WEBHOOKS_ALLOW_LOOPBACK: yesOrNo(
    'no',
    'Whether webhooks may be sent to loopback addresses, also over plain HTTP. For development and staging; rejected in production.',
  ),
  CAUDAL_WORKER_POLL_MS: integer(
    10,
    10_000,
    'Poll interval of a worker that has work. An idle worker polls one fifth as often; signals from other processes wake it earlier.',
  ).default(200),
  CAUDAL_WORK_NOTIFICATIONS: yesOrNo(
    'yes',
    'Whether API processes wake workers with NOTIFY, over a dedicated connection. With `no`, workers find new work by polling.',
  ),
  CAUDAL_LEGAL_RETENTION_YEARS: integer(
    1,
    100,
    'Years for which the personal data of a payment that moved money is kept, although its person asks for its erasure. Workers erase older data. The default is the period for accounting records in Colombia (Ley 962 of 2005, article 28). The same value in all processes.',
  ).default(10),
  CAUDAL_BY: z
    .string()
    .refine(isAuthor, AUTHOR_RULE)
    .optional()
    .describe(
      'Author of operator commands that run without `--by`. Set it in the shell of one person or in a deploy job, never in a file that several people share: the audit log would record the wrong author.',
    ),
  CAUDAL_FAILPOINT: z
    .string()
    .regex(/^[A-Za-z_: ]{1,80}(?:#\d{1,6})?$/)
    .optional()
    .describe(
      'For tests: the process kills itself at this failpoint, as with kill -9. `caudal failpoints list` lists the names.',
    ),
} as const;
