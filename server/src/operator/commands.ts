/**
 * The command descriptions of the server program, as data: parsing, help, completion and the docs page are generated from
 * them. This file imports nothing, so that the merchants' command line shows the same help without loading the server.
 */
export interface OptionDescription {
  readonly name: string;
  /** Placeholder of the value in the usage; null for a flag. */
  readonly value: string | null;
  readonly summary: string;
  readonly required?: boolean;
  readonly choices?: readonly string[];
}

export interface CommandDescription {
  /** As typed: `org create`. */
  readonly name: string;
  readonly group: 'server' | 'operator';
  /**
   * `none`: it changes nothing, and its transactions are read-only. `with_change`: the audit row commits with the change.
   * `before_and_after`: it cannot run in one transaction and writes an audit row before and after.
   */
  readonly audit: 'none' | 'with_change' | 'before_and_after';
  /** The command makes a change, and needs `--by`, only with one of these options. */
  readonly changesWith?: readonly string[];
  /** One line, without a period. */
  readonly summary: string;
  /** The text after `caudal`; one line per form. */
  readonly usage: string;
  readonly options: readonly OptionDescription[];
  /** Positional arguments, all required. */
  readonly args: readonly { readonly name: string; readonly summary: string }[];
  readonly details?: string;
  readonly examples?: readonly string[];
}

const RAILS = ['BRE_B', 'PSE'];

const BY = {
  name: 'by',
  value: 'NAME',
  summary: 'author for the audit log (default: CAUDAL_BY)',
  required: true,
} as const;

const REASON = {
  name: 'reason',
  value: 'TEXT',
  summary: 'reason for the audit log',
  required: true,
} as const;
const ORGANIZATION = { name: 'ID', summary: 'the id of an organization (see org list)' } as const;

const DESCRIPTIONS = [
  {
    name: 'api',
    group: 'server',
    audit: 'none',
    summary: 'serve the API, the checkout pages and rail notifications',
    usage: 'api',
    options: [],
    args: [],
    details:
      'Configured by environment variables (docs/reference/configuration.md). Runs until SIGTERM; /readyz reports whether it can accept requests.',
    examples: ['caudal api --env-file production.env'],
  },
  {
    name: 'worker',
    group: 'server',
    audit: 'none',
    summary: 'process due work: rails, payouts, webhooks, schedules',
    usage: 'worker',
    options: [],
    args: [],
    details: 'Run at least one worker; several workers share the work.',
    examples: ['caudal worker --env-file production.env'],
  },
  {
    name: 'all',
    group: 'server',
    audit: 'none',
    summary: 'api and worker in one process',
    usage: 'all',
    options: [],
    args: [],
    examples: ['caudal all --env-file production.env'],
  },
  {
    name: 'migrate',
    group: 'server',
    audit: 'before_and_after',
    summary: 'apply pending database migrations',
    usage: 'migrate [--by NAME]',
    options: [
      {
        name: 'by',
        value: 'NAME',
        summary: 'author for the audit log (default: CAUDAL_BY, or the operating system user)',
      },
    ],
    args: [],
    details:
      'Needs DATABASE_URL with the schema owner, a role with LOGIN and CREATEROLE and no other attributes. Migrations are forward only and idempotent. Start new processes afterwards. Writes an audit row before and after; the first migrate of a database writes only the second, because the audit table does not exist yet. Without --by and CAUDAL_BY the audit records the operating system user, such as os:deploy.',
    examples: ['caudal migrate --by ana --env-file production.env'],
  },
  {
    name: 'doctor',
    group: 'operator',
    audit: 'none',
    summary: 'run all health checks and show a remedy for each problem',
    usage: 'doctor [--watch SECONDS]',
    options: [
      {
        name: 'watch',
        value: 'SECONDS',
        summary: 'repeat the checks at this interval until Ctrl-C (1 to 3600)',
      },
    ],
    args: [],
    details:
      'Checks configuration and secrets, database, migrations, roles, clocks, rails, Bre-B keys waiting for registration, rail notices, payouts, anomalies, webhooks and schedules. Makes no changes except for a test write. A failed check does not stop the others; all checks end within ten seconds. Exit code 1 when a check fails, 0 with warnings only.',
    examples: ['caudal doctor', 'caudal doctor --json', 'caudal doctor --watch 10'],
  },
  {
    name: 'config check',
    group: 'operator',
    audit: 'none',
    summary: 'validate the configuration for a role and list all errors',
    usage: 'config check [--role api|worker|all|migrate]',
    options: [
      {
        name: 'role',
        value: 'ROLE',
        summary: 'role to validate for (default: all)',
        choices: ['api', 'worker', 'all', 'migrate'],
      },
    ],
    args: [],
    details:
      'Opens no connection and never prints a secret. Also warns about insecure settings: development secrets, a secret used twice, plain http.',
    examples: ['caudal config check --env-file production.env --role migrate'],
  },
  {
    name: 'org create',
    group: 'operator',
    audit: 'with_change',
    summary: 'create an organization and print its first API key',
    usage:
      "org create --name NAME --support CONTACT --by NAME [--accent '#0f766e'] [--rails BRE_B,PSE] [--city BOGOTA] [--postal-code 110111] [--category 5999] [--amount-policy EXACT|ANY]",
    options: [
      { name: 'name', value: 'NAME', summary: 'name shown to payers', required: true },
      {
        name: 'support',
        value: 'CONTACT',
        summary: 'support contact for payers: an email address or phone number',
        required: true,
      },
      BY,
      { name: 'accent', value: 'COLOR', summary: 'color of its checkout pages, such as #0f766e' },
      { name: 'rails', value: 'LIST', summary: 'enabled rails, comma-separated (default: all)' },
      { name: 'city', value: 'CITY', summary: 'city in its QR codes (default: BOGOTA)' },
      { name: 'postal-code', value: 'CODE', summary: 'postal code in its QR codes (default: 110111)' },
      { name: 'category', value: 'CODE', summary: 'ISO 18245 merchant category code (default: 5999)' },
      {
        name: 'amount-policy',
        value: 'POLICY',
        summary:
          'EXACT: only the requested amount confirms a direct payin; ANY: every amount does (default: EXACT)',
        choices: ['EXACT', 'ANY'],
      },
    ],
    args: [],
    details:
      'The API key has all scopes. It is shown once and not stored: keep it, or create another with "keys create".',
    examples: ["caudal org create --by ana --name 'Tienda Aurora' --support ayuda@tienda-aurora.example"],
  },
  {
    name: 'org list',
    group: 'operator',
    audit: 'none',
    summary: 'list organizations with their ids',
    usage: 'org list',
    options: [],
    args: [],
    examples: ['caudal org list'],
  },
  {
    name: 'org limits',
    group: 'operator',
    audit: 'with_change',
    changesWith: ['writes', 'reads'],
    summary: 'show or set the request rate limits of an organization',
    usage: 'org limits ID [--writes N|default] [--reads N|default] [--by NAME]',
    options: [
      { name: 'writes', value: 'N', summary: 'write requests per second; 0 for no limit' },
      { name: 'reads', value: 'N', summary: 'read requests per second; 0 for no limit' },
      { ...BY, summary: `${BY.summary}; required to set a limit`, required: false },
    ],
    args: [ORGANIZATION],
    details:
      'Each API process enforces the limits separately; changes apply within a second. "default" restores the limits of the deployment (CAUDAL_WRITES_PER_SECOND, CAUDAL_READS_PER_SECOND).',
    examples: [
      'caudal org limits 01990000-0000-7000-8000-000000000000',
      'caudal org limits 01990000-0000-7000-8000-000000000000 --writes 500 --reads default --by ana',
    ],
  },
  {
    name: 'org update',
    group: 'operator',
    audit: 'with_change',
    summary: 'change the name, support contact, color, rails or amount policy of an organization',
    usage:
      "org update ID --by NAME [--name NAME] [--support CONTACT] [--accent '#0f766e'] [--rails BRE_B,PSE] [--amount-policy EXACT|ANY]",
    options: [
      BY,
      { name: 'name', value: 'NAME', summary: 'name shown to payers' },
      { name: 'support', value: 'CONTACT', summary: 'support contact for payers' },
      { name: 'accent', value: 'COLOR', summary: 'color of its checkout pages, such as #0f766e' },
      { name: 'rails', value: 'LIST', summary: 'enabled rails, comma-separated' },
      {
        name: 'amount-policy',
        value: 'POLICY',
        summary: 'how payments of a different amount are handled',
        choices: ['EXACT', 'ANY'],
      },
    ],
    args: [ORGANIZATION],
    details:
      'Other fields stay unchanged. A rail that is removed rejects new payments (400 rail_not_enabled); open payins can still be paid. API processes apply changes within a second, checkout pages within ten.',
    examples: [
      "caudal org update 01990000-0000-7000-8000-000000000000 --by ana --support ayuda@aurora.example --accent '#1d4ed8'",
      'caudal org update 01990000-0000-7000-8000-000000000000 --by ana --rails BRE_B',
    ],
  },
  {
    name: 'org show',
    group: 'operator',
    audit: 'none',
    summary: 'show an organization: details, limits, suspension and waiting payouts',
    usage: 'org show ID',
    options: [],
    args: [ORGANIZATION],
    examples: ['caudal org show 01990000-0000-7000-8000-000000000000'],
  },
  {
    name: 'org suspend',
    group: 'operator',
    audit: 'with_change',
    summary: 'suspend an organization: reject its creations and hold its payouts',
    usage: 'org suspend ID --by NAME --reason TEXT',
    options: [BY, REASON],
    args: [ORGANIZATION],
    details:
      'Within a second every API process rejects new payins, payouts and payment links, key lookups and new attempts to pay a link (403 organization_suspended). Once the command returns, no more payouts of the organization are sent; unsent payouts wait. Reads and webhooks continue, open payins can still be paid, and sent payouts continue to their final state.',
    examples: [
      "caudal org suspend 01990000-0000-7000-8000-000000000000 --by ana --reason 'orden judicial 2026-114'",
    ],
  },
  {
    name: 'org resume',
    group: 'operator',
    audit: 'with_change',
    summary: 'lift the suspension of an organization and send its waiting payouts',
    usage: 'org resume ID --by NAME --reason TEXT',
    options: [BY, REASON],
    args: [ORGANIZATION],
    examples: ["caudal org resume 01990000-0000-7000-8000-000000000000 --by ana --reason 'orden levantada'"],
  },
  {
    name: 'keys create',
    group: 'operator',
    audit: 'with_change',
    summary: 'create another API key for an organization and print it once',
    usage: 'keys create --org ID --name NAME --by NAME [--scopes payins:read,payins:write] [--days N]',
    options: [
      { name: 'org', value: 'ID', summary: 'the id of an organization (see org list)', required: true },
      { name: 'name', value: 'NAME', summary: 'name of the key, such as its purpose', required: true },
      BY,
      { name: 'scopes', value: 'LIST', summary: 'scopes, comma-separated (default: all)' },
      { name: 'days', value: 'N', summary: 'days until the key expires (default: never)' },
    ],
    args: [],
    details:
      'Scopes: payins:read, payins:write, payouts:read, payouts:write, payment_links:read, payment_links:write, breb_keys:read, events:read, events:write, webhooks:read, webhooks:write, balance:read.',
    examples: [
      'caudal keys create --org 01990000-0000-7000-8000-000000000000 --name reports --by ana --scopes payins:read,balance:read --days 90',
    ],
  },
  {
    name: 'keys list',
    group: 'operator',
    audit: 'none',
    summary: 'list the API keys of an organization, without their secrets',
    usage: 'keys list --org ID',
    options: [
      { name: 'org', value: 'ID', summary: 'the id of an organization (see org list)', required: true },
    ],
    args: [],
    examples: ['caudal keys list --org 01990000-0000-7000-8000-000000000000'],
  },
  {
    name: 'keys revoke',
    group: 'operator',
    audit: 'with_change',
    summary: 'revoke an API key and its tokens, effective within a second',
    usage: 'keys revoke KEY_ID --by NAME',
    options: [BY],
    args: [{ name: 'KEY_ID', summary: 'the id of an API key (see keys list)' }],
    details: 'A revocation cannot be undone: create a replacement with "keys create".',
    examples: ['caudal keys revoke 0100000000000000 --by ana'],
  },
  {
    name: 'ledger deposit',
    group: 'operator',
    audit: 'with_change',
    summary: 'credit a deposit to an organization, once per reference',
    usage: 'ledger deposit --org ID --amount PESOS --reference TEXT --by NAME',
    options: [
      { name: 'org', value: 'ID', summary: 'the id of an organization (see org list)', required: true },
      { name: 'amount', value: 'PESOS', summary: 'amount, such as 10000000 or 10000000.50', required: true },
      {
        name: 'reference',
        value: 'TEXT',
        summary: 'unique reference, such as the bank transfer number',
        required: true,
      },
      BY,
    ],
    args: [],
    details:
      'Credits the available balance, from which payouts are paid. Idempotent: a repeated reference posts nothing.',
    examples: [
      "caudal ledger deposit --org 01990000-0000-7000-8000-000000000000 --amount 10000000 --reference 'transfer 4711' --by ana",
    ],
  },
  {
    name: 'ledger reverse',
    group: 'operator',
    audit: 'with_change',
    summary: 'reverse a deposit or the resolution of an anomaly',
    usage: [
      'ledger reverse --org ID --deposit REFERENCE [--amount PESOS] --reason TEXT --by NAME',
      'ledger reverse --org ID --transfer ID [--amount PESOS] --reason TEXT --by NAME',
    ].join('\n'),
    options: [
      { name: 'org', value: 'ID', summary: 'the id of the organization of the transfer', required: true },
      { name: 'deposit', value: 'REFERENCE', summary: 'the --reference of a deposit' },
      {
        name: 'transfer',
        value: 'ID',
        summary: "the id of the transfer (see audit list, or the merchant's ledger entries)",
      },
      { name: 'amount', value: 'PESOS', summary: 'part of a deposit (default: the whole transfer)' },
      REASON,
      BY,
    ],
    args: [],
    details:
      'Posts a transfer between the same accounts in the other direction. Deposits can be reversed in part; credits, charges and write-offs of anomalies only in full, which reopens the anomaly. Each transfer can be reversed once. Money that entered or left through a rail cannot be reversed here. A reversal that the available balance does not cover is rejected.',
    examples: [
      "caudal ledger reverse --org 01990000-0000-7000-8000-000000000000 --deposit 'transfer 4711' --reason 'typo in the amount' --by ana",
    ],
  },
  {
    name: 'ledger verify',
    group: 'operator',
    audit: 'none',
    summary: 'recompute all balances and list inconsistent rows',
    usage: 'ledger verify',
    options: [],
    args: [],
    details: 'Reads one snapshot while the server keeps running. Exit code 1 when a row is inconsistent.',
    examples: ['caudal ledger verify'],
  },
  {
    name: 'anomalies list',
    group: 'operator',
    audit: 'none',
    summary: 'list open anomalies: rail reports that match no payin or payout, oldest first',
    usage: 'anomalies list [--all]',
    options: [{ name: 'all', value: null, summary: 'include resolved anomalies' }],
    args: [],
    details:
      'The money of an anomaly stays in suspense until an operator decides with "anomalies resolve". An anomaly of kind payment_not_listed holds the settlement of its payin.',
    examples: ['caudal anomalies list'],
  },
  {
    name: 'anomalies resolve',
    group: 'operator',
    audit: 'with_change',
    summary: 'resolve an anomaly and move its money',
    usage: [
      'anomalies resolve ID --credit [--org ID] --by NAME [--note TEXT]',
      'anomalies resolve ID --return --key BREB_KEY [--name HOLDER | --yes] --by NAME [--note TEXT]',
      'anomalies resolve ID --charge [--org ID] --by NAME [--note TEXT]',
      'anomalies resolve ID --write-off --by NAME [--note TEXT]',
      'anomalies resolve ID --dismiss --by NAME [--note TEXT]',
      'anomalies resolve ID --release --by NAME [--note TEXT]',
      'anomalies resolve ID --reverse --by NAME [--note TEXT]',
    ].join('\n'),
    options: [
      { name: 'credit', value: null, summary: 'incoming money: credit it to the merchant' },
      { name: 'return', value: null, summary: 'incoming money: return it with a payout from suspense' },
      { name: 'charge', value: null, summary: 'outgoing money: charge it to the merchant' },
      { name: 'write-off', value: null, summary: 'outgoing money: write it off as our loss' },
      { name: 'dismiss', value: null, summary: 'no money involved: close the anomaly' },
      {
        name: 'release',
        value: null,
        summary: 'payment not listed: the payment exists, so let the payin settle',
      },
      { name: 'reverse', value: null, summary: 'payment not listed: reverse the payment' },
      {
        name: 'org',
        value: 'ID',
        summary: 'the organization that owns the money, if it has no payin or payout',
      },
      { name: 'key', value: 'BREB_KEY', summary: 'with --return: the Bre-B key that receives the money' },
      { name: 'name', value: 'HOLDER', summary: 'with --return: the expected holder of the key' },
      { name: 'yes', value: null, summary: 'with --return: confirm the holder that was shown' },
      BY,
      { name: 'note', value: 'TEXT', summary: 'note for the audit log' },
    ],
    args: [{ name: 'ID', summary: 'the id of an anomaly (see anomalies list)' }],
    details:
      'With --return the holder of the key is looked up and compared with --name before money moves. If the return payout is declined, the anomaly is reopened.',
    examples: [
      "caudal anomalies resolve 01990000-0000-7000-8000-000000000000 --credit --by ana --note 'paid twice, merchant keeps it'",
      "caudal anomalies resolve 01990000-0000-7000-8000-000000000000 --return --key @TESTOK --name 'Janeth Smith' --by ana",
    ],
  },
  {
    name: 'payins find',
    group: 'operator',
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
    args: [],
    details:
      'A payin must match all given options. At least an id, reference, key, CUS, transaction or day is required, because a search by amount alone would scan all payins. Shows at most 50 payins.',
    examples: ['caudal payins find --cus 4417230051', 'caudal payins find --amount 49800 --day 2026-11-16'],
  },
  {
    name: 'payins show',
    group: 'operator',
    audit: 'none',
    summary: 'show a payin: status, history, rail status, anomalies, events and deliveries',
    usage: 'payins show ID',
    options: [],
    args: [{ name: 'ID', summary: 'the id of a payin (see payins find)' }],
    details: 'Queries the rail but does not apply its answer. Personal data is masked.',
    examples: ['caudal payins show 01990000-0000-7000-8000-000000000000 --json'],
  },
  {
    name: 'payins end',
    group: 'operator',
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
    group: 'operator',
    audit: 'none',
    summary: 'list payouts sent over a minute ago without an outcome, oldest first',
    usage: 'payouts unknown',
    options: [],
    args: [],
    details:
      'Workers keep polling the rail, and no order is executed twice. docs/operating/payouts.md describes when to intervene.',
    examples: ['caudal payouts unknown'],
  },
  {
    name: 'payouts show',
    group: 'operator',
    audit: 'none',
    summary: 'show a payout and its attempts',
    usage: 'payouts show ID',
    options: [],
    args: [{ name: 'ID', summary: 'the id of a payout' }],
    examples: ['caudal payouts show 01990000-0000-7000-8000-000000000000'],
  },
  {
    name: 'payouts resolve',
    group: 'operator',
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
  {
    name: 'audit list',
    group: 'operator',
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
    args: [],
    details:
      'Every command that makes a change writes an audit row. A command that cannot run in one transaction writes two, "started" and then "finished" or "failed"; with "started" alone the command crashed or is still running. No role can change or delete a row.',
    examples: [
      'caudal audit list',
      "caudal audit list --by ana --action 'ledger deposit' --since 2026-11-16",
    ],
  },
  {
    name: 'notices unreadable',
    group: 'operator',
    audit: 'none',
    summary: 'list rail notices that could not be parsed',
    usage: 'notices unreadable',
    options: [],
    args: [],
    examples: ['caudal notices unreadable'],
  },
  {
    name: 'rails pause',
    group: 'operator',
    audit: 'with_change',
    summary: 'pause a rail: reject new payins and send no new orders',
    usage: 'rails pause --rail BRE_B|PSE [--org ID] --reason TEXT --by NAME',
    options: [
      { name: 'rail', value: 'RAIL', summary: 'the rail', required: true, choices: RAILS },
      { name: 'org', value: 'ID', summary: 'only for this organization (default: all)' },
      { name: 'reason', value: 'TEXT', summary: 'reason, shown to other operators', required: true },
      BY,
    ],
    args: [],
    details:
      'Payouts are accepted and wait. Orders accepted within the last second may still be sent. Rail notices are processed and polling continues.',
    examples: ["caudal rails pause --rail PSE --reason 'PSE announced work until 05:00' --by ana"],
  },
  {
    name: 'rails resume',
    group: 'operator',
    audit: 'with_change',
    summary: 'resume a paused rail and send the waiting orders',
    usage: 'rails resume --rail BRE_B|PSE [--org ID] --by NAME',
    options: [
      { name: 'rail', value: 'RAIL', summary: 'the rail', required: true, choices: RAILS },
      { name: 'org', value: 'ID', summary: 'the pause of this organization (default: the pause for all)' },
      BY,
    ],
    args: [],
    examples: ['caudal rails resume --rail PSE --by ana'],
  },
  {
    name: 'rails list',
    group: 'operator',
    audit: 'none',
    summary: 'list rail pauses with their time, author and reason',
    usage: 'rails list',
    options: [],
    args: [],
    examples: ['caudal rails list'],
  },
  {
    name: 'schedules list',
    group: 'operator',
    audit: 'none',
    summary: 'list schedules with their last successful run',
    usage: 'schedules list',
    options: [],
    args: [],
    examples: ['caudal schedules list'],
  },
  {
    name: 'schedules run',
    group: 'operator',
    audit: 'before_and_after',
    summary: 'run a schedule now, in this process',
    usage: 'schedules run NAME --by NAME',
    options: [BY],
    args: [{ name: 'NAME', summary: 'the name of a schedule (see schedules list)' }],
    examples: ['caudal schedules run housekeeping --by ana'],
  },
  {
    name: 'months detach',
    group: 'operator',
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
    args: [],
    details:
      'Detaches partitions of events, deliveries, rail notices and histories. Payins, payouts, payment links and the ledger stay, because the ledger is verified against them. Fails without detaching anything while rows of those months are still open. A detached partition becomes a standalone table that the API does not read: its events are no longer listed or replayed. Needs DATABASE_URL with the schema owner, as migrate does. Safe to repeat: it completes an interrupted run.',
    examples: ['caudal months detach --before 2026-01 --by ana --env-file production.env'],
  },
  {
    name: 'secrets rewrap',
    group: 'operator',
    audit: 'with_change',
    summary: 'rewrap all data keys with the current CAUDAL_MASTER_KEY',
    usage: 'secrets rewrap --by NAME',
    options: [BY],
    args: [],
    details:
      'Run it after a master key rotation. Then restart every process and remove CAUDAL_MASTER_KEY_PREVIOUS.',
    examples: ['caudal secrets rewrap --by ana'],
  },
  {
    name: 'failpoints list',
    group: 'operator',
    audit: 'none',
    summary: 'for tests: list the values of CAUDAL_FAILPOINT, where a process can be killed',
    usage: 'failpoints list',
    options: [],
    args: [],
    examples: ['caudal failpoints list'],
  },
] as const satisfies readonly CommandDescription[];

/** All command names, so that a Record of commands without one of them is a compile error. */
export type CommandName = (typeof DESCRIPTIONS)[number]['name'];
/** Commands that write audit rows. */
export type AuditedCommandName = Exclude<(typeof DESCRIPTIONS)[number], { audit: 'none' }>['name'];
export type ServerRoleName = Extract<(typeof DESCRIPTIONS)[number], { group: 'server' }>['name'];

export const OPERATOR_COMMANDS: readonly (CommandDescription & { readonly name: CommandName })[] =
  DESCRIPTIONS;

/** Options that every command accepts, before or after its own arguments. */
export const COMMON_OPTIONS: readonly OptionDescription[] = [
  { name: 'json', value: null, summary: 'print one JSON document, for programs' },
  {
    name: 'env-file',
    value: 'FILE',
    summary: 'read settings from a file; environment variables override it',
  },
  { name: 'help', value: null, summary: 'show the help of this command' },
];
