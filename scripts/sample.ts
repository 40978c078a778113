import { createHash } from 'node:crypto';

/**
 * Whether a name is in the part that this seed chooses. CI takes its seed from the commit, so that over a few commits
 * everything has its turn, and one commit is always judged alike.
 * @param parts of which one is chosen: 3 for a third
 */
export function inSample(seed: string | number, name: string, parts: number): boolean {
  return createHash('sha256').update(`${seed} ${name}`).digest().readUInt32BE() % parts === 0;
}
