import { describe, expect, it } from 'vitest';
import { parseAddress, parseNetwork, truncateAddress } from '../../src/kit/ip-network.ts';

describe('truncateAddress', () => {
  it.each([
    ['203.0.113.77', '203.0.113.0/24'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
    ['::ffff:cb00:714d', '203.0.113.0/24'],
    ['2001:db8:1:2::9', '2001:db8:1::/48'],
    ['2001:0db8:0000:2::9', '2001:db8::/48'],
    ['2001:0:5::1', '2001:0:5::/48'],
    ['::1', '::/48'],
    ['fe80::1%eth0', 'fe80::/48'],
    ['64:ff9b::203.0.113.77', '64:ff9b::/48'],
    ['unknown', null],
    ['', null],
  ])('%s is in %s', (address, network) => {
    expect(truncateAddress(address)).toBe(network);
  });
});

describe('parseNetwork', () => {
  it('reads networks and single addresses', () => {
    expect(parseNetwork('10.0.0.0/8')).toEqual({ address: '10.0.0.0', prefix: 8, family: 'ipv4' });
    expect(parseNetwork('203.0.113.9')).toEqual({ address: '203.0.113.9', prefix: 32, family: 'ipv4' });
    expect(parseNetwork('2001:db8::/32')).toEqual({ address: '2001:db8::', prefix: 32, family: 'ipv6' });
    expect(parseNetwork('0.0.0.0/0')).toEqual({ address: '0.0.0.0', prefix: 0, family: 'ipv4' });
  });

  it.each([
    '',
    '10.0.0.0/33',
    '10.0.0.1/8',
    '2001:db8::1/32',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    'a',
    'fe80::1%eth0',
    '::ffff:cb00:7105',
    '::ffff:0:0/96',
    '::ffff:203.0.113.5',
    '::ffff:203.0.0.0/16',
    '0:0:0:0:0:FFFF:203.0.113.0/120',
  ])('rejects "%s"', (text) => {
    expect(parseNetwork(text)).toBeNull();
  });
});

describe('parseAddress', () => {
  it('returns the IPv4 address of an IPv4-mapped IPv6 address', () => {
    for (const text of ['::FFFF:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:127.0.0.1'])
      expect(parseAddress(text)).toEqual({ address: '127.0.0.1', family: 'ipv4' });
    expect(parseAddress('::127.0.0.1')).toEqual({ address: '::127.0.0.1', family: 'ipv6' });
  });
});
