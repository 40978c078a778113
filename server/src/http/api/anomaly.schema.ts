import { z } from 'zod';
import { timestamp } from '../fields.ts';

type EnumValues = readonly [string, ...string[]];

/** Schema of an anomaly: a report from a rail that does not fit the status of the payin or payout. */
export function anomalySchema(about: {
  readonly kinds: EnumValues;
  readonly kind: string;
  readonly amount: string;
  readonly statuses: EnumValues;
  readonly status: string;
  readonly resolutions: EnumValues;
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
