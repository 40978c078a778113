/**
 * Spellings of non-public addresses, as the host of a URL and as a DNS answer. address.test.ts validates the
 * list as text; sender.namespace.test.ts sends to it where every address answers.
 */
export interface NamedAddress {
  readonly name: string;
  readonly text: string;
}

const NON_PUBLIC_IPV4: readonly NamedAddress[] = [
  { name: 'loopback', text: '127.0.0.1' },
  { name: 'last loopback address', text: '127.255.255.254' },
  { name: 'this host', text: '0.0.0.0' },
  { name: 'this network', text: '0.1.2.3' },
  { name: 'private 10/8', text: '10.1.2.3' },
  { name: 'end of private 10/8', text: '10.255.255.255' },
  { name: 'private 172', text: '172.16.5.6' },
  { name: 'end of private 172', text: '172.31.255.254' },
  { name: 'private 192', text: '192.168.7.8' },
  { name: 'cloud metadata', text: '169.254.169.254' },
  { name: "Amazon's task credentials", text: '169.254.170.2' },
  { name: "Alibaba's metadata", text: '100.100.100.200' },
  { name: "Oracle's metadata", text: '192.0.0.192' },
  { name: "Azure's host", text: '168.63.129.16' },
  { name: 'carrier-grade NAT', text: '100.64.0.1' },
  { name: 'benchmarks', text: '198.19.255.1' },
  { name: 'documentation', text: '203.0.113.9' },
  { name: 'a 6to4 relay', text: '192.88.99.1' },
  { name: 'multicast', text: '224.0.0.251' },
  { name: 'reserved', text: '240.0.0.1' },
  { name: 'broadcast', text: '255.255.255.255' },
];

type Bytes = readonly [number, number, number, number];

const hex = (value: number, digits = 0) => value.toString(16).padStart(digits, '0');
const octal = (value: number) => `0${value.toString(8)}`;
const whole = ([a, b, c, d]: Bytes) => ((a * 256 + b) * 256 + c) * 256 + d;
const high = ([a, b]: Bytes) => hex(a * 256 + b);
const low = ([, , c, d]: Bytes) => hex(c * 256 + d);
const dotted = (bytes: Bytes) => bytes.join('.');
const digitsFrom = (zero: number, text: string) =>
  text.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));

/** Spellings of an IPv4 address that the WHATWG URL parser reads as that address. */
const IPV4_SPELLINGS: readonly (readonly [name: string, write: (bytes: Bytes) => string])[] = [
  ['unchanged', dotted],
  ['as one decimal number', (bytes) => String(whole(bytes))],
  ['as one hex number', (bytes) => `0x${hex(whole(bytes), 8)}`],
  ['as one upper-case hex number', (bytes) => `0X${hex(whole(bytes), 8).toUpperCase()}`],
  ['as one hex number with many zeros', (bytes) => `0x0000000000${hex(whole(bytes), 8)}`],
  ['as one octal number', (bytes) => octal(whole(bytes))],
  ['with hex parts', (bytes) => bytes.map((byte) => `0x${hex(byte)}`).join('.')],
  ['with octal parts', (bytes) => bytes.map(octal).join('.')],
  ['with octal parts and zeros', (bytes) => bytes.map((byte) => `000${octal(byte)}`).join('.')],
  ['with a mix of parts', ([a, b, c, d]) => `0x${hex(a)}.${octal(b)}.${c}.0x${hex(d)}`],
  ['in two parts', ([a, b, c, d]) => `${a}.${whole([0, b, c, d])}`],
  ['in three parts', ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`],
  ['in two hex parts', ([a, b, c, d]) => `0x${hex(a)}.0x${hex(whole([0, b, c, d]))}`],
  ['with a trailing dot', (bytes) => `${dotted(bytes)}.`],
  ['in full-width digits', (bytes) => digitsFrom(0xff10, dotted(bytes))],
  ['in bold digits', (bytes) => digitsFrom(0x1d7ce, dotted(bytes))],
  ['with ideographic stops', (bytes) => bytes.join('。')],
  ['with full-width stops', (bytes) => bytes.join('．')],
  ['percent-encoded', (bytes) => dotted(bytes).replaceAll(/./g, (each) => `%${hex(each.charCodeAt(0))}`)],
  ['with soft hyphens', (bytes) => bytes.join('\u00ad.')],
];

/** IPv6 addresses that embed an IPv4 address. */
const IPV6_CARRIERS: readonly (readonly [name: string, write: (bytes: Bytes) => string])[] = [
  ['mapped', (bytes) => `::ffff:${dotted(bytes)}`],
  ['mapped in hex', (bytes) => `::ffff:${high(bytes)}:${low(bytes)}`],
  [
    'mapped in upper case and uncompressed',
    (bytes) => `0:0:0:0:0:FFFF:${high(bytes)}:${low(bytes)}`.toUpperCase(),
  ],
  ['IPv4-compatible', (bytes) => `::${dotted(bytes)}`],
  ['IPv4-translated', (bytes) => `::ffff:0:${dotted(bytes)}`],
  ['behind NAT64', (bytes) => `64:ff9b::${dotted(bytes)}`],
  ['behind NAT64 in hex', (bytes) => `64:ff9b::${high(bytes)}:${low(bytes)}`],
  ['behind local NAT64', (bytes) => `64:ff9b:1::${dotted(bytes)}`],
  ['behind 6to4', (bytes) => `2002:${high(bytes)}:${low(bytes)}::1`],
  ['as a Teredo server', (bytes) => `2001:0:${high(bytes)}:${low(bytes)}::1`],
  ['as a Teredo client', ([a, b, c, d]) => teredoClient([255 - a, 255 - b, 255 - c, 255 - d])],
  ['by ISATAP', (bytes) => `2600:1f18::5efe:${dotted(bytes)}`],
  ['by ISATAP, universal', (bytes) => `2600:1f18::200:5efe:${dotted(bytes)}`],
  ['by link-local ISATAP', (bytes) => `fe80::5efe:${high(bytes)}:${low(bytes)}`],
];

function teredoClient(inverted: Bytes): string {
  return `2001:0:4136:e378:8000:63bf:${high(inverted)}:${low(inverted)}`;
}

const NON_PUBLIC_IPV6: readonly NamedAddress[] = [
  { name: 'IPv6 loopback', text: '::1' },
  { name: 'IPv6 loopback uncompressed', text: '0:0:0:0:0:0:0:1' },
  { name: 'IPv6 loopback with zeros', text: '0000:0000:0000:0000:0000:0000:0000:0001' },
  { name: 'IPv6 unspecified', text: '::' },
  { name: 'unique local', text: 'fc00::1' },
  { name: 'unique local, random', text: 'fd12:3456:789a::1' },
  { name: "Amazon's IPv6 metadata", text: 'fd00:ec2::254' },
  { name: "Google's IPv6 metadata", text: 'fd20:ce::254' },
  { name: 'link local', text: 'fe80::1' },
  { name: 'end of link local', text: 'febf:ffff::1' },
  { name: 'site local', text: 'fec0::1' },
  { name: 'multicast to all nodes', text: 'ff02::1' },
  { name: 'multicast, global', text: 'ff0e::1' },
  { name: 'discard only', text: '100::1' },
  { name: 'the dummy prefix', text: '100:0:0:1::1' },
  { name: 'Teredo', text: '2001::1' },
  { name: 'IPv6 benchmarks', text: '2001:2::1' },
  { name: 'ORCHID', text: '2001:10::1' },
  { name: 'ORCHID 2', text: '2001:20::1' },
  { name: 'DRIP', text: '2001:30::1' },
  { name: 'end of the IETF assignments', text: '2001:1ff:ffff::1' },
  { name: 'IPv6 documentation', text: '2001:db8::1' },
  { name: 'IPv6 documentation, new range', text: '3fff::1' },
  { name: '6to4 of a public address', text: '2002:808:808::1' },
  { name: 'NAT64 of a public address', text: '64:ff9b::8.8.8.8' },
  { name: 'a mapped public address', text: '::ffff:8.8.8.8' },
  { name: 'segment routing', text: '5f00::1' },
  { name: 'an unallocated range', text: '4000::1' },
  { name: 'the former 6bone', text: '1ffe::1' },
];

const NON_PUBLIC_NAMES: readonly NamedAddress[] = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'localhost..',
  'local\u00adhost',
  'ｌｏｃａｌｈｏｓｔ',
  'ⓛocalhost',
  '%6cocalhost',
  'a.localhost',
  'a.b.localhost',
  'localhost.localdomain',
  'printer.local',
  'printer.LOCAL',
  'printer.local.',
  'printer。local',
  'hooks.svc.cluster.local',
  'metadata.google.internal',
  'metadata.google.internal.',
  'vault.corp',
  'router.lan',
  'router.home',
  'router.home.arpa',
  'wiki.intranet',
  'db.private',
  'expyuzz4wqqyqhjn.onion',
  'postgres',
  'postgres.',
  'metadata',
  'example.com.',
].map((text) => ({ name: `the name ${JSON.stringify(text)}`, text }));

/** URLs with a misleading host: each leads to 10.1.2.3 or is invalid. */
const MISLEADING_URLS: readonly NamedAddress[] = [
  { name: 'a public name as user', text: 'https://example.com@10.1.2.3/' },
  { name: 'a public name as user, with a password', text: 'https://example.com:443@10.1.2.3/' },
  { name: 'an escaped @', text: 'https://example.com%40@10.1.2.3/' },
  { name: 'a public name in the fragment', text: 'https://10.1.2.3#@example.com/' },
  { name: 'a public name in the query', text: 'https://10.1.2.3?@example.com/' },
  { name: 'a backslash before the @', text: 'https://10.1.2.3\\@example.com/' },
  { name: 'backslashes instead of slashes', text: 'https:\\\\10.1.2.3\\' },
  { name: 'no slashes', text: 'https:10.1.2.3' },
  { name: 'one slash', text: 'https:/10.1.2.3' },
  { name: 'many slashes', text: 'https://///10.1.2.3/' },
  { name: 'capitals', text: 'HTTPS://10.1.2.3/' },
  { name: 'a tab in the scheme', text: 'ht\ttps://10.1.2.3/' },
  { name: 'a line break in the host', text: 'https://10.1\n.2.3/' },
  { name: 'a leading space', text: ' https://10.1.2.3/' },
  { name: 'its default port', text: 'https://10.1.2.3:443/' },
  { name: 'another port', text: 'https://10.1.2.3:8443/' },
  { name: 'a zone ID', text: 'https://[fe80::1%25eth0]/' },
  { name: 'an unescaped zone ID', text: 'https://[fe80::1%eth0]/' },
  { name: 'a zone ID on a mapped address', text: 'https://[::ffff:10.1.2.3%251]/' },
];

const toBytes = (address: string) => address.split('.').map(Number) as unknown as Bytes;

const embedded: readonly NamedAddress[] = NON_PUBLIC_IPV4.flatMap(({ name, text }) =>
  IPV6_CARRIERS.map(([how, write]) => ({ name: `${name} ${how}`, text: write(toBytes(text)) })),
);

const spelled: readonly NamedAddress[] = NON_PUBLIC_IPV4.flatMap(({ name, text }) =>
  IPV4_SPELLINGS.map(([how, write]) => ({ name: `${name} ${how}`, text: write(toBytes(text)) })),
);

export const NON_PUBLIC_URLS: readonly NamedAddress[] = [
  ...[...spelled, ...NON_PUBLIC_NAMES].map(({ name, text }) => ({ name, text: `https://${text}/hook` })),
  ...[...embedded, ...NON_PUBLIC_IPV6].map(({ name, text }) => ({ name, text: `https://[${text}]/hook` })),
  ...MISLEADING_URLS,
];

/** As a DNS server may answer, and as a resolver may write the answer. */
export const NON_PUBLIC_DNS_ANSWERS: readonly NamedAddress[] = [
  ...NON_PUBLIC_IPV4,
  ...embedded,
  ...NON_PUBLIC_IPV6,
  { name: 'link local with a zone ID', text: 'fe80::1%eth0' },
  { name: 'a public address with a zone ID', text: '2606:4700:4700::1111%eth0' },
  { name: 'a numeric zone ID', text: 'fe80::1%2' },
];
