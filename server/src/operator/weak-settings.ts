type Given = Readonly<Record<string, string | undefined>>;

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const ADDRESSES = ['CAUDAL_BASE_URL', 'CAUDAL_CHECKOUT_URL', 'BREB_URL', 'PSE_URL'] as const;
const DATABASES = ['DATABASE_URL', 'DATABASE_READ_URL', 'DATABASE_BATCH_URL', 'DATABASE_SYSTEM_URL'] as const;

/**
 * What a role would start with and an operator should know, but for its secrets (weak-secrets.ts). What it refuses is not
 * repeated here.
 * @param role null where the question is not about one of them
 */
export function weakSettings(given: Given, role: string | null): string[] {
  return [
    ...samePlace(given),
    // On a developer's machine all of it is as it should be.
    ...(given['CAUDAL_ENV'] === 'development' ? [] : openSettings(given)),
    ...(given['CAUDAL_ENV'] === 'production' ? ownerWhereNotNeeded(given, role) : []),
  ];
}

function openSettings(given: Given): string[] {
  const found: string[] = [];
  if (given['CAUDAL_WEBHOOKS_ALLOW_LOOPBACK'] === 'yes')
    found.push('CAUDAL_WEBHOOKS_ALLOW_LOOPBACK is yes: a merchant can have requests sent to this machine');
  if (given['CAUDAL_FAILPOINT'] !== undefined)
    found.push('CAUDAL_FAILPOINT is set: the process will kill itself there');
  for (const name of ADDRESSES) {
    const url = parsedUrl(given[name]);
    if (url?.protocol === 'http:' && !LOOPBACK.test(url.hostname))
      found.push(`${name} is plain http: what is sent there can be read and changed on the way`);
  }
  for (const name of DATABASES) {
    const url = parsedUrl(given[name]);
    if (
      url &&
      !LOOPBACK.test(url.hostname) &&
      !/^(?:require|verify-ca|verify-full)$/.test(url.searchParams.get('sslmode') ?? '')
    )
      found.push(`${name} leaves this machine without TLS: add ?sslmode=verify-full`);
  }
  if (/(?:^|,)\s*(?:0\.0\.0\.0\/0|::\/0)\s*(?:,|$)/.test(given['CAUDAL_TRUSTED_PROXIES'] ?? ''))
    found.push('CAUDAL_TRUSTED_PROXIES believes everybody: any caller can claim any address');
  return found;
}

function samePlace(given: Given): string[] {
  const found: string[] = [];
  const equal = (one: string, other: string) => given[one] !== undefined && given[one] === given[other];
  if (equal('BREB_URL', 'PSE_URL'))
    found.push('BREB_URL and PSE_URL are the same address: one of them is wrong');
  if (equal('CAUDAL_CHECKOUT_URL', 'CAUDAL_BASE_URL'))
    found.push(
      "CAUDAL_CHECKOUT_URL and CAUDAL_BASE_URL are the same address: give payers' pages a host or a path of their own",
    );
  const ports = [given['CAUDAL_PORT'] ?? '8080', given['CAUDAL_OPS_PORT'] ?? '9090'];
  if (ports[0] === ports[1] && ports[0] !== '0')
    found.push(`CAUDAL_PORT and CAUDAL_OPS_PORT are both ${ports[0]}: one of the two cannot listen`);
  return found;
}

function ownerWhereNotNeeded(given: Given, role: string | null): string[] {
  if (role === null || role === 'migrate' || given['DATABASE_URL'] === undefined) return [];
  return [
    `DATABASE_URL is set: "${role}" needs the three role addresses, and whoever breaks into it has the owner of the schema`,
  ];
}

function parsedUrl(text: string | undefined): URL | null {
  return text !== undefined && URL.canParse(text) ? new URL(text) : null;
}
