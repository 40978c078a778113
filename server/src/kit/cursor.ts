import { deriveKey, equalBytes, hmac, type SecretKey, sha256 } from './crypto.ts';
import type { TokenKeys } from './encrypted-token.ts';
import { ApiError } from './errors.ts';
import { uuidBytes, uuidFromBytes } from './ids.ts';

const MAC_BYTES = 12;
const LENGTH = 1 + 16 + MAC_BYTES;

type Direction = 'older' | 'newer';

export interface Position {
  readonly direction: Direction;
  /** The page starts after this id, in the direction. */
  readonly id: string;
}

/**
 * Cursors are opaque, authenticated, and bound to one organization and one set of filters: the same cursor with other
 * filters would silently skip rows.
 */
export class Cursors {
  readonly #current: SecretKey;
  readonly #accepted: readonly SecretKey[];

  /** @param keys the current key, which makes cursors, and previous keys, whose cursors stay valid */
  constructor(keys: TokenKeys) {
    const [current, ...previous] = keys;
    this.#current = deriveKey(current, 'cursor');
    this.#accepted = [this.#current, ...previous.map((key) => deriveKey(key, 'cursor'))];
  }

  encode(position: Position, scope: CursorScope): string {
    const body = Buffer.concat([Buffer.of(position.direction === 'older' ? 0 : 1), uuidBytes(position.id)]);
    return Buffer.concat([body, cursorMac(this.#current, body, scope)]).toString('base64url');
  }

  decode(cursor: string, scope: CursorScope): Position {
    const bytes = Buffer.from(cursor, 'base64url');
    const body = bytes.subarray(0, 17);
    // Only canonical base64url is accepted.
    const canonical = bytes.toString('base64url') === cursor;
    const mac = bytes.subarray(17);
    const authentic = () => this.#accepted.some((key) => equalBytes(cursorMac(key, body, scope), mac));
    if (!canonical || bytes.length !== LENGTH || !authentic()) throw new ApiError('cursor_invalid');
    return { direction: body[0] === 0 ? 'older' : 'newer', id: uuidFromBytes(body.subarray(1)) };
  }
}

function cursorMac(key: SecretKey, body: Buffer, scope: CursorScope): Buffer {
  const scopeHash = sha256(`${scope.list}\n${scope.organizationId}\n${scope.filters}`);
  return hmac(key, Buffer.concat([body, scopeHash])).subarray(0, MAC_BYTES);
}

export interface CursorScope {
  readonly list: string;
  readonly organizationId: string;
  /** Canonical text of the filters. */
  readonly filters: string;
}
