import type { RawSettings } from './settings.ts';

const DATABASE_URLS = [
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'DATABASE_BATCH_URL',
  'DATABASE_SYSTEM_URL',
  'DATABASE_BACKUP_URL',
] as const;

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

/** How a connection to PostgreSQL is protected, as the driver interprets its URL. */
type Transport = 'local' | 'plaintext' | 'encrypted' | 'verified';

/**
 * `prefer` and `allow` count as plaintext: libpq falls back to it, and future versions of the driver will.
 * Of a repeated parameter the driver uses the last value.
 */
function transportOf(url: URL, { PGHOST }: RawSettings): Transport {
  const parameter = (name: string) => url.searchParams.getAll(name).at(-1);
  const host = parameter('host') || decodeURIComponent(url.hostname) || PGHOST || 'localhost';
  if (host.startsWith('/') || LOOPBACK.test(host)) return 'local';
  // With libpq's semantics, `require` verifies the certificate only when a CA is given.
  const verifies = parameter('uselibpqcompat') !== 'true' || parameter('sslrootcert') !== undefined;
  switch (parameter('sslmode')) {
    case 'verify-full':
    case 'verify-ca':
      return 'verified';
    case 'require':
      return verifies ? 'verified' : 'encrypted';
    default:
      return 'plaintext';
  }
}

function databaseUrls(raw: RawSettings): { name: string; transport: Transport }[] {
  return DATABASE_URLS.flatMap((name) => {
    const text = raw[name];
    return text !== undefined && URL.canParse(text)
      ? [{ name, transport: transportOf(new URL(text), raw) }]
      : [];
  });
}

/** Connections that leave this machine without TLS, or with TLS to an unknown server (`no-verify`). */
export function findPlaintextDatabases(raw: RawSettings): string[] {
  return databaseUrls(raw)
    .filter(({ transport }) => transport === 'plaintext')
    .map(({ name }) => `${name} is a remote address without TLS: add ?sslmode=verify-full`);
}

/** Encrypted connections that do not verify who the server is. */
export function findUnverifiedDatabases(raw: RawSettings): string[] {
  return databaseUrls(raw)
    .filter(({ transport }) => transport === 'encrypted')
    .map(({ name }) => `${name} does not verify the certificate of the server: use sslmode=verify-full`);
}
