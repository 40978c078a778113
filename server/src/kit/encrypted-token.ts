import { deriveKey, equalBytes, hmac, type SecretKey } from './crypto.ts';
import { cellCode, uuidBytes, uuidFromBytes } from './ids.ts';

const MAC_BYTES = 16;
const BODY_BYTES = 20;
const TOKEN = /^[0-9A-Z]{2}[A-Za-z0-9_-]{48}$/;

/** The current token key, and the previous one during a rotation. */
export type TokenKeys = readonly [SecretKey, ...SecretKey[]];

interface TokenSubject {
  readonly organizationNumber: number;
  readonly id: string;
}

/**
 * The secret in a checkout URL: the cell code, then the encrypted and authenticated resource id and organization number
 * (SIV: the 128-bit MAC is also the nonce of the mask). Nothing is stored and no index is needed: a random token in its
 * own table would add one row and one random index page to every creation.
 * Forging a token requires guessing the MAC.
 */
export class EncryptedTokens {
  readonly #current: TokenKey;
  readonly #accepted: readonly TokenKey[];

  /** @param keys the current key, which makes tokens, and previous keys, whose tokens stay valid */
  constructor(keys: TokenKeys, purpose: string) {
    const [current, ...previous] = keys;
    this.#current = tokenKey(current, purpose);
    this.#accepted = [this.#current, ...previous.map((key) => tokenKey(key, purpose))];
  }

  make(subject: TokenSubject, cell: number): string {
    const body = Buffer.alloc(BODY_BYTES);
    uuidBytes(subject.id).copy(body, 0);
    body.writeUInt32BE(subject.organizationNumber, 16);
    const code = cellCode(cell);
    const mac = tokenMac(this.#current, code, body);
    return code + Buffer.concat([mac, masked(this.#current, mac, body)]).toString('base64url');
  }

  read(token: string): TokenSubject | null {
    if (!TOKEN.test(token)) return null;
    const bytes = Buffer.from(token.slice(2), 'base64url');
    const mac = bytes.subarray(0, MAC_BYTES);
    for (const key of this.#accepted) {
      const body = masked(key, mac, bytes.subarray(MAC_BYTES));
      if (equalBytes(tokenMac(key, token.slice(0, 2), body), mac))
        return { id: uuidFromBytes(body.subarray(0, 16)), organizationNumber: body.readUInt32BE(16) };
    }
    return null;
  }
}

interface TokenKey {
  readonly macKey: SecretKey;
  readonly maskKey: SecretKey;
}

function tokenKey(key: SecretKey, purpose: string): TokenKey {
  return { macKey: deriveKey(key, `${purpose}/mac`), maskKey: deriveKey(key, `${purpose}/mask`) };
}

function tokenMac({ macKey }: TokenKey, code: string, body: Buffer): Buffer {
  return hmac(macKey, Buffer.concat([Buffer.from(code), body])).subarray(0, MAC_BYTES);
}

function masked({ maskKey }: TokenKey, mac: Buffer, body: Buffer): Buffer {
  const mask = hmac(maskKey, mac);
  const result = Buffer.alloc(BODY_BYTES);
  for (let index = 0; index < BODY_BYTES; index += 1) result[index] = (body[index] ?? 0) ^ (mask[index] ?? 0);
  return result;
}
