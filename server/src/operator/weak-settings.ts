type RawSettings = Readonly<Record<string, string | undefined>>;

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const ADDRESSES = ['CAUDAL_BASE_URL', 'CAUDAL_CHECKOUT_URL', 'BREB_URL', 'PSE_URL'] as const;
const DATABASES = ['DATABASE_URL', 'DATABASE_READ_URL', 'DATABASE_BATCH_URL', 'DATABASE_SYSTEM_URL'] as const;

/**
 * Insecure or suspicious settings with which a role would still start, except for secrets (weak-secrets.ts). Settings that
 * it rejects are not repeated here.
 * @param role null to check no specific role
 */
export function weakSettings(settings: RawSettings, role: string | null): string[] {
  return [
    ...conflictingAddresses(settings),
    // Insecure settings are fine in development.
    ...(settings['CAUDAL_ENV'] === 'development' ? [] : insecureSettings(settings)),
    ...(settings['CAUDAL_ENV'] === 'production' ? unneededOwnerUrl(settings, role) : []),
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
  for (const name of DATABASES) {
    const url = parsedUrl(settings[name]);
    if (
      url &&
      !LOOPBACK.test(url.hostname) &&
      !/^(?:require|verify-ca|verify-full)$/.test(url.searchParams.get('sslmode') ?? '')
    )
      found.push(`${name} is a remote address without TLS: add ?sslmode=verify-full`);
  }
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

function unneededOwnerUrl(settings: RawSettings, role: string | null): string[] {
  if (role === null || role === 'migrate' || settings['DATABASE_URL'] === undefined) return [];
  return [
    `DATABASE_URL is set: "${role}" needs only the three role addresses, and a compromised process would have the privileges of the schema owner`,
  ];
}

function parsedUrl(text: string | undefined): URL | null {
  return text !== undefined && URL.canParse(text) ? new URL(text) : null;
}
