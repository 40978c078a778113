import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificatesFinding } from '../../src/operator/doctor-certificates.ts';
import { findPlaintextDatabases, findUnverifiedDatabases } from '../../src/settings/database-transport.ts';
import { findProductionProblems } from '../../src/settings/problems.ts';
import { readTlsFiles } from '../../src/settings/tls-files.ts';
import { HAS_OPENSSL, type IssuedCertificate, TestAuthority } from '../harness/certificates.ts';

describe('the address of PostgreSQL in production', () => {
  const url = (address: string) => ({ DATABASE_READ_URL: `postgres://caudal_read:x@${address}` });
  const problem = 'DATABASE_READ_URL is a remote address without TLS: add ?sslmode=verify-full';

  it.each([
    'db.example.com/caudal',
    '10.0.0.5/caudal',
    '127.0.0.1.example.com/caudal',
    'db.example.com/caudal?sslmode=disable',
    'db.example.com/caudal?sslmode=prefer',
    'db.example.com/caudal?sslmode=allow',
    'db.example.com/caudal?sslmode=no-verify',
    'db.example.com/caudal?sslmode=verify-full&sslmode=disable',
    'localhost/caudal?host=db.example.com',
  ])('%s is refused', (address) => {
    expect(findProductionProblems({ ...url(address), BREB_PAYER_DOCUMENT: '900123456' })).toEqual([problem]);
  });

  it.each([
    'localhost/caudal',
    '127.0.0.1:5433/caudal',
    '[::1]/caudal',
    'ignored/caudal?host=/var/run/postgresql',
    '%2Fvar%2Frun%2Fpostgresql/caudal',
    'db.example.com/caudal?sslmode=require',
    'db.example.com/caudal?sslmode=verify-ca',
    'db.example.com/caudal?sslmode=verify-full',
  ])('%s is accepted', (address) => {
    expect(findPlaintextDatabases(url(address))).toEqual([]);
    expect(findUnverifiedDatabases(url(address))).toEqual([]);
  });

  it('is remote without a host when PGHOST is remote', () => {
    const settings = { DATABASE_URL: 'postgres:///caudal' };
    expect(findPlaintextDatabases(settings)).toEqual([]);
    expect(findPlaintextDatabases({ ...settings, PGHOST: 'db.example.com' })).toHaveLength(1);
  });

  it('gets a warning when TLS does not verify the server', () => {
    const unverified = url('db.example.com/caudal?sslmode=require&uselibpqcompat=true');
    expect(findPlaintextDatabases(unverified)).toEqual([]);
    expect(findUnverifiedDatabases(unverified)).toHaveLength(1);
    const verified = url('db.example.com/caudal?sslmode=require&uselibpqcompat=true&sslrootcert=ca.pem');
    expect(findUnverifiedDatabases(verified)).toEqual([]);
  });
});

describe('NODE_TLS_REJECT_UNAUTHORIZED', () => {
  const settings = { BREB_PAYER_DOCUMENT: '900123456' };
  it('is refused in production only when it turns off verification', () => {
    expect(findProductionProblems({ ...settings, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([
      'NODE_TLS_REJECT_UNAUTHORIZED is 0: production must verify certificates',
    ]);
    expect(findProductionProblems({ ...settings, NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toEqual([]);
  });
});

describe.skipIf(!HAS_OPENSSL)('the PEM files of a rail', () => {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-pem-'));
  const broken = join(folder, 'broken.pem');
  let authority: TestAuthority;
  let client: IssuedCertificate;
  let other: IssuedCertificate;
  beforeAll(() => {
    writeFileSync(broken, 'not a certificate');
    authority = new TestAuthority();
    client = authority.issue('client', 'DNS:caudal.example', 20);
    other = authority.issue('other', 'DNS:caudal.example', -1);
  });
  afterAll(() => {
    authority?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const names = (ca?: string, cert?: string, key?: string) => ({
    ...(ca === undefined ? {} : { BREB_TLS_CA_FILE: ca }),
    ...(cert === undefined ? {} : { BREB_TLS_CERT_FILE: cert }),
    ...(key === undefined ? {} : { BREB_TLS_KEY_FILE: key }),
  });

  it('are optional', () => {
    expect(readTlsFiles('BREB', {})).toEqual({ tls: null, certificates: [], problems: [] });
  });

  it('are read, and the certificate that expires first is known', () => {
    const { tls, certificates, problems } = readTlsFiles(
      'BREB',
      names(authority.certFile, client.certFile, client.keyFile),
    );
    expect(problems).toEqual([]);
    expect(tls).toEqual({ ca: authority.cert, client: { cert: client.cert, key: client.key } });
    expect(certificates.map(({ setting }) => setting)).toEqual(['BREB_TLS_CA_FILE', 'BREB_TLS_CERT_FILE']);
    expect(certificatesFinding(certificates)).toEqual([
      expect.objectContaining({
        status: 'warn',
        message: expect.stringMatching(/^BREB_TLS_CERT_FILE expires/),
      }),
    ]);
  });

  it('are reported by the name of their setting', () => {
    const problemsOf = (settings: Record<string, string>) => readTlsFiles('BREB', settings).problems;
    expect(problemsOf(names(join(folder, 'missing.pem')))).toEqual([
      `BREB_TLS_CA_FILE: ${join(folder, 'missing.pem')} cannot be read (ENOENT)`,
    ]);
    expect(problemsOf(names(undefined, broken, client.certFile))).toEqual([
      `BREB_TLS_CERT_FILE: ${broken} is not a PEM file with certificates`,
      `BREB_TLS_KEY_FILE: ${client.certFile} is not a PEM file with an unencrypted private key`,
    ]);
    expect(problemsOf(names(undefined, client.certFile))).toEqual([
      'BREB_TLS_CERT_FILE and BREB_TLS_KEY_FILE must be set together',
    ]);
    expect(problemsOf(names(undefined, client.certFile, other.keyFile))).toEqual([
      'BREB_TLS_KEY_FILE is not the private key of the first certificate in BREB_TLS_CERT_FILE',
    ]);
  });

  it('may have expired: doctor fails, the process starts', () => {
    const { certificates, problems } = readTlsFiles('BREB', names(undefined, other.certFile, other.keyFile));
    expect(problems).toEqual([]);
    expect(certificatesFinding(certificates)).toEqual([expect.objectContaining({ status: 'fail' })]);
  });
});
