import type { CatalogEntry } from './description.ts';
import { BY } from './shared-options.ts';

const RAILS = ['BRE_B', 'PSE'];

export const OPERATION_COMMANDS = [
  {
    name: 'audit list',
    audit: 'none',
    summary: 'list audit rows of operator changes, newest first',
    usage: 'audit list [--org ID] [--by NAME] [--action COMMAND] [--since TIME]',
    options: [
      { name: 'org', value: 'ID', summary: 'only this organization' },
      { name: 'by', value: 'NAME', summary: 'only this author' },
      { name: 'action', value: 'COMMAND', summary: 'only this command, such as "ledger deposit"' },
      {
        name: 'since',
        value: 'TIME',
        summary: 'since this day (midnight in Bogotá) or time: 2026-11-16, 2026-11-16T14:00:00Z',
      },
    ],
    details:
      'Every command that makes a change writes an audit row. A command that cannot run in one transaction writes two, "started" and then "finished" or "failed"; with "started" alone the command crashed or is still running. No role can change or delete a row.',
    examples: [
      'caudal audit list',
      "caudal audit list --by ana --action 'ledger deposit' --since 2026-11-16",
    ],
  },
  {
    name: 'notices unreadable',
    audit: 'none',
    summary: 'list rail notices that could not be parsed',
    usage: 'notices unreadable',
    examples: ['caudal notices unreadable'],
  },
  {
    name: 'rails pause',
    audit: 'with_change',
    summary: 'pause a rail: reject new payins and send no new orders',
    usage: 'rails pause --rail BRE_B|PSE [--org ID] --reason TEXT --by NAME',
    options: [
      { name: 'rail', value: 'RAIL', summary: 'the rail', required: true, choices: RAILS },
      { name: 'org', value: 'ID', summary: 'only for this organization (default: all)' },
      { name: 'reason', value: 'TEXT', summary: 'reason, shown to other operators', required: true },
      BY,
    ],
    details:
      'Payouts are accepted and wait. Orders accepted within the last second may still be sent. Rail notices are processed and polling continues.',
    examples: ["caudal rails pause --rail PSE --reason 'PSE announced work until 05:00' --by ana"],
  },
  {
    name: 'rails resume',
    audit: 'with_change',
    summary: 'resume a paused rail and send the waiting orders',
    usage: 'rails resume --rail BRE_B|PSE [--org ID] --by NAME',
    options: [
      { name: 'rail', value: 'RAIL', summary: 'the rail', required: true, choices: RAILS },
      { name: 'org', value: 'ID', summary: 'the pause of this organization (default: the pause for all)' },
      BY,
    ],
    examples: ['caudal rails resume --rail PSE --by ana'],
  },
  {
    name: 'rails list',
    audit: 'none',
    summary: 'list rail pauses with their time, author and reason',
    usage: 'rails list',
    examples: ['caudal rails list'],
  },
  {
    name: 'schedules list',
    audit: 'none',
    summary: 'list schedules with their last successful run',
    usage: 'schedules list',
    examples: ['caudal schedules list'],
  },
  {
    name: 'schedules run',
    audit: 'before_and_after',
    summary: 'run a schedule now, in this process',
    usage: 'schedules run NAME --by NAME',
    options: [BY],
    args: [{ name: 'NAME', summary: 'the name of a schedule (see schedules list)' }],
    examples: ['caudal schedules run housekeeping --by ana'],
  },
  {
    name: 'months detach',
    audit: 'before_and_after',
    summary: 'detach old monthly partitions online',
    usage: 'months detach --before YYYY-MM --by NAME',
    options: [
      {
        name: 'before',
        value: 'YYYY-MM',
        summary: 'detach months before this one; the last six whole months are always kept',
        required: true,
      },
      BY,
    ],
    details:
      'Detaches partitions of events, deliveries, rail notices and histories. Payins, payouts, payment links and the ledger stay, because the ledger is verified against them. Fails without detaching anything while rows of those months are still open. A detached partition becomes a standalone table that the API does not read: its events are no longer listed or replayed. Needs DATABASE_URL with the schema owner, as migrate does. Safe to repeat: it completes an interrupted run.',
    examples: ['caudal months detach --before 2026-01 --by ana --env-file production.env'],
  },
  {
    name: 'receipts keys',
    audit: 'none',
    summary: 'list the public keys that receipts are verified with',
    usage: 'receipts keys',
    details:
      'Prints the id, status and public key of the current receipt key, of the retired keys and of the revoked ones, from the settings alone. For a rotation, append the current public key with its last day to CAUDAL_RECEIPT_KEYS_RETIRED.',
    examples: ['caudal receipts keys'],
  },
  {
    name: 'failpoints list',
    audit: 'none',
    summary: 'for tests: list the values of CAUDAL_FAILPOINT, where a process can be killed',
    usage: 'failpoints list',
    examples: ['caudal failpoints list'],
  },
] as const satisfies readonly CatalogEntry[];
