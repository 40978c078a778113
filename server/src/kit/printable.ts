import { z } from 'zod';

/** A name that a peer gives: printable, without spaces. PostgreSQL would refuse a NUL, and with it all that came along. */
export function printable(limit: number): z.ZodString {
  return z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .max(limit);
}
