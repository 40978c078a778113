/** What removes the rows of a table, or the personal data in them. */
export type RetentionEnd =
  /** Kept as long as the deployment exists. */
  | 'never'
  /** `months detach`: at least six whole months are kept; the operator decides when. */
  | 'months_detach'
  /** The schedule `housekeeping` deletes expired rows. */
  | 'housekeeping'
  /** Rows stay; the schedule `personal-data` erases their personal data after the legal retention. */
  | 'erasure'
  /** The row is deleted by the change that makes it unnecessary. */
  | 'change';

export interface TableRetention {
  readonly table: string;
  readonly kept: string;
  readonly reason: string;
  readonly endedBy: RetentionEnd;
  /** Columns with personal data of payers and receivers, encrypted or as keyed hashes. */
  readonly personal: readonly string[];
}

function rows(
  endedBy: RetentionEnd,
  kept: string,
  tables: Readonly<Record<string, readonly [reason: string, ...personal: string[]]>>,
): TableRetention[] {
  return Object.entries(tables).map(([table, [reason, ...personal]]) => ({
    table,
    kept,
    reason,
    endedBy,
    personal,
  }));
}

const DEPLOYMENT = 'as long as the deployment exists';
const PERSONAL_DATA =
  'rows as long as the deployment exists; personal data until an erasure, or the legal retention after the last change';
const MONTHS =
  'at least six whole months; a detached month until the operator drops its table and deletes its archive, at most the legal retention';

/** How long each table is kept, and why. A test compares it with the tables that exist. */
export const RETENTION_POLICY: readonly TableRetention[] = [
  ...rows('erasure', PERSONAL_DATA, {
    payins: [
      'accounting record; the ledger is verified against it',
      'customer',
      'customer_index',
      'metadata',
    ],
    payouts: [
      'accounting record; the ledger is verified against it',
      'customer',
      'customer_index',
      'metadata',
      'receiver',
      'receiver_index',
      'holder',
    ],
    payment_links: ['accounting record', 'customer', 'customer_index', 'metadata', 'description'],
    payer_authorizations: ['proof of the consent; text and time stay after an erasure', 'evidence'],
  }),
  ...rows('never', DEPLOYMENT, {
    ledger_balances: ['the money of the organizations'],
    ledger_transfers: ['accounting record; balances are the sums of all transfers'],
    ledger_causes: ['a cause is posted once'],
    ledger_subtotals: ['sums of the shared accounts'],
    settlements: ['accounting record'],
    deposits: ['accounting record'],
    anomalies: ['accounting record of money in suspense'],
    payout_executions: ['an execution of a rail is accounted for once'],
    breb_keys: ['a key belongs to one payin; late payments are matched'],
    resource_references: ['a reference is used once'],
    final_events: ['one final event per resource'],
    receipts: ['codes on receipts can be verified at any time'],
    operator_actions: ['audit log, append only'],
    merchant_actions: ['audit log, append only'],
    organizations: ['owner of every other row'],
    organization_keys: ['decrypts the rows; deleted when no row needs the key'],
    organization_hash_keys: ['finds keyed hashes'],
    organization_logos: ['shown on pages of payers'],
    key_rotations: ['the state of the last rotation of each organization'],
    api_keys: ['names the author of each resource'],
    webhook_endpoints: ['names the receiver of each delivery'],
    webhook_queues: ['one row per endpoint'],
    lookup_buckets: ['one row per organization'],
    payout_limits: ['settings of an organization'],
    pse_banks: ['the last bank list'],
    deployment: ['one row'],
    id_clock: ['one row'],
    clock_steps: ['explains ids that are ahead of time'],
    write_probe: ['one row'],
    monthly_tables: ['the partitioned tables'],
    ledger_status: ['one row'],
    sending_guard: ['one row'],
    backup_check: ['one row'],
    restored_orders: ['orders that only the rail had after a restore are not sent again', 'receiver_index'],
  }),
  ...rows('months_detach', MONTHS, {
    events: ['merchants list and replay them', 'payload'],
    webhook_deliveries: ['merchants list and replay them'],
    webhook_attempts: ['support', 'answer'],
    rail_notices: ['evidence of what a rail reported', 'raw'],
    payin_history: ['support'],
    payout_history: ['support'],
    payout_attempts: ['support'],
  }),
  ...rows('housekeeping', '30 days', {
    idempotency_keys: ['replays of requests', 'body_hash'],
    receipt_emails: ['limit per day; the address is removed when the e-mail is sent', 'address'],
  }),
  ...rows('housekeeping', 'one day after they expire', {
    access_tokens: ['credentials'],
    breb_lookups: ['a payout uses a lookup', 'receiver_index', 'holder'],
  }),
  ...rows('housekeeping', 'some days', {
    credential_changes: ['processes read them within a second'],
    payout_usage: ['limits per day'],
  }),
  ...rows('change', 'until they are changed or released', {
    rail_pauses: ['deleted when the rail is resumed'],
    person_holds: ['deleted when the hold is released', 'person', 'identifier'],
    api_key_networks: ['at most some networks per API key'],
    merchant_payouts: ['deleted by the transaction that writes them'],
    merchant_changes: ['deleted by the transaction that writes them'],
    continuity_marks: ['deleted after a day, when newer marks are written'],
  }),
];
