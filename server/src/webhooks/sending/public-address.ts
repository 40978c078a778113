import { isIPv4, isIPv6 } from 'node:net';

type Range = readonly [prefix: string, bits: number, name: string];

/**
 * Ranges of IANA's special-purpose registry (2025) that are not globally reachable, and multicast. Ranges that the
 * registry marks as globally reachable (AS112 and AMT anycast) are not listed.
 */
const NON_PUBLIC_IPV4: readonly Range[] = [
  ['0.0.0.0', 8, 'this network'],
  ['10.0.0.0', 8, 'private use'],
  ['100.64.0.0', 10, "shared by a carrier's NAT; Alibaba's metadata"],
  ['127.0.0.0', 8, 'loopback'],
  ['168.63.129.16', 32, 'Azure host services: a public number that the hypervisor answers'],
  ['169.254.0.0', 16, "link local; the clouds' metadata"],
  ['172.16.0.0', 12, 'private use'],
  ['192.0.0.0', 24, "IETF protocol assignments; Oracle's metadata"],
  ['192.0.2.0', 24, 'documentation 1'],
  ['192.88.99.0', 24, '6to4 relays, deprecated'],
  ['192.168.0.0', 16, 'private use'],
  ['198.18.0.0', 15, 'benchmarks'],
  ['198.51.100.0', 24, 'documentation 2'],
  ['203.0.113.0', 24, 'documentation 3'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
  ['255.255.255.255', 32, 'broadcast'],
];

/** Addresses outside this range are rejected before the table is checked: IANA has allocated no other public range. */
const GLOBAL_UNICAST: Range = ['2000::', 3, 'global unicast'];

/**
 * A range that embeds IPv4 addresses is rejected entirely: a translator on our network would forward the packet to an
 * address that was not vetted. Ranges outside 2000::/3 are listed for completeness.
 */
const NON_PUBLIC_IPV6: readonly Range[] = [
  ['::', 128, 'unspecified'],
  ['::1', 128, 'loopback'],
  ['::', 96, 'IPv4-compatible, deprecated'],
  ['::ffff:0:0', 96, 'IPv4-mapped'],
  ['::ffff:0:0:0', 96, 'IPv4-translated'],
  ['64:ff9b::', 96, 'NAT64'],
  ['64:ff9b:1::', 48, 'NAT64, local use'],
  ['100::', 64, 'discard only'],
  ['100:0:0:1::', 64, 'dummy prefix'],
  ['2001::', 23, 'IETF protocol assignments: Teredo, benchmarks, ORCHID, DRIP'],
  ['2001:db8::', 32, 'documentation'],
  ['2002::', 16, '6to4'],
  ['3fff::', 20, 'documentation'],
  ['5f00::', 16, 'segment routing'],
  ['fc00::', 7, "unique local; the clouds' metadata"],
  ['fe80::', 10, 'link local'],
  ['fec0::', 10, 'site local, deprecated'],
  ['ff00::', 8, 'multicast'],
];

/**
 * Whether an address, in the format of `dns.lookup`, belongs to the public internet. Returns false for anything that is
 * not a plain address (a zone, octal digits, a name).
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) {
    const value = ipv4Value(address);
    return !NON_PUBLIC_IPV4.some((range) => containsIPv4(range, value));
  }
  if (!isIPv6(address) || address.includes('%')) return false;
  const value = ipv6Value(address);
  if (!containsIPv6(GLOBAL_UNICAST, value) || embedsIsatap(value)) return false;
  return !NON_PUBLIC_IPV6.some((range) => containsIPv6(range, value));
}

/** 127.0.0.0/8 and ::1; no other spelling is accepted. */
export function isLoopbackAddress(address: string): boolean {
  return isIPv4(address)
    ? address.startsWith('127.')
    : isIPv6(address) && !address.includes('%') && ipv6Value(address) === 1n;
}

function containsIPv4([prefix, bits]: Range, value: bigint): boolean {
  const rest = BigInt(32 - bits);
  return value >> rest === ipv4Value(prefix) >> rest;
}

function containsIPv6([prefix, bits]: Range, value: bigint): boolean {
  const rest = BigInt(128 - bits);
  return value >> rest === ipv6Value(prefix) >> rest;
}

/** ISATAP embeds an IPv4 address after `0:5efe` or `200:5efe` under any prefix. No public server uses such an address. */
function embedsIsatap(value: bigint): boolean {
  return ((value >> 32n) & 0xfdff_ffffn) === 0x5efen;
}

function ipv4Value(address: string): bigint {
  return address.split('.').reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

/** Expects text accepted by `isIPv6`, so every group is present or covered by `::`. */
function ipv6Value(address: string): bigint {
  const [left = '', right] = address.split('::');
  const head = parseGroups(left);
  const tail = parseGroups(right ?? '');
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0n);
  return [...head, ...zeros, ...tail].reduce((value, group) => (value << 16n) | group, 0n);
}

function parseGroups(text: string): bigint[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [BigInt(`0x${group}`)];
    const value = ipv4Value(group);
    return [value >> 16n, value & 0xffffn];
  });
}
