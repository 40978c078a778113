import { isIP } from 'node:net';
import type { Environment } from '../kit/environment.ts';
import { type AddressRule, type ValidatedUrl, validateUrl } from '../kit/url-rules.ts';
import { isLoopbackAddress, isPublicAddress } from './sending/public-address.ts';

/**
 * Endings that no public name has: special-use names (RFC 6761, 6762, 7686, 8375), ICANN's `internal`, and those
 * that networks use for themselves (RFC 6762, appendix G).
 */
const INSIDE_ENDINGS = [
  'localhost',
  'local',
  'internal',
  'home.arpa',
  'onion',
  'localdomain',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
];

/**
 * Where a merchant wants events sent.
 *
 * This is the first wall, for a clear answer to the merchant at once: it judges the text. Where a name leads can
 * change at any moment and is judged whenever a connection is opened (vetted-connection.ts).
 */
export function validateWebhookUrl(
  text: string,
  environment: Environment,
  allowLoopback: boolean,
): ValidatedUrl {
  return validateUrl(text, (url) => {
    const host = bareHost(url);
    const local = allowLoopback && environment !== 'production' && isLoopbackHost(host);
    const broken: AddressRule[] = [];
    if (url.protocol !== 'https:' && !(local && url.protocol === 'http:')) broken.push('https');
    if (url.port === '0') broken.push('port');
    // Without a host, which only other schemes let pass, there is nothing to say about where it leads.
    if (host !== '' && !local && !isOutside(host)) broken.push('public');
    return broken;
  });
}

/** Without the brackets of an IPv6 address. The parser has already turned every spelling of an address into one. */
function bareHost(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host);
}

function isOutside(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  // A name without a dot is looked up in whatever domain our machine is in. A dot at the end is the same name written
  // so that lists of names do not know it.
  if (!host.includes('.') || host.endsWith('.')) return false;
  return !INSIDE_ENDINGS.some((ending) => host.endsWith(`.${ending}`));
}
