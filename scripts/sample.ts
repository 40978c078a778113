import { createHash } from 'node:crypto';

/**
 * Whether a name is in the half that this seed chooses. CI takes its seed from the commit, so that over a few commits
 * everything has its turn, and one commit is always judged alike.
 */
export function inSample(seed: string | number, name: string): boolean {
  return ((createHash('sha256').update(`${seed} ${name}`).digest()[0] ?? 0) & 1) === 1;
}
