import { z } from 'zod';

/** Schema of identifiers from peers: printable ASCII without spaces. PostgreSQL rejects NUL, which would fail the whole batch. */
export function printable(limit: number): z.ZodString {
  return z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .max(limit);
}
