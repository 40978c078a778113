import { BUGS_OF_JUDGEMENT } from './decision-bugs.ts';
import { BUGS_OF_PAYING } from './payout-bugs.ts';
import type { PlantedBug } from './planted-bug.ts';
import { BUGS_OF_WRITING } from './write-bugs.ts';

export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...BUGS_OF_JUDGEMENT,
  ...BUGS_OF_WRITING,
  ...BUGS_OF_PAYING,
];
