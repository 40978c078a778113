import { z } from 'zod';
import { timestamp } from '../fields.ts';

type Words = readonly [string, ...string[]];

/** What a rail said of a payin or payout that its state could not take up: which kinds there are, and how they end. */
export function anomalySchema(about: {
  readonly kinds: Words;
  readonly kind: string;
  readonly amount: string;
  readonly statuses: Words;
  readonly status: string;
  readonly resolutions: Words;
  readonly resolution: string;
}) {
  return z.strictObject({
    id: z.uuid(),
    kind: z.enum(about.kinds).describe(about.kind),
    amount: z.number().nullable().describe(about.amount),
    amountInCents: z.int().nullable(),
    status: z.enum(about.statuses).describe(about.status),
    noticedAt: timestamp,
    resolvedAt: timestamp.nullable(),
    resolution: z.enum(about.resolutions).nullable().describe(about.resolution),
  });
}
