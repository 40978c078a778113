/** One year, the least that ASVS asks for. Other hosts of the operator's domain are not ours to decide about. */
const STRICT_TRANSPORT_SECURITY = 'max-age=31536000';

/**
 * Headers of every response that does not set its own: no cache stores personal data or secrets, because shared caches
 * know no rule about `x-api-key`, and browsers do not guess content types. A deployment with https also demands it.
 */
export function securityHeaders(baseUrl: string): Readonly<Record<string, string>> {
  return {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(baseUrl.startsWith('https:') ? { 'strict-transport-security': STRICT_TRANSPORT_SECURITY } : {}),
  };
}
