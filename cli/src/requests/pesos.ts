import { UsageError } from '../framework/errors.ts';

const MAX_CENTS = 999_999_999_999n;

const PLAIN = /^(\d+)(?:[.,](\d{1,2}))?$/;
/** Three digits after a separator are thousands, as in Colombia: pesos have two decimals. */
const GROUPED_BY_POINT = /^([1-9]\d{0,2}(?:\.\d{3})+)(?:,(\d{1,2}))?$/;
const GROUPED_BY_COMMA = /^([1-9]\d{0,2}(?:,\d{3})+)(?:\.(\d{1,2}))?$/;

/** Parses pesos (49800, 49.800, 49,800.50 or $49.800,5) to cents, without floating-point arithmetic. */
export function parsePesos(text: string): number {
  const bare = text.trim().replace(/^(?:COP|\$)\s*/i, '');
  const match = PLAIN.exec(bare) ?? GROUPED_BY_POINT.exec(bare) ?? GROUPED_BY_COMMA.exec(bare);
  if (!match) {
    throw new UsageError(`"${text}" is not an amount in pesos`, [
      'Write 49800, 49.800, 49,800 or, with cents, 49800.50.',
    ]);
  }
  const [, pesos = '', decimals = ''] = match;
  return checkRange(BigInt(pesos.replaceAll(/[.,]/g, '') + decimals.padEnd(2, '0')), text);
}

export function parseCents(text: string): number {
  if (!/^\d+$/.test(text)) throw new UsageError(`"${text}" is not a whole number of cents`);
  return checkRange(BigInt(text), text);
}

function checkRange(cents: bigint, text: string): number {
  if (cents < 1n) throw new UsageError(`"${text}" is too small: the minimum is one cent`);
  if (cents > MAX_CENTS)
    throw new UsageError(`"${text}" is too large: the maximum is COP ${formatCents(Number(MAX_CENTS))}`);
  return Number(cents);
}

/** 4980000 becomes 49,800; cents are shown only when not zero. */
export function formatCents(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  const pesos = digits.slice(0, -2).replaceAll(/\B(?=(\d{3})+$)/g, ',');
  const decimals = digits.slice(-2);
  return `${cents < 0 ? '-' : ''}${pesos}${decimals === '00' ? '' : `.${decimals}`}`;
}

/** 4980000 becomes 49800.00, the format of the simulator's control API. */
export function formatDecimal(cents: number): string {
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
