/**
 * What the server's program can be asked, as data: parsing, help and completion are all made from it. It imports
 * nothing, so that the command line for merchants shows the same words without loading the server.
 */
export interface OptionWords {
  readonly name: string;
  /** What stands for the value in a usage line; null takes none. */
  readonly value: string | null;
  readonly summary: string;
  readonly required?: boolean;
  readonly choices?: readonly string[];
}

export interface CommandWords {
  /** As typed: `org create`. */
  readonly name: string;
  readonly group: 'server' | 'operator';
  /** One line, without a full stop. */
  readonly summary: string;
  /** What follows `caudal`; a line for each way to use it. */
  readonly usage: string;
  readonly options: readonly OptionWords[];
  /** Words without dashes; each of them must be given. */
  readonly words: readonly { readonly name: string; readonly summary: string }[];
  readonly details?: string;
  readonly examples?: readonly string[];
}

const RAILS = ['BRE_B', 'PSE'];

const BY = { name: 'by', value: 'NAME', summary: 'who decides; kept in the audit', required: true } as const;

const WORDS = [
  {
    name: 'api',
    group: 'server',
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
    summary: 'api and worker in one process',
    usage: 'all',
    options: [],
    words: [],
    examples: ['caudal all --env-file production.env'],
  },
  {
    name: 'migrate',
    group: 'server',
    summary: 'bring the database to this version',
    usage: 'migrate',
    options: [],
    words: [],
    details:
      'Needs DATABASE_URL as the owner of the schema, who may create roles. Forward only, and harmless to repeat: what is applied is left alone. Start new processes after it.',
    examples: ['caudal migrate --env-file production.env'],
  },
  {
    name: 'doctor',
    group: 'operator',
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
    summary: 'create an organization and print its first API key, once',
    usage:
      "org create --name NAME --support CONTACT [--accent '#0f766e'] [--rails BRE_B,PSE] [--city BOGOTA] [--postal-code 110111] [--category 5999]",
    options: [
      { name: 'name', value: 'NAME', summary: 'its name, as payers see it', required: true },
      {
        name: 'support',
        value: 'CONTACT',
        summary: 'where payers ask for help: an address, a number',
        required: true,
      },
      { name: 'accent', value: 'COLOUR', summary: 'colour of its pages, such as #0f766e' },
      { name: 'rails', value: 'LIST', summary: 'rails it may use, with commas (all)' },
      { name: 'city', value: 'CITY', summary: 'city in its QR codes (BOGOTA)' },
      { name: 'postal-code', value: 'CODE', summary: 'postal code in its QR codes (110111)' },
      { name: 'category', value: 'CODE', summary: 'merchant category, four digits of ISO 18245 (5999)' },
    ],
    words: [],
    details: 'The key has every scope and is stored nowhere: keep it, or make another with "keys create".',
    examples: ["caudal org create --name 'Tienda Aurora' --support ayuda@tienda-aurora.example"],
  },
  {
    name: 'org list',
    group: 'operator',
    summary: 'the organizations, with their ids',
    usage: 'org list',
    options: [],
    words: [],
    examples: ['caudal org list'],
  },
  {
    name: 'org limits',
    group: 'operator',
    summary: 'how many requests a second an organization may send: shows them, or sets its own',
    usage: 'org limits ID [--writes N|default] [--reads N|default]',
    options: [
      { name: 'writes', value: 'N', summary: 'requests that change something; 0 is no limit' },
      { name: 'reads', value: 'N', summary: 'requests that only read; 0 is no limit' },
    ],
    words: [{ name: 'ID', summary: 'the id of an organization (org list shows them)' }],
    details:
      'As each API process counts, and it holds within a second. "default" goes back to what the deployment allows anyone (CAUDAL_WRITES_PER_SECOND, CAUDAL_READS_PER_SECOND).',
    examples: [
      'caudal org limits 01990000-0000-7000-8000-000000000000',
      'caudal org limits 01990000-0000-7000-8000-000000000000 --writes 500 --reads default',
    ],
  },
  {
    name: 'keys create',
    group: 'operator',
    summary: 'create a further API key and print it, once',
    usage: 'keys create --org ID --name NAME [--scopes payins:read,payins:write] [--days N]',
    options: [
      { name: 'org', value: 'ID', summary: 'the organization (org list shows them)', required: true },
      { name: 'name', value: 'NAME', summary: 'what it is for, so that you know it again', required: true },
      { name: 'scopes', value: 'LIST', summary: 'what it may do, with commas (everything)' },
      { name: 'days', value: 'N', summary: 'it ends by itself after so many days (never)' },
    ],
    words: [],
    details:
      'Scopes: payins:read, payins:write, payouts:read, payouts:write, payment_links:read, payment_links:write, breb_keys:read, events:read, events:write, webhooks:read, webhooks:write, balance:read.',
    examples: [
      'caudal keys create --org 01990000-0000-7000-8000-000000000000 --name reports --scopes payins:read,balance:read --days 90',
    ],
  },
  {
    name: 'keys list',
    group: 'operator',
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
    summary: 'end a key and every token made from it, within a second',
    usage: 'keys revoke KEY_ID',
    options: [],
    words: [{ name: 'KEY_ID', summary: 'the id of a key (keys list shows them)' }],
    details: 'There is no way back: a key that was ended by mistake is replaced with "keys create".',
    examples: ['caudal keys revoke 0100000000000000'],
  },
  {
    name: 'ledger deposit',
    group: 'operator',
    summary: 'book money that an organization paid in; the same reference is booked once',
    usage: 'ledger deposit --org ID --amount PESOS --reference TEXT',
    options: [
      { name: 'org', value: 'ID', summary: 'the organization (org list shows them)', required: true },
      { name: 'amount', value: 'PESOS', summary: 'such as 10000000 or 10000000.50', required: true },
      {
        name: 'reference',
        value: 'TEXT',
        summary: "what names it, such as the bank's number",
        required: true,
      },
    ],
    words: [],
    details:
      'Payouts are paid from the available balance. Repeated with the same reference nothing is booked.',
    examples: [
      "caudal ledger deposit --org 01990000-0000-7000-8000-000000000000 --amount 10000000 --reference 'transfer 4711'",
    ],
  },
  {
    name: 'ledger verify',
    group: 'operator',
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
    summary: 'what rails said that fits no payin or payout, and its money; oldest first',
    usage: 'anomalies list [--all]',
    options: [{ name: 'all', value: null, summary: 'those that were resolved, too' }],
    words: [],
    details: 'Money that came with one is held in suspense until somebody decides with "anomalies resolve".',
    examples: ['caudal anomalies list'],
  },
  {
    name: 'anomalies resolve',
    group: 'operator',
    summary: 'decide about an anomaly and move the money it holds',
    usage: [
      'anomalies resolve ID --credit [--org ID] --by NAME [--note TEXT]',
      'anomalies resolve ID --return --key BREB_KEY [--name HOLDER | --yes] --by NAME [--note TEXT]',
      'anomalies resolve ID --charge [--org ID] --by NAME [--note TEXT]',
      'anomalies resolve ID --write-off --by NAME [--note TEXT]',
      'anomalies resolve ID --dismiss --by NAME [--note TEXT]',
    ].join('\n'),
    options: [
      { name: 'credit', value: null, summary: 'money came: give it to the merchant' },
      { name: 'return', value: null, summary: 'money came: send it back, by a payout out of suspense' },
      { name: 'charge', value: null, summary: 'money left: take it from the merchant' },
      { name: 'write-off', value: null, summary: 'money left: bear it' },
      { name: 'dismiss', value: null, summary: 'no money came or left: put it away' },
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
    name: 'payouts unknown',
    group: 'operator',
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
    summary: 'a payout and every time it was sent',
    usage: 'payouts show ID',
    options: [],
    words: [{ name: 'ID', summary: 'the id of a payout' }],
    examples: ['caudal payouts show 01990000-0000-7000-8000-000000000000'],
  },
  {
    name: 'payouts resolve',
    group: 'operator',
    summary: 'end a payout by what you know from elsewhere',
    usage: [
      'payouts resolve ID --confirm --by NAME --note TEXT',
      'payouts resolve ID --decline [--error-code CODE] [--anyway] --by NAME --note TEXT',
    ].join('\n'),
    options: [
      { name: 'confirm', value: null, summary: 'the receiver has the money' },
      { name: 'decline', value: null, summary: 'the money never left and never will' },
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
      'The rail is asked once more first, and a clear answer wins over your word. Declined, the money goes back to the balance: if it left after all, it is lost.',
    examples: [
      "caudal payouts resolve 01990000-0000-7000-8000-000000000000 --confirm --by ana --note 'bank statement of the 3rd'",
    ],
  },
  {
    name: 'audit list',
    group: 'operator',
    summary: 'what operators decided about money, newest first',
    usage: 'audit list',
    options: [],
    words: [],
    examples: ['caudal audit list'],
  },
  {
    name: 'notices unreadable',
    group: 'operator',
    summary: 'messages of rails that nobody understood, as they came',
    usage: 'notices unreadable',
    options: [],
    words: [],
    examples: ['caudal notices unreadable'],
  },
  {
    name: 'rails pause',
    group: 'operator',
    summary: 'take no payins on a rail and send it no new orders',
    usage: 'rails pause --rail BRE_B|PSE [--org ID] --reason TEXT --by NAME',
    options: [
      { name: 'rail', value: 'RAIL', summary: 'which one', required: true, choices: RAILS },
      { name: 'org', value: 'ID', summary: 'for this organization alone (for all)' },
      { name: 'reason', value: 'TEXT', summary: 'why, for whoever comes next', required: true },
      { name: 'by', value: 'NAME', summary: 'who pauses it', required: true },
    ],
    words: [],
    details:
      'Payouts are taken and wait. What was accepted within the last second may still be sent. Notices are taken, and asking goes on.',
    examples: ["caudal rails pause --rail PSE --reason 'PSE announced work until 05:00' --by ana"],
  },
  {
    name: 'rails resume',
    group: 'operator',
    summary: 'go on with a rail that was paused, with what waited first',
    usage: 'rails resume --rail BRE_B|PSE [--org ID]',
    options: [
      { name: 'rail', value: 'RAIL', summary: 'which one', required: true, choices: RAILS },
      { name: 'org', value: 'ID', summary: 'for this organization alone (the pause for all)' },
    ],
    words: [],
    examples: ['caudal rails resume --rail PSE'],
  },
  {
    name: 'rails list',
    group: 'operator',
    summary: 'what is paused, since when, by whom and why',
    usage: 'rails list',
    options: [],
    words: [],
    examples: ['caudal rails list'],
  },
  {
    name: 'schedules list',
    group: 'operator',
    summary: 'what runs by the clock, and when it was last done',
    usage: 'schedules list',
    options: [],
    words: [],
    examples: ['caudal schedules list'],
  },
  {
    name: 'schedules run',
    group: 'operator',
    summary: 'run it now, in this process',
    usage: 'schedules run NAME',
    options: [],
    words: [{ name: 'NAME', summary: 'a name (schedules list shows them)' }],
    examples: ['caudal schedules run keep-house'],
  },
  {
    name: 'months detach',
    group: 'operator',
    summary: 'let old months of events, deliveries, notices and histories leave, with everybody at work',
    usage: 'months detach --before YYYY-MM',
    options: [
      {
        name: 'before',
        value: 'YYYY-MM',
        summary: 'months before this one leave; the last six whole ones never do',
        required: true,
      },
    ],
    words: [],
    details:
      'Payins, payouts, payment links and the ledger stay: the books are checked against them. Refuses, and detaches nothing, while something of those months is still open. What is detached is a table of its own, which no API reads: events of those months are no longer listed or replayed. Needs DATABASE_URL as the owner of the schema, as migrate does. Harmless to repeat; what an interrupted run left half done is finished.',
    examples: ['caudal months detach --before 2026-01 --env-file production.env'],
  },
  {
    name: 'secrets rewrap',
    group: 'operator',
    summary: 'after CAUDAL_MASTER_KEY has changed: wrap every data key by the new one',
    usage: 'secrets rewrap',
    options: [],
    words: [],
    details: 'Once every process has been restarted after it, CAUDAL_MASTER_KEY_PREVIOUS can go.',
    examples: ['caudal secrets rewrap'],
  },
  {
    name: 'failpoints list',
    group: 'operator',
    summary: 'for tests: where CAUDAL_FAILPOINT can have a process die',
    usage: 'failpoints list',
    options: [],
    words: [],
    examples: ['caudal failpoints list'],
  },
] as const satisfies readonly CommandWords[];

/** Every command's name: whoever maps them to what they do cannot leave one out. */
export type CommandName = (typeof WORDS)[number]['name'];
export type ServerRoleName = Extract<(typeof WORDS)[number], { group: 'server' }>['name'];

export const COMMAND_WORDS: readonly (CommandWords & { readonly name: CommandName })[] = WORDS;

/** What every command takes, before or after its own words. */
export const COMMON_OPTIONS: readonly OptionWords[] = [
  { name: 'json', value: null, summary: 'print one JSON document, for programs' },
  { name: 'env-file', value: 'FILE', summary: 'read settings from a file; the environment wins over it' },
  { name: 'help', value: null, summary: "this command's help" },
];
