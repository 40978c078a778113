import { expect, it } from 'vitest';
import { addressFormatter } from '../../src/kit/address-log.ts';
import { keyFromSecret } from '../../src/kit/crypto.ts';

const KEY = keyFromSecret('a');
const ADDRESS = '::ffff:203.0.113.77';

it('writes the plain address or its network', () => {
  expect(addressFormatter('plain', KEY)(ADDRESS)).toBe('203.0.113.77');
  expect(addressFormatter('truncated', KEY)(ADDRESS)).toBe('203.0.113.0/24');
});

it('writes a hash that is equal for equal addresses and depends on the key', () => {
  const format = addressFormatter('hashed', KEY);
  expect(format(ADDRESS)).toMatch(/^[0-9a-f]{16}$/);
  expect(format('203.0.113.77')).toBe(format(ADDRESS));
  expect(format('203.0.113.78')).not.toBe(format(ADDRESS));
  expect(addressFormatter('hashed', keyFromSecret('b'))(ADDRESS)).not.toBe(format(ADDRESS));
});

it.each(['plain', 'truncated', 'hashed'] as const)('writes null for no IP address (%s)', (logging) => {
  expect(addressFormatter(logging, KEY)('unknown')).toBeNull();
});
