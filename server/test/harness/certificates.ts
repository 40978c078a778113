import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0;

export interface IssuedCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A certificate authority of a test, in a temporary folder. */
export class TestAuthority {
  readonly #folder = mkdtempSync(join(tmpdir(), 'caudal-ca-'));
  readonly certFile = join(this.#folder, 'ca.pem');
  readonly #keyFile = join(this.#folder, 'ca.key');

  constructor() {
    const output = ['-keyout', this.#keyFile, '-out', this.certFile];
    openssl('req', '-x509', ...NEW_KEY, '-subj', '/CN=test authority', '-days', '90', ...output);
  }

  get cert(): string {
    return readFileSync(this.certFile, 'utf8');
  }

  /** @param days until it expires; negative: it has expired */
  issue(name: string, alternativeName: string, days = 60): IssuedCertificate {
    const [request, certFile, keyFile] = ['csr', 'pem', 'key'].map((kind) =>
      join(this.#folder, `${name}.${kind}`),
    ) as [string, string, string];
    const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${alternativeName}`];
    openssl('req', '-new', ...NEW_KEY, ...names, '-keyout', keyFile, '-out', request);
    const signer = ['-CA', this.certFile, '-CAkey', this.#keyFile, '-CAcreateserial'];
    const validity = ['-days', String(days), '-copy_extensions', 'copy'];
    openssl('x509', '-req', '-in', request, ...signer, ...validity, '-out', certFile);
    return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}
