import { isIP } from 'node:net';
import type { Environment } from '../kit/environment.ts';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

const LONGEST = 2048;
const CONTROL_OR_SPACE = /[\p{Cc}\s]/u;

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
 * Where a merchant wants events sent: parsed once by the WHATWG rules and kept in its serialized form, so that what
 * was checked is what is used. Null when we send nothing there.
 *
 * This is the first wall, for a clear answer to the merchant at once: it judges the text. Where a name leads can
 * change at any moment and is judged whenever a connection is opened (vetted-connection.ts).
 */
export function readWebhookUrl(
  text: string,
  environment: Environment,
  allowLoopback: boolean,
): string | null {
  if (text.length > LONGEST || CONTROL_OR_SPACE.test(text) || !text.isWellFormed() || !URL.canParse(text))
    return null;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.port === '0' || url.href.length > LONGEST)
    return null;
  const host = bareHost(url);
  const local = allowLoopback && environment !== 'production' && isLoopbackHost(host);
  if (local) return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
  return url.protocol === 'https:' && isOutside(host) ? url.href : null;
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
