import type { Random } from '../../../chaos/src/run/random.ts';

/** Other ways to write a value in a URL. A server that reads one of them must treat it as the value itself. */
export const SPELLINGS: readonly ((value: string) => string)[] = [
  (value) => encodeURIComponent(value),
  (value) => encodeURIComponent(value.toUpperCase()),
  (value) => encodeURIComponent(value.replace(/[a-z]/, (letter) => letter.toUpperCase())),
  (value) => encodeURIComponent(value.replaceAll('-', '')),
  (value) => encodeURIComponent(`{${value}}`),
  (value) => encodeURIComponent(`urn:uuid:${value}`),
  (value) => [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  (value) => encodeURIComponent(encodeURIComponent(value)),
  (value) => `${encodeURIComponent(value)}%20`,
  (value) => `%20${encodeURIComponent(value)}`,
  (value) => `${encodeURIComponent(value)}%00`,
  (value) => `${encodeURIComponent(value)}%0a`,
  (value) => `${encodeURIComponent(value)}.json`,
  (value) => `${encodeURIComponent(value)};x=1`,
  (value) =>
    encodeURIComponent(value.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))),
  (value) => `${encodeURIComponent(value)}%2f`,
  (value) => `..%2f${encodeURIComponent(value)}`,
  (value) => encodeURIComponent(`'${value}'`),
];

export function spell(random: Random, value: string): string {
  const spelling = SPELLINGS[random.integer(0, SPELLINGS.length - 1)] ?? encodeURIComponent;
  return spelling(toWellFormed(value));
}

/** `encodeURIComponent` throws for a lone surrogate. */
export function encode(value: string): string {
  return encodeURIComponent(toWellFormed(value));
}

function toWellFormed(value: string): string {
  return value.isWellFormed() ? value : value.toWellFormed();
}
