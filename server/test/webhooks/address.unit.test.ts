import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { ENVIRONMENTS, type Environment } from '../../src/kit/environment.ts';
import { isLoopbackAddress, isPublicAddress } from '../../src/webhooks/sending/public-address.ts';
import { validateWebhookUrl } from '../../src/webhooks/webhook-address.ts';
import { NON_PUBLIC_DNS_ANSWERS, NON_PUBLIC_URLS } from './non-public-addresses.ts';

/** First and last address of each range in the registries, independent of the table under test. */
const NON_PUBLIC_IPV4 = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['168.63.129.16', '168.63.129.16'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
].map(([first = '', last = '']) => [ipv4ToNumber(first), ipv4ToNumber(last)] as const);

/** Within 2000::/3; no address outside of it is public. */
const NON_PUBLIC_IPV6 = [
  ['20010000', '200101ff'],
  ['20010db8', '20010db8'],
  ['20020000', '2002ffff'],
  ['3fff0000', '3fff0fff'],
].map(
  ([first = '', last = '']) =>
    [BigInt(`0x${first}`) << 96n, ((BigInt(`0x${last}`) + 1n) << 96n) - 1n] as const,
);
const GLOBAL = [0x2n << 124n, (0x4n << 124n) - 1n] as const;

function readWebhookUrl(text: string, environment: Environment, allowLoopback: boolean): string | null {
  return validateWebhookUrl(text, environment, allowLoopback).href;
}

function ipv4ToNumber(address: string): number {
  return address.split('.').reduce((value, byte) => value * 256 + Number(byte), 0);
}

function numberToIpv4(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

function numberToIpv6(value: bigint): string {
  const digits = value.toString(16).padStart(32, '0');
  return (digits.match(/.{4}/g) ?? []).join(':');
}

/** As a resolver writes it: with zeros compressed. */
function compress(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

function isatap(value: bigint): boolean {
  return /^0[02]005efe$/.test(((value >> 32n) & 0xffff_ffffn).toString(16).padStart(8, '0'));
}

describe('a non-public address', () => {
  it('is listed here in at least 250 distinct forms', () => {
    const forms = [...NON_PUBLIC_URLS, ...NON_PUBLIC_DNS_ANSWERS];
    expect(forms.length).toBeGreaterThan(250);
    expect(new Set(forms.map((form) => form.text)).size).toBe(forms.length);
    expect(new Set(NON_PUBLIC_URLS.map((form) => form.name)).size).toBe(NON_PUBLIC_URLS.length);
    expect(new Set(NON_PUBLIC_DNS_ANSWERS.map((form) => form.name)).size).toBe(NON_PUBLIC_DNS_ANSWERS.length);
    // A form that the URL parser itself rejects proves nothing about our check; there are few of them.
    expect(NON_PUBLIC_URLS.filter((form) => URL.canParse(form.text)).length).toBeGreaterThan(600);
  });

  it.each(NON_PUBLIC_URLS)('is rejected as a webhook URL: $name', ({ text }) => {
    const plain = text.replace(/^https/i, 'http');
    for (const environment of ENVIRONMENTS) {
      expect(readWebhookUrl(text, environment, false)).toBeNull();
      expect(readWebhookUrl(plain, environment, false)).toBeNull();
    }
    expect(readWebhookUrl(text, 'production', true)).toBeNull();
    expect(readWebhookUrl(plain, 'production', true)).toBeNull();
  });

  it.each(NON_PUBLIC_DNS_ANSWERS)('is rejected as a DNS answer: $name', ({ text }) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  it.each(NON_PUBLIC_IPV4)('is rejected in its whole range, from number %i to %i', (first, last) => {
    fc.assert(
      fc.property(fc.integer({ min: first, max: last }), (value) => {
        expect(isPublicAddress(numberToIpv4(value))).toBe(false);
        expect(readWebhookUrl(`https://${numberToIpv4(value)}/`, 'production', false)).toBeNull();
        expect(readWebhookUrl(`https://${value}/`, 'production', false)).toBeNull();
        expect(isPublicAddress(`::ffff:${numberToIpv4(value)}`)).toBe(false);
      }),
      { examples: [[first], [last]] },
    );
  });

  it.each(NON_PUBLIC_IPV6)('is rejected in its whole range, from number %i to %i', (first, last) => {
    fc.assert(
      fc.property(fc.bigInt({ min: first, max: last }), (value) => {
        expect(isPublicAddress(numberToIpv6(value))).toBe(false);
        expect(isPublicAddress(compress(numberToIpv6(value)))).toBe(false);
        expect(readWebhookUrl(`https://[${numberToIpv6(value)}]/`, 'production', false)).toBeNull();
      }),
      { examples: [[first], [last]] },
    );
  });

  it('is every IPv6 address outside of 2000::/3', () => {
    const below = fc.bigInt({ min: 0n, max: GLOBAL[0] - 1n });
    const above = fc.bigInt({ min: GLOBAL[1] + 1n, max: 2n ** 128n - 1n });
    fc.assert(
      fc.property(fc.oneof(below, above), (value) => {
        expect(isPublicAddress(numberToIpv6(value))).toBe(false);
        expect(isPublicAddress(compress(numberToIpv6(value)))).toBe(false);
      }),
      { examples: [[GLOBAL[0] - 1n], [GLOBAL[1] + 1n], [0n], [1n]] },
    );
  });

  it('is any text that is not an address', () => {
    for (const text of [
      '',
      'example.com',
      '8.8.8',
      '08.8.8.8',
      '0x8.8.8.8',
      '134744072',
      ' 8.8.8.8',
      '8.8.8.8\n',
    ])
      expect(isPublicAddress(text)).toBe(false);
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(isPublicAddress(text)).toBe(false);
      }),
    );
  });
});

describe('a public address', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '190.144.0.1',
    '192.31.196.1',
    '192.52.193.1',
    '192.175.48.1',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2606:4700:4700::1111',
    '2620:4f:8000::1',
    '2800:3f0:4005::200e',
    '2a00:1450:4001:800::200e',
  ])('%s is accepted, also in a URL', (address) => {
    const host = address.includes(':') ? `[${address}]` : address;
    expect(isPublicAddress(address)).toBe(true);
    expect(readWebhookUrl(`https://${host}/hook`, 'production', false)).toBe(`https://${host}/hook`);
  });

  it('is every IPv4 address outside of the ranges, including their neighbors', () => {
    const isNonPublic = (value: number) =>
      NON_PUBLIC_IPV4.some(([first, last]) => value >= first && value <= last);
    const neighbors = NON_PUBLIC_IPV4.flatMap(([first, last]) => [first - 1, last + 1]);
    const examples = neighbors
      .filter((value) => value >= 0 && value < 2 ** 32)
      .map((value) => [value] as [number]);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (value) => {
        expect([numberToIpv4(value), isPublicAddress(numberToIpv4(value))]).toEqual([
          numberToIpv4(value),
          !isNonPublic(value),
        ]);
      }),
      { examples, numRuns: 5000 },
    );
  });

  it('is every IPv6 address of 2000::/3 outside of the ranges, including their neighbors', () => {
    const isNonPublic = (value: bigint) =>
      NON_PUBLIC_IPV6.some(([first, last]) => value >= first && value <= last);
    const examples = NON_PUBLIC_IPV6.flatMap(([first, last]) => [first - 1n, last + 1n])
      .filter((value) => value >= GLOBAL[0] && value <= GLOBAL[1])
      .map((value) => [value] as [bigint]);
    fc.assert(
      fc.property(fc.bigInt({ min: GLOBAL[0], max: GLOBAL[1] }), (value) => {
        const expected = !isNonPublic(value) && !isatap(value);
        expect([numberToIpv6(value), isPublicAddress(numberToIpv6(value))]).toEqual([
          numberToIpv6(value),
          expected,
        ]);
        expect(isPublicAddress(compress(numberToIpv6(value)))).toBe(expected);
      }),
      { examples, numRuns: 2000 },
    );
  });
});

describe('the loopback exception for development', () => {
  it.each([
    ['http://localhost:3000/hook', 'http://localhost:3000/hook'],
    ['http://127.0.0.1/hook', 'http://127.0.0.1/hook'],
    ['http://2130706433/hook', 'http://127.0.0.1/hook'],
    ['http://127.0.0.7:8080', 'http://127.0.0.7:8080/'],
    ['http://[::1]:8080/hook', 'http://[::1]:8080/hook'],
    ['https://localhost:8443/hook', 'https://localhost:8443/hook'],
  ])('%s is accepted only with the exception, and never in production', (text, href) => {
    expect(readWebhookUrl(text, 'development', true)).toBe(href);
    expect(readWebhookUrl(text, 'staging', true)).toBe(href);
    expect(readWebhookUrl(text, 'production', true)).toBeNull();
    expect(readWebhookUrl(text, 'development', false)).toBeNull();
  });

  it.each([
    'http://10.1.2.3/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/',
    'http://a.localhost/',
    'http://localhost./',
    'http://example.com/',
    'http://8.8.8.8/',
    'ftp://localhost/',
    'http://user@localhost/',
    'http://localhost:0/',
  ])('the exception does not accept %s', (text) => {
    expect(readWebhookUrl(text, 'development', true)).toBeNull();
  });

  it('covers 127.0.0.0/8 and ::1', () => {
    for (const address of ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1'])
      expect(isLoopbackAddress(address)).toBe(true);
    for (const address of [
      '128.0.0.1',
      '::2',
      '::',
      '::1%lo',
      '::ffff:127.0.0.1',
      '127.1',
      '127.evil.example',
      '',
    ])
      expect(isLoopbackAddress(address)).toBe(false);
  });
});

describe('a webhook URL', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['https://Example.COM:443/a/../hook?key=1', 'https://example.com/hook?key=1'],
    ['https://hooks.example.com:8443/hook', 'https://hooks.example.com:8443/hook'],
    ['https://example.com:25/', 'https://example.com:25/'],
    ['https://café.example/ñ', 'https://xn--caf-dma.example/%C3%B1'],
    ['https://127.0.0.1.example.com/', 'https://127.0.0.1.example.com/'],
    ['https://localhost.example.com/', 'https://localhost.example.com/'],
    ['https://notlocal.example.com/', 'https://notlocal.example.com/'],
    ['https://mylan.co/', 'https://mylan.co/'],
  ])('%s is normalized to %s, which is stable', (text, href) => {
    expect(readWebhookUrl(text, 'production', false)).toBe(href);
    expect(readWebhookUrl(href, 'production', false)).toBe(href);
  });

  it.each([
    ['plain http', 'http://example.com/'],
    ['another scheme', 'ftp://example.com/'],
    ['a scheme without a host', 'javascript:alert(1)'],
    ['data', 'data:text/plain,https://example.com/'],
    ['a file', 'file:///etc/passwd'],
    ['a websocket', 'wss://example.com/'],
    ['a user', 'https://user@example.com/'],
    ['a password', 'https://:secret@example.com/'],
    ['port 0', 'https://example.com:0/'],
    ['a port above 65535', 'https://example.com:65536/'],
    ['no host', 'https://'],
    ['an empty host and a path', 'https:///'],
    ['an empty host', 'https://:443/'],
    ['nothing', ''],
    ['only a path', '/hook'],
    ['a tab', 'https://example.com/\thook'],
    ['a line break', 'https://example.com/hook\r\nx-header: 1'],
    ['a NUL', 'https://example.com/\0'],
    ['a space', 'https://example.com/a b'],
    ['a C1 control character', 'https://example.com/\u0085'],
    ['a lone surrogate', 'https://example.com/\ud800'],
    ['an IPv4 address with five parts', 'https://1.2.3.4.5/'],
    ['an IPv4 address out of range', 'https://256.1.1.1/'],
  ])('is rejected with %s', (_name, text) => {
    expect(readWebhookUrl(text, 'production', false)).toBeNull();
    expect(readWebhookUrl(text, 'development', false)).toBeNull();
  });

  it.each([
    ['shop.example.com', ['malformed']],
    ['https://example.com/a b', ['malformed']],
    [`https://example.com/${'ñ'.repeat(400)}`, ['length']],
    ['javascript:alert(1)', ['https']],
    ['http://example.com/', ['https']],
    ['https://example.com:0/', ['port']],
    ['https://10.0.0.1/', ['public']],
    ['https://a:b@example.com/', ['no_credentials']],
    ['http://a:b@payments.internal:0/', ['https', 'port', 'public', 'no_credentials']],
  ])('%s reports every broken rule', (text, broken) => {
    expect(validateWebhookUrl(text, 'production', false)).toEqual({ href: null, broken });
  });

  it('has at most 2048 characters, as sent and as normalized', () => {
    const base = 'https://example.com/';
    expect(readWebhookUrl(base + 'a'.repeat(2048 - base.length), 'production', false)).toHaveLength(2048);
    expect(readWebhookUrl(base + 'a'.repeat(2049 - base.length), 'production', false)).toBeNull();
    // Each character becomes six when serialized.
    expect(readWebhookUrl(base + 'ñ'.repeat(400), 'production', false)).toBeNull();
  });
});
