import { queryRecords } from '../db/records.ts';
import { type Statement, statement, type Tx } from '../db/tx.ts';
import type { Actor } from '../kit/actor.ts';
import type { Cents } from '../kit/money.ts';

/** Rows per kind: an operator reads them, and a month of a busy key has millions. The newest are those of a thief. */
export const MAX_ROWS = 1000;

/** `created_at` is the start of the transaction and the id is stamped before it: both bounds, the id's with slack. */
const SPAN = (created: string) =>
  `organization_id = $1 and created_by = $2 and ${created} >= $3 and ${created} < $4
     and id >= caudal.uuid_floor($3::timestamptz - interval '1 minute')
     and id < caudal.uuid_floor($4::timestamptz + interval '1 minute')
   order by id desc limit $5`;

interface Created {
  readonly id: string;
  readonly createdAt: Date;
}

interface CreatedPayment extends Created {
  readonly reference: string;
  readonly amount: Cents;
  readonly status: string;
}

interface CreatedPayout extends CreatedPayment {
  /** No attempt to send it was committed, so that it can still be canceled. */
  readonly unsent: boolean;
}

interface CreatedEndpoint extends Created {
  readonly status: string;
}

interface CausedTransfer extends Created {
  readonly debit: string;
  readonly credit: string;
  readonly amount: Cents;
  readonly cause: string;
  readonly resourceId: string | null;
}

interface RecordedAction extends Created {
  readonly action: string;
  readonly resourceId: string | null;
}

/** What one API key did: the newest rows of each kind, oldest first. No personal data. */
export interface KeyActivity {
  readonly payins: readonly CreatedPayment[];
  readonly payouts: readonly CreatedPayout[];
  readonly paymentLinks: readonly CreatedPayment[];
  readonly webhookEndpoints: readonly CreatedEndpoint[];
  readonly keyLookups: readonly Created[];
  readonly acceptedAnomalies: readonly (Created & { readonly payinId: string; readonly amount: Cents })[];
  readonly actions: readonly RecordedAction[];
  readonly transfers: readonly CausedTransfer[];
}

const of = (name: string, columns: string, table: string, created = 'created_at') =>
  statement(
    `key-activity.${name}`,
    `select id, ${created} as created_at, ${columns} from caudal.${table} where ${SPAN(created)}`,
  );

const STATEMENTS: Readonly<Record<keyof KeyActivity, Statement>> = {
  payins: of('payins', 'reference, amount_in_cents, status', 'payins'),
  payouts: of(
    'payouts',
    "reference, amount_in_cents, status, status = 'PROCESSING' and attempts = 0 as unsent",
    'payouts',
  ),
  paymentLinks: of('payment-links', 'reference, amount_in_cents, status', 'payment_links'),
  webhookEndpoints: of(
    'webhook-endpoints',
    "case when deleted_at is null then status else 'DELETED' end as status",
    'webhook_endpoints',
  ),
  keyLookups: of('lookups', 'expires_at', 'breb_lookups', 'resolved_at'),
  acceptedAnomalies: statement(
    'key-activity.accepted-anomalies',
    // Earlier versions stored the bare id of the API key.
    `select id, accepted_at as created_at, payin_id, amount_in_cents from caudal.anomalies
     where organization_id = $1 and accepted_by in ($2, replace($2, 'key:', ''))
       and accepted_at >= $3 and accepted_at < $4
     order by accepted_at desc limit $5`,
  ),
  actions: of('actions', 'action, resource_id', 'merchant_actions', 'at'),
  transfers: of(
    'transfers',
    'debit_account as debit, credit_account as credit, amount_in_cents, cause_kind as cause, resource_id',
    'ledger_transfers',
    'at',
  ),
};

export interface ActivitySpan {
  readonly organizationId: string;
  readonly createdBy: Actor;
  readonly since: Date;
  /** Exclusive. */
  readonly until: Date;
  readonly maxRows: number;
}

/**
 * Reads the rows of an API key through the primary keys, backwards: no index on `created_by` slows every creation down.
 * @returns the newest rows of each kind, and whether older ones were left out
 */
export async function readActivity(
  tx: Tx,
  { organizationId, createdBy, since, until, maxRows }: ActivitySpan,
): Promise<{ readonly activity: KeyActivity; readonly truncated: boolean }> {
  const activity: Record<string, readonly object[]> = {};
  let truncated = false;
  for (const [kind, rows] of Object.entries(STATEMENTS)) {
    // One more than is listed shows whether there are older ones.
    const values = [organizationId, createdBy, since, until, maxRows + 1];
    const found = await queryRecords<object>(tx, rows, values);
    truncated ||= found.length > maxRows;
    activity[kind] = found.slice(0, maxRows).toReversed();
  }
  return { activity: activity as unknown as KeyActivity, truncated };
}
