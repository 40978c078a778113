import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TlsMaterial } from '../kit/strict-tls.ts';
import type { RawSettings, Role } from './settings.ts';

/** A certificate of a PEM file that the configuration names. */
export interface ConfiguredCertificate {
  /** The setting that names its file. */
  readonly setting: string;
  /** End of validity of the certificate in the file that expires first. */
  readonly expiresAt: Date;
}

interface TlsFiles {
  /** Null when no file is configured. */
  readonly tls: TlsMaterial | null;
  readonly certificates: readonly ConfiguredCertificate[];
  readonly problems: readonly string[];
}

/**
 * Reads the PEM files of one peer. An expired certificate is no problem here: a process that restarts must still serve
 * the other peers. `caudal doctor` and a metric report it.
 * @param prefix of the settings, such as `BREB`
 */
export function readTlsFiles(prefix: string, raw: RawSettings): TlsFiles {
  const name = (kind: 'CA' | 'CERT' | 'KEY') => `${prefix}_TLS_${kind}_FILE`;
  const problems: string[] = [];
  const read = <T>(setting: string, parse: (text: string) => T, expected: string) => {
    const path = raw[setting];
    if (path === undefined) return null;
    const parsed = readPem(path, parse, expected);
    if ('problem' in parsed) problems.push(`${setting}: ${parsed.problem}`);
    return 'problem' in parsed ? null : parsed;
  };
  const ca = read(name('CA'), parseCertificates, 'a PEM file with certificates');
  const cert = read(name('CERT'), parseCertificates, 'a PEM file with certificates');
  const key = read(name('KEY'), parseKey, 'a PEM file with an unencrypted private key');
  const [withCert, withKey] = [raw[name('CERT')] !== undefined, raw[name('KEY')] !== undefined];
  if (withCert !== withKey) problems.push(`${name('CERT')} and ${name('KEY')} must be set together`);
  if (cert && key && cert.value[0]?.checkPrivateKey(key.value) !== true)
    problems.push(`${name('KEY')} is not the private key of the first certificate in ${name('CERT')}`);
  const certificates = [
    ...(ca ? [firstToExpire(name('CA'), ca.value)] : []),
    ...(cert ? [firstToExpire(name('CERT'), cert.value)] : []),
  ];
  const client = cert && key ? { cert: cert.text, key: key.text } : null;
  return { tls: ca || client ? { ca: ca?.text ?? null, client } : null, certificates, problems };
}

/** The problem never quotes the file, which may be a private key. */
function readPem<T>(
  path: string,
  parse: (text: string) => T,
  expected: string,
): { text: string; value: T } | { problem: string } {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return {
      problem: `${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown cause'})`,
    };
  }
  try {
    return { text, value: parse(text) };
  } catch {
    return { problem: `${path} is not ${expected}` };
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function parseCertificates(text: string): X509Certificate[] {
  const found = text.match(CERTIFICATE) ?? [];
  if (found.length === 0) throw new Error('no certificate');
  return found.map((pem) => new X509Certificate(pem));
}

function parseKey(text: string): KeyObject {
  return createPrivateKey(text);
}

function firstToExpire(setting: string, certificates: readonly X509Certificate[]): ConfiguredCertificate {
  const ends = certificates.map(({ validToDate }) => validToDate.getTime());
  return { setting, expiresAt: new Date(Math.min(...ends)) };
}

export interface AllTlsFiles {
  readonly breb: TlsMaterial | null;
  readonly pse: TlsMaterial | null;
  readonly smtp: TlsMaterial | null;
  readonly certificates: readonly ConfiguredCertificate[];
  readonly problems: readonly string[];
}

/** Reads the files of the peers that the role calls. */
export function readAllTlsFiles(role: Role, raw: RawSettings): AllTlsFiles {
  const none: TlsFiles = { tls: null, certificates: [], problems: [] };
  const breb = role === 'migrate' ? none : readTlsFiles('BREB', raw);
  const pse = role === 'migrate' ? none : readTlsFiles('PSE', raw);
  const smtp = role === 'worker' || role === 'all' ? readTlsFiles('CAUDAL_SMTP', raw) : none;
  return {
    breb: breb.tls,
    pse: pse.tls,
    smtp: smtp.tls,
    certificates: [breb, pse, smtp].flatMap(({ certificates }) => certificates),
    problems: [breb, pse, smtp].flatMap(({ problems }) => problems),
  };
}
