import { z } from 'zod';

/** Maximum items of a bulk call, on both rails. */
export const BULK_LIMIT = 500;

export const decimalAmount = z
  .string()
  .regex(/^\d{1,15}\.\d{2}$/, 'must be a decimal string with two decimals, such as "49800.00"');

export const currency = z.literal('COP');

export const isoTime = z.iso.datetime({ offset: true });

export function toCents(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}

export function fromCents(cents: bigint): string {
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Normalizes an http(s) base URL without trailing slash; null when invalid. */
export function baseUrl(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return null;
  return url.href.replace(/\/+$/, '');
}

export const paidAmount = decimalAmount.refine((amount) => /[1-9]/.test(amount), 'must be greater than zero');
