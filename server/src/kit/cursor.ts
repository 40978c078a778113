import { deriveKey, equalBytes, hmac, type SecretKey, sha256 } from './crypto.ts';
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
  readonly #key: SecretKey;

  constructor(key: SecretKey) {
    this.#key = deriveKey(key, 'cursor');
  }

  encode(position: Position, scope: CursorScope): string {
    const body = Buffer.concat([Buffer.of(position.direction === 'older' ? 0 : 1), uuidBytes(position.id)]);
    return Buffer.concat([body, this.#mac(body, scope)]).toString('base64url');
  }

  decode(cursor: string, scope: CursorScope): Position {
    const bytes = Buffer.from(cursor, 'base64url');
    const body = bytes.subarray(0, 17);
    // Only canonical base64url is accepted.
    const canonical = bytes.toString('base64url') === cursor;
    if (!canonical || bytes.length !== LENGTH || !equalBytes(this.#mac(body, scope), bytes.subarray(17))) {
      throw new ApiError('cursor_invalid');
    }
    return { direction: body[0] === 0 ? 'older' : 'newer', id: uuidFromBytes(body.subarray(1)) };
  }

  #mac(body: Buffer, scope: CursorScope): Buffer {
    const scopeHash = sha256(`${scope.list}\n${scope.organizationId}\n${scope.filters}`);
    return hmac(this.#key, Buffer.concat([body, scopeHash])).subarray(0, MAC_BYTES);
  }
}

export interface CursorScope {
  readonly list: string;
  readonly organizationId: string;
  /** Canonical text of the filters. */
  readonly filters: string;
}
