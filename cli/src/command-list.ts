import { ACCOUNT_COMMANDS } from './commands/account.ts';
import { BREB_COMMANDS } from './commands/breb.ts';
import { DEV_COMMANDS } from './commands/dev.ts';
import { ENDPOINT_COMMANDS } from './commands/endpoints.ts';
import { EVENT_COMMANDS } from './commands/events.ts';
import { LINK_COMMANDS } from './commands/links.ts';
import { LISTEN_COMMANDS } from './commands/listen.ts';
import { MONEY_COMMANDS } from './commands/money.ts';
import { PAYIN_COMMANDS } from './commands/payins.ts';
import { PAYOUT_COMMANDS } from './commands/payouts.ts';
import { PROFILE_COMMANDS } from './commands/profiles.ts';
import { SIMULATE_COMMANDS } from './commands/simulate.ts';
import { FAULT_COMMANDS } from './commands/simulate-faults.ts';
import { TRIGGER_COMMANDS } from './commands/trigger.ts';
import type { Command } from './framework/command.ts';

/** Commands that the CLI runs itself, in the order of the help, without `completion`. */
export const COMMANDS: readonly Command[] = [
  ...DEV_COMMANDS,
  ...PROFILE_COMMANDS,
  ...ACCOUNT_COMMANDS,
  ...PAYIN_COMMANDS,
  ...PAYOUT_COMMANDS,
  ...LINK_COMMANDS,
  ...BREB_COMMANDS,
  ...MONEY_COMMANDS,
  ...LISTEN_COMMANDS,
  ...EVENT_COMMANDS,
  ...ENDPOINT_COMMANDS,
  ...TRIGGER_COMMANDS,
  ...SIMULATE_COMMANDS,
  ...FAULT_COMMANDS,
];
