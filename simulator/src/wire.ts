import { z } from 'zod';

/** What both rails write alike. */
export const BULK_LIMIT = 500;

export const decimalAmount = z
  .string()
  .regex(/^\d{1,15}\.\d{2}$/, 'must be a decimal string with two decimals, such as "49800.00"');

export const currency = z.literal('COP');

export const isoTime = z.iso.datetime({ offset: true });

export function toCents(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}
