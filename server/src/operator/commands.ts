/**
 * What the server's program can be asked, as data: parsing, help and completion are all made from it. It imports
 * nothing, so that the command line for merchants shows the same words without loading the server.
 */
export interface OptionDescription {
  readonly name: string;
  /** What stands for the value in a usage line; null takes none. */
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
   * `none`: it changes nothing, and the database refuses its writes. `with_change`: its audit row commits with the change.
   * `before_and_after`: it cannot run in one transaction and writes a row before and one after.
   */
  readonly audit: 'none' | 'with_change' | 'before_and_after';
  /** It changes something, and needs `--by`, only with one of these options. */
  readonly changesWith?: readonly string[];
  /** One line, without a full stop. */
  readonly summary: string;
  /** What follows `caudal`; a line for each way to use it. */
  readonly usage: string;
  readonly options: readonly OptionDescription[];
  /** Words without dashes; each of them must be given. */
  readonly words: readonly { readonly name: string; readonly summary: string }[];
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

const REASON = { name: 'reason', value: 'TEXT', summary: 'why; kept in the audit', required: true } as const;
const ORGANIZATION = { name: 'ID', summary: 'the id of an organization (org list shows them)' } as const;

const DESCRIPTIONS = [
  {
    name: 'api',
    group: 'server',
    audit: 'none',
    summary: 'answer merchants, payers and rails',
    usage: 'api',
    options: [],
    words: [],
    details:
      'Configured by the environment (docs/reference/configuration.md). Runs until SIGTERM; /readyz says when it can be given requests.',
    examples: ['caudal api --env-file production.env'],
  },
  {
    name: 'worker',
    group: 'server',
    audit: 'none',
    summary: 'do the work that is due: rails, payouts, webhooks, schedules',
    usage: 'worker',
    options: [],
    words: [],
    details: 'Run at least one; several share the work.',
    examples: ['caudal worker --env-file production.env'],
  },
  {
    name: 'all',
    group: 'server',
    audit: 'none',
    summary: 'api and worker in one process',
    usage: 'all',
    options: [],
    words: [],
    examples: ['caudal all --env-file production.env'],
  },
  {
    name: 'migrate',
    group: 'server',
    audit: 'before_and_after',
    summary: 'bring the database to this version',
    usage: 'migrate [--by NAME]',
    options: [
      {
        name: 'by',
        value: 'NAME',
        summary: 'author for the audit log (default: CAUDAL_BY, or the user of the operating system)',
      },
    ],
    words: [],
    details:
      'Needs DATABASE_URL as the owner of the schema, who needs LOGIN and CREATEROLE and no more. Forward only, and harmless to repeat: what is applied is left alone. Start new processes after it. Writes an audit row before and one after; the first migrate of a database has no table for the first of them. Without --by and CAUDAL_BY the audit names the user of the operating system, as os:deploy.',
    examples: ['caudal migrate --by ana --env-file production.env'],
  },
  {
    name: 'doctor',
    group: 'operator',
    audit: 'none',
    summary: 'look at everything once: what is wrong, what it means, what to type',
    usage: 'doctor [--watch SECONDS]',
    options: [
      {
        name: 'watch',
        value: 'SECONDS',
        summary: 'look again every so many seconds, until Ctrl-C (1 to 3600)',
      },
    ],
    words: [],
    details:
      'Configuration and secrets, database, migrations, roles, clocks, rails, keys waiting to be registered, notices, payouts, anomalies, webhooks, schedules. Changes nothing. What is down is named, and the rest is still looked at; it takes ten seconds at most. Exit code 1 when something has failed, 0 with warnings.',
    examples: ['caudal doctor', 'caudal doctor --json', 'caudal doctor --watch 10'],
  },
  {
    name: 'config check',
    group: 'operator',
    audit: 'none',
    summary: 'read the configuration as a role would and name every fault at once',
    usage: 'config check [--role api|worker|all|migrate]',
    options: [
      {
        name: 'role',
        value: 'ROLE',
        summary: 'the role that would read it (all)',
        choices: ['api', 'worker', 'all', 'migrate'],
      },
    ],
    words: [],
    details:
      'Connects to nothing, and never shows a secret. Warns of what works and should not be: development secrets, one secret for two purposes, plain http.',
    examples: ['caudal config check --env-file production.env --role migrate'],
  },
  {
    name: 'org create',
    group: 'operator',
    audit: 'with_change',
    summary: 'create an organization and print its first API key, once',
    usage:
      "org create --name NAME --support CONTACT --by NAME [--accent '#0f766e'] [--rails BRE_B,PSE] [--city BOGOTA] [--postal-code 110111] [--category 5999] [--amount-policy EXACT|ANY]",
    options: [
      { name: 'name', value: 'NAME', summary: 'its name, as payers see it', required: true },
      {
        name: 'support',
        value: 'CONTACT',
        summary: 'where payers ask for help: an address, a number',
        required: true,
      },
      BY,
      { name: 'accent', value: 'COLOR', summary: 'color of its pages, such as #0f766e' },
      { name: 'rails', value: 'LIST', summary: 'rails it may use, with commas (all)' },
      { name: 'city', value: 'CITY', summary: 'city in its QR codes (BOGOTA)' },
      { name: 'postal-code', value: 'CODE', summary: 'postal code in its QR codes (110111)' },
      { name: 'category', value: 'CODE', summary: 'merchant category, four digits of ISO 18245 (5999)' },
      {
        name: 'amount-policy',
        value: 'POLICY',
        summary:
          'EXACT: only the requested amount confirms a direct payin; ANY: the amount that arrives does (EXACT)',
        choices: ['EXACT', 'ANY'],
      },
    ],
    words: [],
    details: 'The key has every scope and is stored nowhere: keep it, or make another with "keys create".',
    examples: ["caudal org create --by ana --name 'Tienda Aurora' --support ayuda@tienda-aurora.example"],
  },
  {
    name: 'org list',
    group: 'operator',
    audit: 'none',
    summary: 'the organizations, with their ids',
    usage: 'org list',
    options: [],
    words: [],
    examples: ['caudal org list'],
  },
  {
    name: 'org limits',
    group: 'operator',
    audit: 'with_change',
    changesWith: ['writes', 'reads'],
    summary: 'how many requests a second an organization may send: shows them, or sets its own',
    usage: 'org limits ID [--writes N|default] [--reads N|default] [--by NAME]',
    options: [
      { name: 'writes', value: 'N', summary: 'requests that change something; 0 is no limit' },
      { name: 'reads', value: 'N', summary: 'requests that only read; 0 is no limit' },
      { ...BY, summary: `${BY.summary}; required to set them`, required: false },
    ],
    words: [{ name: 'ID', summary: 'the id of an organization (org list shows them)' }],
    details:
      'As each API process counts, and it holds within a second. "default" goes back to what the deployment allows anyone (CAUDAL_WRITES_PER_SECOND, CAUDAL_READS_PER_SECOND).',
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
      { name: 'name', value: 'NAME', summary: 'its name, as payers see it' },
      { name: 'support', value: 'CONTACT', summary: 'where its payers ask for help' },
      { name: 'accent', value: 'COLOR', summary: 'the color of its pages, such as #0f766e' },
      { name: 'rails', value: 'LIST', summary: 'the rails it may use from now on, with commas' },
      {
        name: 'amount-policy',
        value: 'POLICY',
        summary: 'how payments of another amount are taken from now on',
        choices: ['EXACT', 'ANY'],
      },
    ],
    words: [ORGANIZATION],
    details:
      'What is not given stays. On a rail that is taken away nothing new is created (400 rail_not_enabled); open payins can still be paid. API processes know within a second, pages of payers within ten.',
    examples: [
      "caudal org update 01990000-0000-7000-8000-000000000000 --by ana --support ayuda@aurora.example --accent '#1d4ed8'",
      'caudal org update 01990000-0000-7000-8000-000000000000 --by ana --rails BRE_B',
    ],
  },
  {
    name: 'org show',
    group: 'operator',
    audit: 'none',
    summary: 'one organization: its details, limits, suspension and payouts that wait',
    usage: 'org show ID',
    options: [],
    words: [ORGANIZATION],
    examples: ['caudal org show 01990000-0000-7000-8000-000000000000'],
  },
  {
    name: 'org suspend',
    group: 'operator',
    audit: 'with_change',
    summary: 'freeze an organization: it creates nothing and none of its payouts is sent',
    usage: 'org suspend ID --by NAME --reason TEXT',
    options: [BY, REASON],
    words: [ORGANIZATION],
    details:
      'Creations of payins, payouts and payment links, lookups of keys and new attempts to pay a link are refused (403 organization_suspended) by every API process within a second. When the command returns, no payout of the organization leaves any more; those that were not sent wait. Reads and webhooks go on, open payins can still be paid, and what was sent is followed to its end.',
    examples: [
      "caudal org suspend 01990000-0000-7000-8000-000000000000 --by ana --reason 'orden judicial 2026-114'",
    ],
  },
  {
    name: 'org resume',
    group: 'operator',
    audit: 'with_change',
    summary: 'end the suspension of an organization; payouts that waited are sent',
    usage: 'org resume ID --by NAME --reason TEXT',
    options: [BY, REASON],
    words: [ORGANIZATION],
    examples: ["caudal org resume 01990000-0000-7000-8000-000000000000 --by ana --reason 'orden levantada'"],
  },
  {
    name: 'keys create',
    group: 'operator',
    audit: 'with_change',
    summary: 'create a further API key and print it, once',
    usage: 'keys create --org ID --name NAME --by NAME [--scopes payins:read,payins:write] [--days N]',
    options: [
      { name: 'org', value: 'ID', summary: 'the organization (org list shows them)', required: true },
      { name: 'name', value: 'NAME', summary: 'what it is for, so that you know it again', required: true },
      BY,
      { name: 'scopes', value: 'LIST', summary: 'what it may do, with commas (everything)' },
      { name: 'days', value: 'N', summary: 'it ends by itself after so many days (never)' },
    ],
    words: [],
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
    summary: 'the keys of an organization: never their secrets',
    usage: 'keys list --org ID',
    options: [
      { name: 'org', value: 'ID', summary: 'the organization (org list shows them)', required: true },
    ],
    words: [],
    examples: ['caudal keys list --org 01990000-0000-7000-8000-000000000000'],
  },
  {
    name: 'keys revoke',
    group: 'operator',
    audit: 'with_change',
    summary: 'end a key and every token made from it, within a second',
    usage: 'keys revoke KEY_ID --by NAME',
    options: [BY],
    words: [{ name: 'KEY_ID', summary: 'the id of a key (keys list shows them)' }],
    details: 'There is no way back: a key that was ended by mistake is replaced with "keys create".',
    examples: ['caudal keys revoke 0100000000000000 --by ana'],
  },
  {
    name: 'ledger deposit',
    group: 'operator',
    audit: 'with_change',
    summary: 'book money that an organization paid in; the same reference is booked once',
    usage: 'ledger deposit --org ID --amount PESOS --reference TEXT --by NAME',
    options: [
      { name: 'org', value: 'ID', summary: 'the organization (org list shows them)', required: true },
      { name: 'amount', value: 'PESOS', summary: 'such as 10000000 or 10000000.50', required: true },
      {
        name: 'reference',
        value: 'TEXT',
        summary: "what names it, such as the bank's number",
        required: true,
      },
      BY,
    ],
    words: [],
    details:
      'Payouts are paid from the available balance. Repeated with the same reference nothing is booked.',
    examples: [
      "caudal ledger deposit --org 01990000-0000-7000-8000-000000000000 --amount 10000000 --reference 'transfer 4711' --by ana",
    ],
  },
  {
    name: 'ledger reverse',
    group: 'operator',
    audit: 'with_change',
    summary: 'undo a deposit or the resolution of an anomaly, once, as far as the balance covers it',
    usage: [
      'ledger reverse --org ID --deposit REFERENCE [--amount PESOS] --reason TEXT --by NAME',
      'ledger reverse --org ID --transfer ID [--amount PESOS] --reason TEXT --by NAME',
    ].join('\n'),
    options: [
      { name: 'org', value: 'ID', summary: 'the organization of the booking', required: true },
      { name: 'deposit', value: 'REFERENCE', summary: 'the --reference of a deposit' },
      {
        name: 'transfer',
        value: 'ID',
        summary: 'the id of the booking: in the audit, and in the ledger entries of the merchant',
      },
      { name: 'amount', value: 'PESOS', summary: 'a part of a deposit (the whole booking)' },
      { name: 'reason', value: 'TEXT', summary: 'why; kept in the audit', required: true },
      BY,
    ],
    words: [],
    details:
      'Books the same accounts in the other direction. Deposits can be reversed in part; credits, charges and write-offs of anomalies only as a whole, and the anomaly is open again. Each booking is reversed at most once. Money that came or left by a rail cannot be reversed here. A reversal that the available balance does not cover is refused.',
    examples: [
      "caudal ledger reverse --org 01990000-0000-7000-8000-000000000000 --deposit 'transfer 4711' --reason 'typo in the amount' --by ana",
    ],
  },
  {
    name: 'ledger verify',
    group: 'operator',
    audit: 'none',
    summary: 'recompute every balance and name each row that does not add up',
    usage: 'ledger verify',
    options: [],
    words: [],
    details: 'Reads one snapshot while the server goes on. Exit code 1 when a row is broken.',
    examples: ['caudal ledger verify'],
  },
  {
    name: 'anomalies list',
    group: 'operator',
    audit: 'none',
    summary: 'what rails said that fits no payin or payout, and its money; oldest first',
    usage: 'anomalies list [--all]',
    options: [{ name: 'all', value: null, summary: 'those that were resolved, too' }],
    words: [],
    details:
      'Money that came with one is held in suspense until an operator decides with "anomalies resolve". One of kind payment_not_listed holds the settlement of its payin.',
    examples: ['caudal anomalies list'],
  },
  {
    name: 'anomalies resolve',
    group: 'operator',
    audit: 'with_change',
    summary: 'decide about an anomaly and move the money it holds',
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
      { name: 'credit', value: null, summary: 'money came: give it to the merchant' },
      { name: 'return', value: null, summary: 'money came: send it back, by a payout out of suspense' },
      { name: 'charge', value: null, summary: 'money left: take it from the merchant' },
      { name: 'write-off', value: null, summary: 'money left: bear it' },
      { name: 'dismiss', value: null, summary: 'no money came or left: put it away' },
      {
        name: 'release',
        value: null,
        summary: 'payment not listed: the payment exists, let the payin settle',
      },
      { name: 'reverse', value: null, summary: 'payment not listed: take its booking back' },
      { name: 'org', value: 'ID', summary: 'whose money it is, where it belongs to no payin or payout' },
      { name: 'key', value: 'BREB_KEY', summary: 'with --return: where the money goes' },
      { name: 'name', value: 'HOLDER', summary: "with --return: compared with the key's holder first" },
      { name: 'yes', value: null, summary: 'with --return: the holder that was shown is the one you mean' },
      BY,
      { name: 'note', value: 'TEXT', summary: 'why; kept in the audit' },
    ],
    words: [{ name: 'ID', summary: 'the id of an anomaly (anomalies list shows them)' }],
    details:
      'With --return whose key it is is shown first and compared with --name; should that payout be declined, the anomaly is open again.',
    examples: [
      "caudal anomalies resolve 01990000-0000-7000-8000-000000000000 --credit --by ana --note 'paid twice, merchant keeps it'",
      "caudal anomalies resolve 01990000-0000-7000-8000-000000000000 --return --key @TESTOK --name 'Janeth Smith' --by ana",
    ],
  },
  {
    name: 'payins find',
    group: 'operator',
    audit: 'none',
    summary: 'payins of any organization, by what a payer or a bank knows of them; newest first',
    usage:
      'payins find [--id ID] [--reference TEXT] [--key KEY] [--cus CUS] [--transaction ID] [--amount PESOS] [--day DAY | --from DAY --to DAY] [--org ID]',
    options: [
      { name: 'id', value: 'ID', summary: 'its id' },
      { name: 'reference', value: 'TEXT', summary: "the merchant's reference, of a payin or of its link" },
      { name: 'key', value: 'KEY', summary: 'the Bre-B key that was paid, such as @CDL01…' },
      { name: 'cus', value: 'CUS', summary: "PSE's number, as the payer's bank shows it" },
      {
        name: 'transaction',
        value: 'ID',
        summary: "our reference at PSE, or the rail's number of a payment that was booked",
      },
      { name: 'amount', value: 'PESOS', summary: 'what was asked for or what was paid; with a day' },
      { name: 'day', value: 'DAY', summary: 'created on this day of Colombia, such as 2026-11-16' },
      { name: 'from', value: 'DAY', summary: 'created on this day or later; with --to' },
      { name: 'to', value: 'DAY', summary: 'created on this day or before; at most 31 days in all' },
      { name: 'org', value: 'ID', summary: 'of this organization only (org list shows them)' },
    ],
    words: [],
    details:
      'Everything that is given must hold. At least an id, a reference, a key, a number or a day is needed: a search by amount alone would read every payin. At most 50 are shown.',
    examples: ['caudal payins find --cus 4417230051', 'caudal payins find --amount 49800 --day 2026-11-16'],
  },
  {
    name: 'payins show',
    group: 'operator',
    audit: 'none',
    summary: 'one payin: state, history, what its rail answers now, anomalies, events and deliveries',
    usage: 'payins show ID',
    options: [],
    words: [{ name: 'ID', summary: 'the id of a payin (payins find searches for it)' }],
    details: 'The rail is queried and nothing is made of its answer. Personal data is masked.',
    examples: ['caudal payins show 01990000-0000-7000-8000-000000000000 --json'],
  },
  {
    name: 'payins end',
    group: 'operator',
    audit: 'with_change',
    summary: 'end a payin that its rail never ends: CANCELED, with its event',
    usage: 'payins end ID --by NAME --reason TEXT',
    options: [BY, REASON],
    words: [{ name: 'ID', summary: 'the id of a payin (payins find searches for it)' }],
    details:
      "Only past its expiry and the rail's processing time, and only when the rail, queried by this command, lists no payment: a rail that gives no clear answer refuses. The payin becomes CANCELED with errorCode EXPIRED. Money that comes later becomes an anomaly.",
    examples: [
      "caudal payins end 01990000-0000-7000-8000-000000000000 --by ana --reason 'PSE confirms it was never paid'",
    ],
  },
  {
    name: 'payouts unknown',
    group: 'operator',
    audit: 'none',
    summary: 'payouts sent over a minute ago whose outcome the rail has not told; oldest first',
    usage: 'payouts unknown',
    options: [],
    words: [],
    details:
      'The server keeps asking by itself; nothing is sent twice. docs/operating/payouts.md says when to step in.',
    examples: ['caudal payouts unknown'],
  },
  {
    name: 'payouts show',
    group: 'operator',
    audit: 'none',
    summary: 'a payout and every time it was sent',
    usage: 'payouts show ID',
    options: [],
    words: [{ name: 'ID', summary: 'the id of a payout' }],
    examples: ['caudal payouts show 01990000-0000-7000-8000-000000000000'],
  },
  {
    name: 'payouts resolve',
    group: 'operator',
    audit: 'with_change',
    summary: 'end a payout by what you know from elsewhere, or send it again',
    usage: [
      'payouts resolve ID --confirm --by NAME --note TEXT',
      'payouts resolve ID --decline [--error-code CODE] [--anyway] --by NAME --note TEXT',
      'payouts resolve ID --resend --by NAME --note TEXT',
    ].join('\n'),
    options: [
      { name: 'confirm', value: null, summary: 'the receiver has the money' },
      { name: 'decline', value: null, summary: 'the money never left and never will' },
      {
        name: 'resend',
        value: null,
        summary: 'the order is lost: send it again under the same end-to-end id',
      },
      {
        name: 'error-code',
        value: 'CODE',
        summary: 'with --decline: the errorCode the merchant is told (RAIL_REJECTED)',
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
      { name: 'anyway', value: null, summary: 'with --decline: although the rail says it is still at it' },
      BY,
      { name: 'note', value: 'TEXT', summary: 'how you know; kept in the audit', required: true },
    ],
    words: [{ name: 'ID', summary: 'the id of a payout' }],
    details:
      "The rail is queried first; a definite rail answer overrides the operator's decision. Declined, the money goes back to the balance: if it left after all, it is lost. --resend is refused while the rail reports the order as in progress, does not answer, or may still receive it.",
    examples: [
      "caudal payouts resolve 01990000-0000-7000-8000-000000000000 --confirm --by ana --note 'bank statement of the 3rd'",
      "caudal payouts resolve 01990000-0000-7000-8000-000000000000 --resend --by ana --note 'the node never received it, case 4711'",
    ],
  },
  {
    name: 'audit list',
    group: 'operator',
    audit: 'none',
    summary: 'what operators changed: who, when, what and on what; newest first',
    usage: 'audit list [--org ID] [--by NAME] [--action COMMAND] [--since TIME]',
    options: [
      { name: 'org', value: 'ID', summary: 'only what concerns this organization' },
      { name: 'by', value: 'NAME', summary: 'only what this person did' },
      { name: 'action', value: 'COMMAND', summary: 'only this command, such as "ledger deposit"' },
      {
        name: 'since',
        value: 'TIME',
        summary: 'from this day (midnight in Bogotá) or time on: 2026-11-16, 2026-11-16T14:00:00Z',
      },
    ],
    words: [],
    details:
      'Every command that changes something is here. A command that cannot run in one transaction has two rows, "started" and then "finished" or "failed"; with "started" alone its process died or still runs. No role can change or delete a row.',
    examples: [
      'caudal audit list',
      "caudal audit list --by ana --action 'ledger deposit' --since 2026-11-16",
    ],
  },
  {
    name: 'notices unreadable',
    group: 'operator',
    audit: 'none',
    summary: 'messages of rails that nobody understood, as they came',
    usage: 'notices unreadable',
    options: [],
    words: [],
    examples: ['caudal notices unreadable'],
  },
  {
    name: 'rails pause',
    group: 'operator',
    audit: 'with_change',
    summary: 'take no payins on a rail and send it no new orders',
    usage: 'rails pause --rail BRE_B|PSE [--org ID] --reason TEXT --by NAME',
    options: [
      { name: 'rail', value: 'RAIL', summary: 'which one', required: true, choices: RAILS },
      { name: 'org', value: 'ID', summary: 'for this organization alone (for all)' },
      { name: 'reason', value: 'TEXT', summary: 'why, for whoever comes next', required: true },
      BY,
    ],
    words: [],
    details:
      'Payouts are taken and wait. What was accepted within the last second may still be sent. Notices are taken, and asking goes on.',
    examples: ["caudal rails pause --rail PSE --reason 'PSE announced work until 05:00' --by ana"],
  },
  {
    name: 'rails resume',
    group: 'operator',
    audit: 'with_change',
    summary: 'go on with a rail that was paused, with what waited first',
    usage: 'rails resume --rail BRE_B|PSE [--org ID] --by NAME',
    options: [
      { name: 'rail', value: 'RAIL', summary: 'which one', required: true, choices: RAILS },
      { name: 'org', value: 'ID', summary: 'for this organization alone (the pause for all)' },
      BY,
    ],
    words: [],
    examples: ['caudal rails resume --rail PSE --by ana'],
  },
  {
    name: 'rails list',
    group: 'operator',
    audit: 'none',
    summary: 'what is paused, since when, by whom and why',
    usage: 'rails list',
    options: [],
    words: [],
    examples: ['caudal rails list'],
  },
  {
    name: 'schedules list',
    group: 'operator',
    audit: 'none',
    summary: 'what runs by the clock, and when it was last done',
    usage: 'schedules list',
    options: [],
    words: [],
    examples: ['caudal schedules list'],
  },
  {
    name: 'schedules run',
    group: 'operator',
    audit: 'before_and_after',
    summary: 'run it now, in this process',
    usage: 'schedules run NAME --by NAME',
    options: [BY],
    words: [{ name: 'NAME', summary: 'a name (schedules list shows them)' }],
    examples: ['caudal schedules run housekeeping --by ana'],
  },
  {
    name: 'months detach',
    group: 'operator',
    audit: 'before_and_after',
    summary: 'let old months of events, deliveries, notices and histories leave, with everybody at work',
    usage: 'months detach --before YYYY-MM --by NAME',
    options: [
      {
        name: 'before',
        value: 'YYYY-MM',
        summary: 'months before this one leave; the last six whole ones never do',
        required: true,
      },
      BY,
    ],
    words: [],
    details:
      'Payins, payouts, payment links and the ledger stay: the books are checked against them. Refuses, and detaches nothing, while something of those months is still open. What is detached is a table of its own, which no API reads: events of those months are no longer listed or replayed. Needs DATABASE_URL as the owner of the schema, as migrate does. Harmless to repeat; what an interrupted run left half done is finished.',
    examples: ['caudal months detach --before 2026-01 --by ana --env-file production.env'],
  },
  {
    name: 'secrets rewrap',
    group: 'operator',
    audit: 'with_change',
    summary: 'after CAUDAL_MASTER_KEY has changed: wrap every data key by the new one',
    usage: 'secrets rewrap --by NAME',
    options: [BY],
    words: [],
    details: 'Once every process has been restarted after it, CAUDAL_MASTER_KEY_PREVIOUS can go.',
    examples: ['caudal secrets rewrap --by ana'],
  },
  {
    name: 'failpoints list',
    group: 'operator',
    audit: 'none',
    summary: 'for tests: where CAUDAL_FAILPOINT can have a process die',
    usage: 'failpoints list',
    options: [],
    words: [],
    examples: ['caudal failpoints list'],
  },
] as const satisfies readonly CommandDescription[];

/** Every command's name: whoever maps them to what they do cannot leave one out. */
export type CommandName = (typeof DESCRIPTIONS)[number]['name'];
/** Commands that write to the audit. */
export type AuditedCommandName = Exclude<(typeof DESCRIPTIONS)[number], { audit: 'none' }>['name'];
export type ServerRoleName = Extract<(typeof DESCRIPTIONS)[number], { group: 'server' }>['name'];

export const OPERATOR_COMMANDS: readonly (CommandDescription & { readonly name: CommandName })[] =
  DESCRIPTIONS;

/** What every command takes, before or after its own words. */
export const COMMON_OPTIONS: readonly OptionDescription[] = [
  { name: 'json', value: null, summary: 'print one JSON document, for programs' },
  { name: 'env-file', value: 'FILE', summary: 'read settings from a file; the environment wins over it' },
  { name: 'help', value: null, summary: "this command's help" },
];
