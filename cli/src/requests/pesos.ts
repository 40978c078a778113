import { UsageError } from './errors.ts';

const MOST_CENTS = 999_999_999_999n;

const PLAIN = /^(\d+)(?:[.,](\d{1,2}))?$/;
/** Three digits after a mark are thousands, as in Colombia; pesos have no third decimal. */
const GROUPED_BY_POINT = /^([1-9]\d{0,2}(?:\.\d{3})+)(?:,(\d{1,2}))?$/;
const GROUPED_BY_COMMA = /^([1-9]\d{0,2}(?:,\d{3})+)(?:\.(\d{1,2}))?$/;

/** Pesos as people write them, 49800, 49.800, 49,800.50 or $49.800,5, in cents. No float touches them. */
export function readPesos(text: string): number {
  const bare = text.trim().replace(/^(?:COP|\$)\s*/i, '');
  const match = PLAIN.exec(bare) ?? GROUPED_BY_POINT.exec(bare) ?? GROUPED_BY_COMMA.exec(bare);
  if (!match) {
    throw new UsageError(`"${text}" is no amount of pesos`, [
      'Write 49800, 49.800, 49,800 or, with cents, 49800.50.',
    ]);
  }
  const [, pesos = '', decimals = ''] = match;
  return inRange(BigInt(pesos.replaceAll(/[.,]/g, '') + decimals.padEnd(2, '0')), text);
}

export function readCents(text: string): number {
  if (!/^\d+$/.test(text)) throw new UsageError(`"${text}" is no whole number of cents`);
  return inRange(BigInt(text), text);
}

function inRange(cents: bigint, text: string): number {
  if (cents < 1n) throw new UsageError(`"${text}" is too little: the least is one cent`);
  if (cents > MOST_CENTS)
    throw new UsageError(`"${text}" is too much: the most is COP ${showCents(Number(MOST_CENTS))}`);
  return Number(cents);
}

/** 4980000 is 49,800; cents are shown where there are any. */
export function showCents(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  const pesos = digits.slice(0, -2).replaceAll(/\B(?=(\d{3})+$)/g, ',');
  const decimals = digits.slice(-2);
  return `${cents < 0 ? '-' : ''}${pesos}${decimals === '00' ? '' : `.${decimals}`}`;
}

/** As the simulator's control interface writes it. */
export function centsAsDecimal(cents: number): string {
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
