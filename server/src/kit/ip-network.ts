import { isIPv4, isIPv6 } from 'node:net';

/** An IP network in the form that `net.BlockList` takes. */
export interface IpNetwork {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Length of the networks that addresses are truncated to: what one site usually owns. */
const SITE_PREFIX = { ipv4: 24, ipv6: 48 } as const;
const MAX_PREFIX = { ipv4: 32, ipv6: 128 } as const;

/** The first groups of an IPv4 address that is written as IPv6. */
const MAPPED = '0:0:0:0:0:ffff';

/**
 * The client address of a socket or proxy header in its plain form: an IPv4 address that a dual-stack socket reports as
 * IPv6 becomes IPv4, and a zone is removed. Null for a text that is no IP address.
 */
export function parseAddress(
  text: string,
): { readonly address: string; readonly family: IpNetwork['family'] } | null {
  const address = text.replace(/%.*$/, '');
  if (isIPv4(address)) return { address, family: 'ipv4' };
  if (!isIPv6(address)) return null;
  const mapped = unmap(address);
  return mapped === null ? { address, family: 'ipv6' } : { address: mapped, family: 'ipv4' };
}

/** The IPv4 address of `::ffff:203.0.113.5` or `::ffff:cb00:7105`; null for another IPv6 address. */
function unmap(address: string): string | null {
  const groups = toGroups(address);
  if (groups.slice(0, 6).join(':') !== MAPPED) return null;
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}

/**
 * Reads `203.0.113.0/24` or a single address. Null when it is invalid, has bits beyond its prefix, or is an IPv4 network
 * written as IPv6, whose prefix could mean either.
 */
export function parseNetwork(text: string): IpNetwork | null {
  const [address = '', length, ...rest] = text.split('/');
  const parsed = parseAddress(address);
  if (!parsed || rest.length > 0 || address.includes('%')) return null;
  const { family } = parsed;
  if (family === 'ipv4' && address.includes(':')) return null;
  const prefix = length === undefined ? MAX_PREFIX[family] : Number(length);
  if (length !== undefined && (!/^\d{1,3}$/.test(length) || prefix > MAX_PREFIX[family])) return null;
  const bits = toBits(parsed.address, family);
  return bits.slice(prefix).includes('1') ? null : { ...parsed, prefix };
}

/** The network of an address: /24 for IPv4, /48 for IPv6. Null for a text that is no IP address. */
export function truncateAddress(text: string): string | null {
  const parsed = parseAddress(text);
  if (!parsed) return null;
  if (parsed.family === 'ipv4')
    return `${parsed.address.slice(0, parsed.address.lastIndexOf('.'))}.0/${SITE_PREFIX.ipv4}`;
  const groups = toGroups(parsed.address).slice(0, SITE_PREFIX.ipv6 / 16);
  return `${groups.join(':').replace(/(^|:)0(:0)*$/, '')}::/${SITE_PREFIX.ipv6}`;
}

function toBits(address: string, family: IpNetwork['family']): string {
  const [parts, base, width] = family === 'ipv4' ? [address.split('.'), 10, 8] : [toGroups(address), 16, 16];
  return parts.map((part) => Number.parseInt(part, base).toString(2).padStart(width, '0')).join('');
}

/** The eight groups of an IPv6 address, without leading zeros. */
function toGroups(address: string): string[] {
  const [first = [], last = []] = address.split('::').map(splitGroups);
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  return [...first, ...zeros, ...last];
}

/** The groups of one side of `::`; a trailing IPv4 address is two groups. */
function splitGroups(side: string): string[] {
  return side
    .split(':')
    .filter((group) => group !== '')
    .flatMap((group) => {
      if (!group.includes('.')) return [Number.parseInt(group, 16).toString(16)];
      const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
      return [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)];
    });
}
