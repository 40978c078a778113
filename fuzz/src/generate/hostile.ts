import type { Random } from '../../../chaos/src/run/random.ts';
import { oneOf } from '../tenants/ring.ts';

/** Found in an HTML page, it was not escaped. */
export const INJECTED_TAG = '<script>fuzzed';

const HOSTILE_TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '\u202egnirts',
  '\u2066x\u2069\u200b\ufeff',
  'Z\u0351\u036b\u0343',
  '😀'.repeat(40),
  'ﷺ'.repeat(60),
  `${INJECTED_TAG}</script>`,
  '"><img src=x onerror=alert(1)>',
  "'; drop table payins; --",
  "' or '1'='1",
  '${7*7}{{7*7}}<%= 7*7 %>',
  '../../../../etc/passwd',
  '..%2f..%2f',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'true',
  '0',
  '-1',
  '1e400',
  'NaN',
  '0x10',
  '９９',
  '+573001234567',
  'javascript:alert(1)',
  'http://169.254.169.254/latest/meta-data/',
  'https://user:pass@127.0.0.1:1/\r\nx: y',
  'http://[::1]:22/',
  '2026-02-30T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999+23:59',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'A'.repeat(256),
  'A'.repeat(5000),
  '%s%n%x',
  '\r\nset-cookie: x=1',
  '%00',
  '%',
  '\\',
  '"',
] as const;

const HOSTILE_NUMBERS = [
  0,
  -0,
  -1,
  1,
  0.1,
  1.5,
  1e21,
  1e308,
  5e-324,
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 63,
  -(2 ** 53),
  999_999_999_999,
  1_000_000_000_000,
] as const;

export function hostileText(random: Random): string {
  return oneOf(random, HOSTILE_TEXTS);
}

/** A value of any type. */
export function hostileValue(random: Random): unknown {
  const kind = random.integer(0, 9);
  if (kind < 4) return hostileText(random);
  if (kind < 6) return oneOf(random, HOSTILE_NUMBERS);
  if (kind === 6) return random.pick([null, true, false, [], {}]);
  if (kind === 7) return [hostileText(random), { a: oneOf(random, HOSTILE_NUMBERS) }];
  if (kind === 8) return nested(random.integer(2, 60));
  return JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}}}') as unknown;
}

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level += 1) value = level % 2 ? [value] : { v: value };
  return value;
}

const BODY_LIMIT = 64 * 1024;

/** Changes the text of a JSON document so that a parser, not a validator, has to deal with it. */
export function corruptJson(random: Random, text: string): Buffer {
  switch (random.integer(0, 15)) {
    case 0:
      return Buffer.from(text.slice(0, random.integer(0, text.length)));
    case 1:
      return Buffer.from(`\ufeff${text}`);
    case 2:
      return Buffer.from(text, 'utf16le');
    case 3:
      return Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff, 0xfe, 0xc0, 0x80])]);
    case 4:
      return Buffer.from(text.replace('{', '{"amountInCents":1,"reference":"x","__proto__":{"a":1},'));
    case 5:
      return Buffer.from(text.replace(/"([^"]*)":/, '"$1":null,"$1":'));
    case 6:
      return Buffer.from('['.repeat(random.integer(1, 30_000)));
    case 7:
      return Buffer.from(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`);
    case 8:
      return Buffer.from(text.replace(/:(\d+)/, ':1e999'));
    case 9:
      return Buffer.from(text.replace(/:(\d+)/, ':-0.0000000000000000000000000001'));
    case 10:
      return Buffer.from(text.replace(/"([^"]*)"}/, '"\\ud800$1\\u0000"}'));
    case 11:
      return padded(text, BODY_LIMIT + random.integer(-1, 1));
    case 12:
      return Buffer.from(`{${manyMembers(random.integer(10, 3000))}}`);
    case 13:
      return Buffer.from(
        random.pick(['', 'null', '[]', '"x"', '1', 'NaN', '{}', '{,}', "{'a':1}", 'undefined']),
      );
    case 14:
      return Buffer.from(`${text}${text}`);
    default:
      return Buffer.alloc(random.integer(1, 200), random.integer(0, 255));
  }
}

/** White space brings the document to an exact size. */
function padded(text: string, size: number): Buffer {
  return Buffer.from(text + ' '.repeat(Math.max(0, size - Buffer.byteLength(text))));
}

function manyMembers(count: number): string {
  return Array.from({ length: count }, (_, index) => `"f${index}":${index}`).join(',');
}
