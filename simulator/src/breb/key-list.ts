import { z } from 'zod';
import { BULK_LIMIT } from '../wire.ts';

/** Body of the bulk calls that carry only keys. */
export const keyListBody = z.object({
  keys: z.array(z.string().min(1).max(100)).min(1).max(BULK_LIMIT),
});

export type KeyList = z.infer<typeof keyListBody>;
