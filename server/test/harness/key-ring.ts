import { keyFromBytes, type SecretKey } from '../../src/kit/crypto.ts';
import { freshBytes } from '../../src/kit/ids.ts';
import { KeyRing } from '../../src/kit/key-ring.ts';

/** The key ring of an organization whose data key was never rotated. */
export function singleKeyRing(key: SecretKey = keyFromBytes(freshBytes(32))): KeyRing {
  return new KeyRing([{ number: 1, key, activeInMs: 0 }]);
}
