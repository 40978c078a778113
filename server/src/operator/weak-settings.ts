import { findPlaintextDatabases, findUnverifiedDatabases } from '../settings/database-transport.ts';
import { secretsOfOtherRoles } from '../settings/role-settings.ts';
import type { RawSettings, Role } from '../settings/settings.ts';

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const ADDRESSES = ['CAUDAL_BASE_URL', 'CAUDAL_CHECKOUT_URL', 'BREB_URL', 'PSE_URL'] as const;

/**
 * Insecure or suspicious settings with which a role would still start, except for secrets (weak-secrets.ts). Settings that
 * it rejects are not repeated here.
 * @param role null to check no specific role
 */
export function weakSettings(settings: RawSettings, role: Role | null): string[] {
  return [
    ...conflictingAddresses(settings),
    // Insecure settings are fine in development.
    ...(settings['CAUDAL_ENV'] === 'development' ? [] : insecureSettings(settings)),
    ...(settings['CAUDAL_ENV'] === 'production'
      ? [...unneededSecrets(settings, role), ...unknownProxies(settings, role)]
      : []),
  ];
}

/** Production demands https and the server speaks none, so there is almost always a proxy. */
function unknownProxies(settings: RawSettings, role: string | null): string[] {
  if (role === 'worker' || role === 'migrate' || settings['CAUDAL_TRUSTED_PROXIES'] !== undefined) return [];
  return [
    'CAUDAL_TRUSTED_PROXIES is not set: behind a proxy all payers share one address and its limits; set the addresses of the proxy, or none without one',
  ];
}

function insecureSettings(settings: RawSettings): string[] {
  const found: string[] = [];
  if (settings['CAUDAL_WEBHOOKS_ALLOW_LOOPBACK'] === 'yes')
    found.push(
      'CAUDAL_WEBHOOKS_ALLOW_LOOPBACK is yes: merchants can direct webhook requests to this machine',
    );
  if (settings['CAUDAL_FAILPOINT'] !== undefined)
    found.push('CAUDAL_FAILPOINT is set: the process will kill itself at that point');
  for (const name of ADDRESSES) {
    const url = parsedUrl(settings[name]);
    if (url?.protocol === 'http:' && !LOOPBACK.test(url.hostname))
      found.push(`${name} is plain http: traffic can be read and modified in transit`);
  }
  found.push(...findPlaintextDatabases(settings), ...findUnverifiedDatabases(settings));
  if (settings['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
    found.push('NODE_TLS_REJECT_UNAUTHORIZED is 0: PostgreSQL certificates are not verified');
  if (/(?:^|,)\s*(?:0\.0\.0\.0\/0|::\/0)\s*(?:,|$)/.test(settings['CAUDAL_TRUSTED_PROXIES'] ?? ''))
    found.push('CAUDAL_TRUSTED_PROXIES trusts every address: any client can spoof its IP address');
  return found;
}

function conflictingAddresses(settings: RawSettings): string[] {
  const found: string[] = [];
  const equal = (one: string, other: string) =>
    settings[one] !== undefined && settings[one] === settings[other];
  if (equal('BREB_URL', 'PSE_URL'))
    found.push('BREB_URL and PSE_URL are the same address: one of them is wrong');
  if (equal('CAUDAL_CHECKOUT_URL', 'CAUDAL_BASE_URL'))
    found.push(
      'CAUDAL_CHECKOUT_URL and CAUDAL_BASE_URL are the same address: use a separate host or path for the checkout pages',
    );
  const ports = [settings['CAUDAL_PORT'] ?? '8080', settings['CAUDAL_OPS_PORT'] ?? '9090'];
  if (ports[0] === ports[1] && ports[0] !== '0')
    found.push(`CAUDAL_PORT and CAUDAL_OPS_PORT are both ${ports[0]}: use different ports`);
  return found;
}

function unneededSecrets(settings: RawSettings, role: Role | null): string[] {
  if (role === null) return [];
  const unneeded = secretsOfOtherRoles(role)
    .filter((name) => settings[name] !== undefined)
    .map((name) => `${name} is set: "${role}" does not need it, and a compromised process would reveal it`);
  if (role === 'migrate' || settings['DATABASE_URL'] === undefined) return unneeded;
  return [
    `DATABASE_URL is set: "${role}" needs only the three role addresses, and a compromised process would have the privileges of the schema owner`,
    ...unneeded,
  ];
}

function parsedUrl(text: string | undefined): URL | null {
  return text !== undefined && URL.canParse(text) ? new URL(text) : null;
}
