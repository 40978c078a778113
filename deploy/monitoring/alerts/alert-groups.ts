import type { Alert, AlertGroup } from '../alert.ts';
import { DATABASE } from './database.ts';
import { MONEY } from './money.ts';
import { PROCESSES } from './processes.ts';
import { RAILS } from './rails.ts';
import { WEBHOOKS } from './webhooks.ts';

export const ALERT_GROUPS: readonly AlertGroup[] = [PROCESSES, DATABASE, RAILS, MONEY, WEBHOOKS];
export const ALERTS: readonly Alert[] = ALERT_GROUPS.flatMap(({ alerts }) => alerts);
