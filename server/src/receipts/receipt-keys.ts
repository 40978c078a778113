import { sha256 } from '../kit/crypto.ts';
import { type SigningKey, signEd25519, verifyEd25519 } from '../kit/ed25519.ts';
import { decodeBase32, encodeBase32 } from './base32.ts';
import { decodeReceipt, encodeFacts, encodeReceipt, type ReceiptFacts } from './receipt-facts.ts';

/** The receipt keys of the configuration. */
export interface ReceiptKeySettings {
  readonly current: SigningKey;
  readonly retired: readonly RetiredKey[];
  readonly revokedIds: readonly string[];
}

export interface RetiredKey {
  readonly publicKey: Buffer;
  /** The key signed nothing after this time. */
  readonly validUntil: Date;
}

/** A public key as published: a JSON Web Key (RFC 8037) with its status. */
interface PublishedKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly alg: 'EdDSA';
  readonly use: 'sig';
  readonly kid: string;
  readonly x: string;
  readonly status: 'current' | 'retired' | 'revoked';
  /** The key signed nothing after this time; null for the current key. */
  readonly validUntil: string | null;
}

export interface PublishedKeys {
  readonly keys: readonly PublishedKey[];
  /** Ids of all revoked keys, also of those whose public key is no longer listed. */
  readonly revoked: readonly string[];
}

/** Why a receipt is not accepted. */
export type Rejection = 'unreadable' | 'unknown_key' | 'revoked_key' | 'expired_key' | 'altered';

export type Verification =
  | { readonly verdict: 'authentic'; readonly facts: ReceiptFacts }
  | { readonly verdict: Rejection; readonly facts: null };

/** Signs receipts with the current key and verifies them with all published keys. */
export class ReceiptKeys {
  readonly #current: SigningKey;
  readonly published: PublishedKeys;

  constructor({ current, retired, revokedIds }: ReceiptKeySettings) {
    this.#current = current;
    const publish = (publicKey: Buffer, status: 'current' | 'retired', validUntil: Date | null) => {
      const kid = receiptKeyId(publicKey);
      return {
        kty: 'OKP',
        crv: 'Ed25519',
        alg: 'EdDSA',
        use: 'sig',
        kid,
        x: publicKey.toString('base64url'),
        status: revokedIds.includes(kid) ? 'revoked' : status,
        validUntil: validUntil?.toISOString() ?? null,
      } as const;
    };
    this.published = {
      keys: [
        publish(current.publicKey, 'current', null),
        ...retired.map(({ publicKey, validUntil }) => publish(publicKey, 'retired', validUntil)),
      ],
      revoked: revokedIds,
    };
  }

  /** @returns the text for the QR code */
  sign(facts: Omit<ReceiptFacts, 'keyId'>): string {
    const signed = encodeFacts({ ...facts, keyId: receiptKeyId(this.#current.publicKey) });
    return encodeReceipt(signed, signEd25519(this.#current, signed));
  }

  verify(text: string): Verification {
    const decoded = decodeReceipt(text, decodeBase32);
    if (!decoded) return { verdict: 'unreadable', facts: null };
    const { facts, signed, signature } = decoded;
    const key = this.published.keys.find(({ kid }) => kid === facts.keyId);
    const rejection = rejectKey(this.published, facts);
    if (rejection !== null || !key) return { verdict: rejection ?? 'unknown_key', facts: null };
    return verifyEd25519(Buffer.from(key.x, 'base64url'), signed, signature)
      ? { verdict: 'authentic', facts }
      : { verdict: 'altered', facts: null };
  }
}

/** Eight base32 characters of the hash of the public key. */
export function receiptKeyId(publicKey: Buffer): string {
  return encodeBase32(sha256(publicKey).subarray(0, 5));
}

/**
 * Checks the key that a receipt names, before its signature is checked. The page of `/verificar` runs the source text of
 * this function: it must not refer to anything outside of itself.
 */
export function rejectKey(
  published: PublishedKeys,
  facts: Pick<ReceiptFacts, 'keyId' | 'signedAt'>,
): Rejection | null {
  if (published.revoked.includes(facts.keyId)) return 'revoked_key';
  const key = published.keys.find(({ kid }) => kid === facts.keyId);
  if (!key) return 'unknown_key';
  return key.validUntil !== null && facts.signedAt > new Date(key.validUntil) ? 'expired_key' : null;
}
