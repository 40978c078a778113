import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** DER headers of RFC 8410, which the 32 bytes of a private or public key follow. */
const PRIVATE_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_HEADER = Buffer.from('302a300506032b6570032100', 'hex');

/** An Ed25519 key pair. The public key is in its raw form of 32 bytes. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: Buffer;
}

/** @param seed 32 secret bytes; the same seed gives the same key pair */
export function signingKeyFromSeed(seed: Buffer): SigningKey {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PRIVATE_HEADER, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return { privateKey, publicKey: der.subarray(PUBLIC_HEADER.length) };
}

export function signEd25519({ privateKey }: SigningKey, data: Uint8Array): Buffer {
  return sign(null, data, privateKey);
}

export function verifyEd25519(publicKey: Buffer, data: Uint8Array, signature: Uint8Array): boolean {
  const key = createPublicKey({
    key: Buffer.concat([PUBLIC_HEADER, publicKey]),
    format: 'der',
    type: 'spki',
  });
  return verify(null, data, key, signature);
}
