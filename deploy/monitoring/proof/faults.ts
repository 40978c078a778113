import { DATABASE_FAULTS } from './database-faults.ts';
import type { InjectedFault } from './fault.ts';
import { MONEY_FAULTS } from './money-faults.ts';
import { PROCESS_FAULTS } from './process-faults.ts';
import { RAIL_FAULTS } from './rail-faults.ts';
import { WEBHOOK_FAULTS } from './webhook-faults.ts';

export const FAULTS: readonly InjectedFault[] = [
  ...RAIL_FAULTS,
  ...WEBHOOK_FAULTS,
  ...MONEY_FAULTS,
  ...PROCESS_FAULTS,
  ...DATABASE_FAULTS,
];
