import { customerIndex } from '../customers/customer-index.ts';
import {
  bytes,
  copied,
  type FieldsOf,
  fieldEncryptor,
  fieldPicker,
  insertSelect,
  integer,
  nullable,
  type RowId,
  type RowOf,
  rowReader,
  selectList,
  text,
  time,
  uuid,
} from '../db/columns.ts';
import { ROW_IDS, RowSet } from '../db/records.ts';
import { type StateChange, statement, type Tx } from '../db/tx.ts';
import type { Actor } from '../kit/actor.ts';
import type { SecretKey } from '../kit/crypto.ts';
import type { KeyRing } from '../kit/key-ring.ts';
import {
  CREATED_COLUMNS,
  FIELD_COLUMNS,
  PAYOUT_COLUMNS,
  PAYOUT_RAIL,
  type PayoutRefusal,
} from './payout.columns.ts';
import { NO_STATUS } from './payout.states.ts';
import { asCreated, type Payout } from './payout.ts';
import { decryptReceiver, encryptReceiver, receiverIndex } from './receiver.encryption.ts';

/** SQL array of suspended organizations, whose payouts wait. They are few, and PostgreSQL reads them once per statement. */
export const SUSPENDED = 'array(select o.id from caudal.organizations o where o.suspended_at is not null)';

/** The directory's answer to a key lookup. */
export interface Resolved {
  /** Null when it was not a merchant's lookup: there is no token to refund. */
  readonly lookupId: string | null;
  readonly resolutionId: string;
  readonly resolvedAt: Date;
  readonly holder: Buffer;
}

/** A payout to insert. The database sets its times. */
export interface NewPayout extends FieldsOf<typeof CREATED_COLUMNS> {
  readonly brebKey: string;
  readonly secrets: { readonly dataKey: KeyRing; readonly hashKey: SecretKey };
  readonly resolved: Resolved | null;
  /** For a return: the anomaly whose money it returns. */
  readonly anomaly: { readonly id: string; readonly organizationId: string } | null;
  readonly createdBy: Actor;
  /** Why it is declined on creation; null: its amount is held and it is sent. */
  readonly refusal: PayoutRefusal | null;
  /** How long it waits before it is sent, because its receiver is new; null: it is sent immediately. */
  readonly holdSeconds: number | null;
}

const INSERTED_COLUMNS = {
  ...CREATED_COLUMNS,
  customer_index: nullable(bytes),
  receiver: bytes,
  receiver_index: bytes,
  lookup_id: nullable(uuid),
  resolution_id: nullable(text()),
  resolved_at: nullable(time),
  holder: nullable(bytes),
  anomaly_id: nullable(uuid),
  anomaly_organization_id: nullable(uuid),
  created_by: text<Actor>(),
};

const NEW = new RowSet({
  ...INSERTED_COLUMNS,
  refusal: nullable(text<PayoutRefusal>()),
  hold_seconds: nullable(integer),
});

const INSERT = statement(
  'payout.insert',
  `with moment as materialized (select caudal.now() as at),
   new as (select * from ${NEW.as('new')}),
   history as (
     insert into caudal.payout_history (organization_id, payout_id, from_status, to_status, cause, at)
     select organization_id, id, '${NO_STATUS}', 'PROCESSING', 'created', at from new, moment
     union all
     select organization_id, id, 'PROCESSING', 'DECLINED', case refusal when 'INSUFFICIENT_FUNDS' then 'insufficient_balance' else 'limit_exceeded' end, at
     from new, moment where refusal is not null
   )
   ${insertSelect('caudal.payouts', {
     ...copied(INSERTED_COLUMNS),
     currency: "'COP'",
     rail: `'${PAYOUT_RAIL}'`,
     status: "case when refusal is null then 'PROCESSING' else 'DECLINED' end",
     error_code: 'refusal',
     created_at: 'at',
     updated_at: 'at',
     result_at: 'case when refusal is not null then at end',
     rail_task: "case when refusal is null then 'send' end",
     rail_due_at: 'case when refusal is null then at + make_interval(secs => coalesce(hold_seconds, 0)) end',
     held_until: 'at + make_interval(secs => hold_seconds)',
   })} from new, moment
   returning created_at`,
);

const encryptFields = fieldEncryptor('payouts', CREATED_COLUMNS);
const pickFields = fieldPicker(CREATED_COLUMNS);

/** @returns the payouts as created, in the given order */
export async function insertPayouts(tx: Tx, payouts: readonly NewPayout[]): Promise<Payout[]> {
  const [inserted] = await tx.query<{ created_at: Date }>(INSERT, NEW.parameters(payouts.map(toStored)));
  if (!inserted) throw new Error('no payout was inserted');
  tx.report(payouts.flatMap(toChanges));
  return payouts.map((payout) =>
    asCreated({ ...pickFields(payout), brebKey: payout.brebKey, createdAt: inserted.created_at }),
  );
}

/** A refused payout is created and ends in the same statement. */
function toChanges({ organizationId, id, refusal }: NewPayout): StateChange[] {
  const created = { resource: 'payout', organizationId, id, rail: PAYOUT_RAIL, ended: null } as const;
  if (refusal === null) return [created];
  return [created, { ...created, ended: { status: 'DECLINED', errorCode: refusal, afterMs: 0 } }];
}

function toStored(payout: NewPayout) {
  const { organizationId, id, brebKey, secrets, resolved, anomaly, createdBy } = payout;
  return {
    ...encryptFields(payout, secrets.dataKey),
    customerIndex: customerIndex(secrets.hashKey, payout.customer),
    receiver: encryptReceiver(secrets.dataKey, brebKey, organizationId, id),
    receiverIndex: receiverIndex(secrets.hashKey, brebKey),
    lookupId: resolved?.lookupId ?? null,
    resolutionId: resolved?.resolutionId ?? null,
    resolvedAt: resolved?.resolvedAt ?? null,
    holder: resolved?.holder ?? null,
    anomalyId: anomaly?.id ?? null,
    anomalyOrganizationId: anomaly?.organizationId ?? null,
    createdBy,
    refusal: payout.refusal,
    holdSeconds: payout.holdSeconds,
  };
}

/** For `select` and `returning`, of the table alias `p`. */
export const PAYOUT_LIST = selectList('p', PAYOUT_COLUMNS);

export type PayoutRow = RowOf<typeof PAYOUT_COLUMNS>;

const FIND = statement(
  'payout.find',
  `select ${PAYOUT_LIST} from caudal.payouts p
   join ${ROW_IDS.as('wanted')} on p.organization_id = wanted.organization_id and p.id = wanted.id`,
);

/** Returns rows, not payouts: the caller, who holds the organization's data key, decrypts customer and receiver. */
export async function findPayouts(tx: Tx, wanted: readonly RowId[]): Promise<PayoutRow[]> {
  if (wanted.length === 0) return [];
  return tx.query<PayoutRow>(FIND, ROW_IDS.parameters(wanted));
}

const readFields = rowReader('payouts', FIELD_COLUMNS);

export function payoutFromRow(row: PayoutRow, dataKey: KeyRing): Payout {
  const brebKey = decryptReceiver(dataKey, row.receiver, row.organization_id, row.id);
  return { ...readFields(row, dataKey), brebKey };
}

/** For callers that do not need the customer: it stays encrypted. */
export function payoutWithoutCustomer(row: PayoutRow, dataKey: KeyRing): Payout {
  return payoutFromRow({ ...row, customer: null }, dataKey);
}
