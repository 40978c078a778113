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
    name: 'rails pause-after-restore',
    audit: 'with_change',
    summary: 'pause all sending on a restored database, before the first process starts',
    usage: 'rails pause-after-restore [--reason TEXT] --by NAME',
    options: [
      { name: 'reason', value: 'TEXT', summary: 'reason, shown to other operators (default: a restore)' },
      BY,
    ],
    details:
      'Restoring a backup pauses sending automatically. A copy of the disk, such as a snapshot, has the same identity as the original, so run this command on it. Payouts, keys, bank pages, webhooks and e-mails wait; payins are rejected with 503 rail_paused. Only rails reconcile-after-restore ends the pause.',
    examples: ["caudal rails pause-after-restore --reason 'disk snapshot of 14:00' --by ana"],
  },
  {
    name: 'rails reconcile-after-restore',
    audit: 'before_and_after',
    summary: 'compare a restored database with the rails, then resume sending',
    usage: 'rails reconcile-after-restore --since TIME [--dry-run] --by NAME',
    options: [
      {
        name: 'since',
        value: 'TIME',
        summary: 'the time to which the database was restored: 2026-11-16T14:00:00Z',
        required: true,
      },
      { name: 'dry-run', value: null, summary: 'only print the differences' },
      BY,
    ],
    details:
      'Lists the orders and payments of the rails since that time. Outcomes of payouts and payments of payins that the database lacks are booked; orders and payments that it does not know are listed, and their money is in suspense. Then verifies the whole ledger and resumes sending. Exits with 1, and sending stays paused, when a rail does not answer or the ledger is inconsistent. Safe to repeat.',
    examples: ['caudal rails reconcile-after-restore --since 2026-11-16T14:00:00Z --by ana'],
  },
  {
    name: 'restored list',
    audit: 'none',
    summary: 'list orders that only the rail has since a restore, and the payouts they hold',
    usage: 'restored list',
    examples: ['caudal restored list'],
  },
  {
    name: 'restored resolve',
    audit: 'with_change',
    summary: 'decide whether a held payout repeats an order that only the rail has',
    usage: 'restored resolve PAYOUT --as repeat|new --note TEXT --by NAME',
    options: [
      {
        name: 'as',
        value: 'DECISION',
        summary: 'repeat: cancel it and charge the executed order; new: another payment, send it',
        required: true,
        choices: ['repeat', 'new'],
      },
      { name: 'note', value: 'TEXT', summary: 'how you know it, for the audit log', required: true },
      BY,
    ],
    args: [{ name: 'PAYOUT', summary: 'the id of a held payout (see restored list)' }],
    examples: [
      "caudal restored resolve 019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10 --as repeat --note 'confirmed by the merchant' --by ana",
    ],
  },
  {
    name: 'backup check',
    audit: 'with_change',
    summary: 'check archiving, the age of the last backup and the backup role',
    usage: 'backup check [--stanza NAME] [--backup-at TIME] [--max-age HOURS] --by NAME',
    options: [
      {
        name: 'stanza',
        value: 'NAME',
        summary: 'the stanza that pgbackrest info is asked for (default: caudal)',
      },
      {
        name: 'backup-at',
        value: 'TIME',
        summary: 'when the last backup ended, for other backup programs: 2026-11-16T02:00:00Z',
      },
      { name: 'max-age', value: 'HOURS', summary: 'the oldest backup that is accepted (default: 26)' },
      BY,
    ],
    details:
      'Exits with 1 when something failed. Stores the result for the metrics caudal_backup_last_check_timestamp_seconds and caudal_backup_age_seconds. Run it after each backup, on the host that has the pgBackRest repository.',
    examples: ['caudal backup check --by cron'],
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
