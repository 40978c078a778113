import { z } from 'zod';
import { decimalAmount } from './decimal-amount.ts';
import { type Cents, cents } from './money.ts';
import { printable } from './printable.ts';

const schema = z.object({
  results: z.array(
    z.object({
      reference: printable(40),
      executionId: printable(100),
      amount: decimalAmount,
      at: z.iso.datetime({ offset: true }).transform((at) => new Date(at)),
    }),
  ),
  next: z.string().max(100).nullable(),
});

interface ListedPayments {
  readonly items: readonly {
    readonly reference: string;
    readonly executionId: string;
    readonly amount: Cents;
    readonly at: Date;
  }[];
  readonly next: string | null;
}

/** Parses a page of payments. @returns null when any of them cannot be read: a comparison must not skip one */
export function readListedPayments(body: unknown): ListedPayments | null {
  const read = schema.safeParse(body);
  if (!read.success) return null;
  const items = read.data.results.map(({ amount, ...payment }) => ({
    ...payment,
    amount: cents(BigInt(amount.replace('.', ''))),
  }));
  return { items, next: read.data.next };
}
