import { deriveKey, equalBytes, hmac, type SecretKey } from './crypto.ts';
import { cellCode, uuidBytes, uuidFromBytes } from './ids.ts';

const MAC_BYTES = 16;
const BODY_BYTES = 20;
const TOKEN = /^[0-9A-Z]{2}[A-Za-z0-9_-]{48}$/;

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
  readonly #macKey: SecretKey;
  readonly #maskKey: SecretKey;

  constructor(key: SecretKey, purpose: string) {
    this.#macKey = deriveKey(key, `${purpose}/mac`);
    this.#maskKey = deriveKey(key, `${purpose}/mask`);
  }

  make(subject: TokenSubject, cell: number): string {
    const body = Buffer.alloc(BODY_BYTES);
    uuidBytes(subject.id).copy(body, 0);
    body.writeUInt32BE(subject.organizationNumber, 16);
    const code = cellCode(cell);
    const mac = this.#mac(code, body);
    return code + Buffer.concat([mac, this.#mask(mac, body)]).toString('base64url');
  }

  read(token: string): TokenSubject | null {
    if (!TOKEN.test(token)) return null;
    const bytes = Buffer.from(token.slice(2), 'base64url');
    const mac = bytes.subarray(0, MAC_BYTES);
    const body = this.#mask(mac, bytes.subarray(MAC_BYTES));
    if (!equalBytes(this.#mac(token.slice(0, 2), body), mac)) return null;
    return { id: uuidFromBytes(body.subarray(0, 16)), organizationNumber: body.readUInt32BE(16) };
  }

  #mac(code: string, body: Buffer): Buffer {
    return hmac(this.#macKey, Buffer.concat([Buffer.from(code), body])).subarray(0, MAC_BYTES);
  }

  #mask(mac: Buffer, body: Buffer): Buffer {
    const mask = hmac(this.#maskKey, mac);
    const masked = Buffer.alloc(BODY_BYTES);
    for (let index = 0; index < BODY_BYTES; index += 1)
      masked[index] = (body[index] ?? 0) ^ (mask[index] ?? 0);
    return masked;
  }
}
