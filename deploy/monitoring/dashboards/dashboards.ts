import type { Dashboard } from './dashboard.ts';
import { DATABASE, WEBHOOKS } from './infrastructure.ts';
import { MONEY, OVERVIEW, RAILS } from './payments.ts';

export const DASHBOARDS: readonly Dashboard[] = [OVERVIEW, RAILS, WEBHOOKS, DATABASE, MONEY];
