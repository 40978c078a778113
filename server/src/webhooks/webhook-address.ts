import { isIP } from 'node:net';
import type { Environment } from '../kit/environment.ts';
import { type UrlRule, type ValidatedUrl, validateUrl } from '../kit/url-rules.ts';
import { isLoopbackAddress, isPublicAddress } from './sending/public-address.ts';

/**
 * Suffixes that no public name has: special-use names (RFC 6761, 6762, 7686, 8375), ICANN's `internal`, and common
 * private suffixes (RFC 6762, appendix G).
 */
const PRIVATE_SUFFIXES = [
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
 * Validates the URL of a webhook endpoint.
 *
 * This check of the text gives the merchant an immediate error. The addresses of a name can change at any time, so
 * vetted-connection.ts checks them again for every connection.
 */
export function validateWebhookUrl(
  text: string,
  environment: Environment,
  allowLoopback: boolean,
): ValidatedUrl {
  return validateUrl(text, (url) => {
    const host = bareHost(url);
    const local = allowLoopback && environment !== 'production' && isLoopbackHost(host);
    const broken: UrlRule[] = [];
    if (url.protocol !== 'https:' && !(local && url.protocol === 'http:')) broken.push('https');
    if (url.port === '0') broken.push('port');
    // Only non-HTTP schemes allow an empty host; the `https` rule already rejects those.
    if (host !== '' && !local && !isPublicHost(host)) broken.push('public');
    return broken;
  });
}

/** Removes the brackets of an IPv6 address. The URL parser has already normalized the address. */
function bareHost(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host);
}

function isPublicHost(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  // A name without a dot resolves in the search domain of our machine. A trailing dot is the same name in a spelling
  // that would bypass the suffix list.
  if (!host.includes('.') || host.endsWith('.')) return false;
  return !PRIVATE_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`));
}
