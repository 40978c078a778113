declare const centsBrand: unique symbol;

/** Money inside Caudal: whole cents of a Colombian peso. Never a float; converted only at the API and rail boundaries. */
export type Cents = bigint & { readonly [centsBrand]: true };

/** The maximum a QR code can carry (13 characters with two decimals), and therefore the maximum amount everywhere. */
export const MAX_AMOUNT_IN_CENTS = 999_999_999_999;

export function cents(value: bigint | number): Cents {
  const amount = BigInt(value);
  if (amount < 0n) throw new RangeError('amount of money must not be negative');
  return amount as Cents;
}

/** `amount` of the API: pesos with at most two decimals. Exact up to the maximum amount. */
export function pesos(amount: bigint): number {
  return Number(amount) / 100;
}

/** Decimal format of the rails: `49800.00`. */
export function decimalPesos(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(3, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
