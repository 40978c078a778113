/** Characters that need no percent-encoding in a path; encoded, they would hide a path from the rules of a proxy. */
const ENCODED_PLAIN = /%(?:2[def]|3[0-9]|4[1-9a-f]|5[0-9acf]|6[1-9a-f]|7[0-9a])/i;

/**
 * Whether the path of a request target is in its one normal form. A proxy that allows or denies paths compares them
 * literally, so another spelling of a path must not reach its route: `/%72ail-notices/breb`, `//payins`, `/x/../payins`,
 * `http://host/payins`. Encoded characters that a path parameter needs, such as `%40` and `%2B`, are allowed.
 */
export function isNormalTarget(target: string): boolean {
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  return (
    path.startsWith('/') &&
    !path.includes('//') &&
    !path.includes('\\') &&
    !/\/\.{1,2}(?:\/|$)/.test(path) &&
    !ENCODED_PLAIN.test(path)
  );
}
