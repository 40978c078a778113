declare const centsBrand: unique symbol;

/** Money inside Caudal: whole cents of a peso. Never a float; converted at the wire's and the rail's door only. */
export type Cents = bigint & { readonly [centsBrand]: true };

/** The most a QR code can carry (13 characters with two decimals), so the most we accept anywhere. */
export const MAX_AMOUNT_IN_CENTS = 999_999_999_999;

export function cents(value: bigint | number): Cents {
  const amount = BigInt(value);
  if (amount < 0n) throw new RangeError('an amount of money is not negative');
  return amount as Cents;
}

/** `amount` of the interface: pesos with at most two decimals. Exact up to the largest amount we accept. */
export function pesos(amount: bigint): number {
  return Number(amount) / 100;
}

/** The form rails take: `49800.00`. */
export function decimalPesos(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(3, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
