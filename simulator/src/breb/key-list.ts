import { z } from 'zod';
import { BULK_LIMIT } from '../wire.ts';

/** The body of the bulk calls that name keys and nothing else. */
export const keyListBody = z.object({
  keys: z.array(z.string().min(1).max(100)).min(1).max(BULK_LIMIT),
});

export type KeyList = z.infer<typeof keyListBody>;
