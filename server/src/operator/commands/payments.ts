import type { CatalogEntry } from './description.ts';
import { BY, REASON } from './shared-options.ts';

export const PAYMENT_COMMANDS = [
  {
    name: 'payins find',
    audit: 'none',
    summary: 'search payins of all organizations, newest first',
    usage:
      'payins find [--id ID] [--reference TEXT] [--key KEY] [--cus CUS] [--transaction ID] [--amount PESOS] [--day DAY | --from DAY --to DAY] [--org ID]',
    options: [
      { name: 'id', value: 'ID', summary: 'the id of the payin' },
      { name: 'reference', value: 'TEXT', summary: "the merchant's reference of the payin or its link" },
      { name: 'key', value: 'KEY', summary: 'the Bre-B key of the payin, such as @CDL01…' },
      { name: 'cus', value: 'CUS', summary: "the PSE CUS, as the payer's bank shows it" },
      {
        name: 'transaction',
        value: 'ID',
        summary: "our reference at PSE, or the rail's id of a posted payment",
      },
      { name: 'amount', value: 'PESOS', summary: 'requested or paid amount; needs a day' },
      { name: 'day', value: 'DAY', summary: 'created on this day (Colombian time), such as 2026-11-16' },
      { name: 'from', value: 'DAY', summary: 'created on or after this day; needs --to' },
      { name: 'to', value: 'DAY', summary: 'created on or before this day; at most 31 days after --from' },
      { name: 'org', value: 'ID', summary: 'only this organization (see org list)' },
    ],
    details:
      'A payin must match all given options. At least an id, reference, key, CUS, transaction or day is required, because a search by amount alone would scan all payins. Shows at most 50 payins.',
    examples: ['caudal payins find --cus 4417230051', 'caudal payins find --amount 49800 --day 2026-11-16'],
  },
  {
    name: 'payins show',
    audit: 'none',
    summary: 'show a payin: status, history, rail status, anomalies, events and deliveries',
    usage: 'payins show ID',
    args: [{ name: 'ID', summary: 'the id of a payin (see payins find)' }],
    details: 'Queries the rail but does not apply its answer. Personal data is masked.',
    examples: ['caudal payins show 01990000-0000-7000-8000-000000000000 --json'],
  },
  {
    name: 'payins end',
    audit: 'with_change',
    summary: 'cancel an expired payin that its rail does not end',
    usage: 'payins end ID --by NAME --reason TEXT',
    options: [BY, REASON],
    args: [{ name: 'ID', summary: 'the id of a payin (see payins find)' }],
    details:
      "Requires that the payin has expired, that the rail's processing time has passed, and that the rail, queried by this command, lists no payment. Without a definite answer from the rail the command fails. The payin becomes CANCELED with errorCode EXPIRED, with its event. Money that arrives later becomes an anomaly.",
    examples: [
      "caudal payins end 01990000-0000-7000-8000-000000000000 --by ana --reason 'PSE confirms it was never paid'",
    ],
  },
  {
    name: 'payouts unknown',
    audit: 'none',
    summary: 'list payouts sent over a minute ago without an outcome, oldest first',
    usage: 'payouts unknown',
    details:
      'Workers keep polling the rail, and no order is executed twice. docs/operating/payouts.md describes when to intervene.',
    examples: ['caudal payouts unknown'],
  },
  {
    name: 'payouts show',
    audit: 'none',
    summary: 'show a payout and its attempts',
    usage: 'payouts show ID',
    args: [{ name: 'ID', summary: 'the id of a payout' }],
    examples: ['caudal payouts show 01990000-0000-7000-8000-000000000000'],
  },
  {
    name: 'payouts resolve',
    audit: 'with_change',
    summary: 'confirm, decline or resend a payout with an unknown outcome',
    usage: [
      'payouts resolve ID --confirm --by NAME --note TEXT',
      'payouts resolve ID --decline [--error-code CODE] [--anyway] --by NAME --note TEXT',
      'payouts resolve ID --resend --by NAME --note TEXT',
    ].join('\n'),
    options: [
      { name: 'confirm', value: null, summary: 'the receiver has received the money' },
      { name: 'decline', value: null, summary: 'the money was not sent and never will be' },
      {
        name: 'resend',
        value: null,
        summary: 'the order is lost: send it again under the same end-to-end id',
      },
      {
        name: 'error-code',
        value: 'CODE',
        summary: 'with --decline: errorCode for the merchant (default: RAIL_REJECTED)',
        choices: [
          'EXPIRED',
          'PAYER_CANCELED',
          'PAYER_ABANDONED',
          'INSUFFICIENT_FUNDS',
          'LIMIT_EXCEEDED',
          'NETWORK_LIMIT_EXCEEDED',
          'ACCOUNT_BLOCKED',
          'ACCOUNT_NOT_FOUND',
          'ACCOUNT_CLOSED',
          'KEY_NOT_FOUND',
          'KEY_SUSPENDED',
          'KEY_INVALID',
          'RECEIVER_MISMATCH',
          'BANK_UNAVAILABLE',
          'RAIL_TIMEOUT',
          'RAIL_REJECTED',
          'SUSPECTED_FRAUD',
          'INVALID_DATA',
        ],
      },
      {
        name: 'anyway',
        value: null,
        summary: 'with --decline: even if the rail reports the order as in progress',
      },
      BY,
      { name: 'note', value: 'TEXT', summary: 'evidence for the audit log', required: true },
    ],
    args: [{ name: 'ID', summary: 'the id of a payout' }],
    details:
      "The rail is queried first, and a definite answer overrides the operator's decision. --decline returns the money to the balance: if the order was executed after all, that money is lost. --resend is rejected while the rail reports the order as in progress, does not answer, or may still receive the order.",
    examples: [
      "caudal payouts resolve 01990000-0000-7000-8000-000000000000 --confirm --by ana --note 'bank statement of the 3rd'",
      "caudal payouts resolve 01990000-0000-7000-8000-000000000000 --resend --by ana --note 'the node never received it, case 4711'",
    ],
  },
] as const satisfies readonly CatalogEntry[];
