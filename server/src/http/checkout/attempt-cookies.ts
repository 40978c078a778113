import { equalBytes, hmac, type SecretKey } from '../../kit/crypto.ts';
import { uuidMs } from '../../kit/ids.ts';

const PREFIX = 'attempt_';
/** Browsers send every cookie with every request, so the total stays well below the header limit of servers and proxies. */
const MAX_LINKS = 10;
const MAX_ATTEMPTS = 4;
const MAC_BYTES = 16;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The link that a cookie belongs to, and the organization's key that authenticates the cookie. */
export interface CookieScope {
  readonly linkId: string;
  readonly hashKey: SecretKey;
}

/** A cookie to set; an empty value deletes it. */
export interface Cookie {
  readonly name: string;
  readonly value: string;
}

/** Browsers accept it only from https, for the whole host and not from its subdomains. */
const HOST_PREFIX = '__Host-';
const MAX_AGE_SECONDS = 86_400;

/** The value of `Set-Cookie`. With https the name gets the prefix `__Host-`, which requires the path `/`. */
export function cookieText(
  { name, value }: Cookie,
  { secure, path }: { readonly secure: boolean; readonly path: string },
): string {
  const maxAge = value === '' ? 0 : MAX_AGE_SECONDS;
  const pair = `${secure ? HOST_PREFIX : ''}${name}=${value}`;
  const scope = secure ? 'Path=/; Secure' : `Path=${path}`;
  return `${pair}; ${scope}; Max-Age=${maxAge}; HttpOnly; SameSite=Lax`;
}

/**
 * Cookies by their name without the prefix. Cookies without it are read too: they live for one day, and a payer who
 * started before an upgrade must find the attempt. Their values are authenticated.
 */
export function parseCookies(header: string): ReadonlyMap<string, string> {
  const pairs = header.split(/;\s*/).map((pair) => pair.split('=', 2));
  const cookies = pairs.map(([name = '', value = '']) => [name, value] as const);
  const prefixed = cookies.filter(([name]) => name.startsWith(HOST_PREFIX));
  return new Map([
    ...cookies.filter(([name]) => !name.startsWith(HOST_PREFIX)),
    ...prefixed.map(([name, value]) => [name.slice(HOST_PREFIX.length), value] as const),
  ]);
}

/**
 * The payins that this browser started on a link, newest first. The value is authenticated: a person who knows the id of a
 * payin, for example from a bank statement, must not see the data of its payer.
 */
export function ownAttempts(cookies: ReadonlyMap<string, string>, scope: CookieScope): readonly string[] {
  const value = cookies.get(cookieName(scope.linkId)) ?? '';
  const parts = value.split('.');
  const mac = Buffer.from(parts.pop() ?? '', 'base64url');
  return equalBytes(macOf(scope, parts), mac) ? parts : [];
}

/** The cookies that remember a new attempt: one per link, and a deletion for each link beyond the newest ten. */
export function rememberAttempt(
  cookies: ReadonlyMap<string, string>,
  scope: CookieScope,
  payinId: string,
): readonly Cookie[] {
  const name = cookieName(scope.linkId);
  const others = ownAttempts(cookies, scope).filter((id) => id !== payinId);
  const ids = [payinId, ...others].slice(0, MAX_ATTEMPTS);
  const value = [...ids, macOf(scope, ids).toString('base64url')].join('.');
  const outdated = [...cookies]
    .filter(([each]) => each.startsWith(PREFIX) && each !== name)
    .toSorted(([, a], [, b]) => newestMs(b) - newestMs(a))
    .slice(MAX_LINKS - 1)
    .map(([each]) => ({ name: each, value: '' }));
  return [{ name, value }, ...outdated];
}

/** The random part of the link's id: short, and different for each link. */
function cookieName(linkId: string): string {
  return PREFIX + linkId.slice(-12);
}

function macOf({ linkId, hashKey }: CookieScope, ids: readonly string[]): Buffer {
  return hmac(hashKey, 'checkout attempts', linkId, ...ids).subarray(0, MAC_BYTES);
}

/** Attempts have time-ordered ids. A value that this service did not write is the oldest. */
function newestMs(value: string): number {
  const [id = ''] = value.split('.');
  return ID.test(id) ? uuidMs(id) : 0;
}
