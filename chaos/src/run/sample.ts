import { createHash } from 'node:crypto';

/**
 * Whether a name is in the sample that this seed selects. CI uses the commit as the seed: several commits cover
 * everything, and the same commit always gets the same sample.
 * @param parts size of the sample as 1/parts: 3 selects a third
 */
export function inSample(seed: string | number, name: string, parts: number): boolean {
  return createHash('sha256').update(`${seed} ${name}`).digest().readUInt32BE() % parts === 0;
}
