import { JsonClient } from './json-client.ts';
import type { MasterKey } from './master-key.ts';

export interface KmsOptions {
  readonly url: string;
  /** The key inside the service. */
  readonly keyId: string;
  readonly token: string;
}

const CONNECTIONS = 4;
const ATTEMPTS = 3;
const DEADLINE_MS = 5000;

/**
 * A master key that never leaves a key management service. `POST /wrap` takes `keyId`, `context` and `plaintext` and returns
 * `ciphertext`; `POST /unwrap` is the inverse. Both values are base64; the service must authenticate the context.
 */
export class KmsMasterKey implements MasterKey {
  readonly id: string;
  readonly #options: KmsOptions;
  readonly #client: JsonClient;

  constructor(options: KmsOptions) {
    this.id = `kms:${options.keyId}`;
    this.#options = options;
    this.#client = new JsonClient(options.url, CONNECTIONS, { tls: null });
  }

  wrap(key: Buffer, identity: string): Promise<Buffer> {
    return this.#call('wrap', { plaintext: key.toString('base64') }, identity, 'ciphertext');
  }

  unwrap(wrappedKey: Buffer, identity: string): Promise<Buffer> {
    return this.#call('unwrap', { ciphertext: wrappedKey.toString('base64') }, identity, 'plaintext');
  }

  /** Both calls are idempotent, so a call without an answer is repeated. */
  async #call(
    operation: 'wrap' | 'unwrap',
    value: Readonly<Record<string, string>>,
    identity: string,
    result: string,
  ): Promise<Buffer> {
    const { keyId, token } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { status, body } = await this.#client.call({
          method: 'POST',
          path: `/${operation}`,
          headers: { authorization: `Bearer ${token}` },
          body: { keyId, context: identity, ...value },
          signal: AbortSignal.timeout(DEADLINE_MS),
        });
        const bytes = (body as Readonly<Record<string, unknown>> | null)?.[result];
        if (status !== 200 || typeof bytes !== 'string')
          throw new Error(`the key management service answered ${operation} with status ${status}`);
        return Buffer.from(bytes, 'base64');
      } catch (error) {
        if (attempt >= ATTEMPTS) throw error;
      }
    }
  }
}
