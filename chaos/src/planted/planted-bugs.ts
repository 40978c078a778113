import { DECISION_BUGS } from './decision-bugs.ts';
import { LINK_HISTORY_BUGS } from './link-history-bugs.ts';
import { PAYOUT_BUGS } from './payout-bugs.ts';
import type { PlantedBug } from './planted-bug.ts';
import { WRITE_BUGS } from './write-bugs.ts';

export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...DECISION_BUGS,
  ...WRITE_BUGS,
  ...PAYOUT_BUGS,
  ...LINK_HISTORY_BUGS,
];
