import { BUGS_OF_JUDGEMENT } from './bugs-of-judgement.ts';
import { BUGS_OF_PAYING } from './bugs-of-paying.ts';
import { BUGS_OF_WRITING } from './bugs-of-writing.ts';
import type { PlantedBug } from './planted-bug.ts';

export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...BUGS_OF_JUDGEMENT,
  ...BUGS_OF_WRITING,
  ...BUGS_OF_PAYING,
];
