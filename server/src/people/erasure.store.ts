import { type RowId, text, uuid } from '../db/columns.ts';
import { queryRecord, queryRecords, queryRow, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { ResourceKind } from './person.ts';

/** Why the personal data of a resource may not be erased yet. */
export interface PersonalDataState {
  /** Null: there is no such resource. */
  readonly inProgress: boolean | null;
  /** Whether it moved money. */
  readonly moved: boolean;
  /** When the legal retention ends; null: money did not move, or its anomaly is open. */
  readonly retainedUntil: Date | null;
  readonly isRetained: boolean;
}

const RESOURCES = new RowSet({ kind: text<ResourceKind>(), organization_id: uuid, id: uuid });

const STATES = statement(
  'erasure.states',
  `select s.in_progress, s.money_at is not null as moved,
     case when isfinite(s.money_at) then s.money_at + make_interval(years => ${RESOURCES.scalar(1)}) end as retained_until,
     coalesce(s.money_at + make_interval(years => ${RESOURCES.scalar(1)}) > caudal.now(), false) as is_retained
   from ${RESOURCES.numberedAs('r')}
   left join lateral caudal.personal_data_state(r.kind, r.organization_id, r.id) as s on true order by r.position`,
);

/** The states of resources, in the given order. */
export function readStates(
  tx: Pick<Tx, 'query'>,
  resources: readonly (RowId & { readonly kind: ResourceKind })[],
  retentionYears: number,
): Promise<PersonalDataState[]> {
  return queryRecords(tx, STATES, [...RESOURCES.parameters(resources), retentionYears]);
}

const FINAL_EVENT = statement(
  'erasure.final-event',
  `select e.id, e.payload from caudal.final_events f
   join caudal.events e on e.organization_id = f.organization_id and e.id = f.event_id
   where f.organization_id = $1 and f.resource_id = $2`,
);

/** The final event of a resource; null when it has none, or its month is detached. */
export function findFinalEvent(
  tx: Pick<Tx, 'query'>,
  { organizationId, id }: RowId,
): Promise<{ readonly id: string; readonly payload: Buffer } | null> {
  return queryRow(tx, FINAL_EVENT, [organizationId, id]);
}

const NOTICES = statement(
  'erasure.notices',
  `with batch as materialized (
     select n.id, n.reference = any ($4::text[]) as matches, n.reference, n.raw from caudal.rail_notices n
     where n.organization_id = $1 and n.id > $2 order by n.id limit $3
   )
   select b.id, b.matches, b.reference, b.raw, (select count(*)::integer from batch) as read
   from batch b where b.matches or b.id = (select l.id from batch l order by l.id desc limit 1) order by b.id`,
);

export interface NoticeOfResource {
  readonly id: string;
  readonly reference: string;
  readonly raw: Buffer | null;
}

/** Rail notices with one of the references, in batches: no index has the reference. */
export async function noticesBatch(
  tx: Pick<Tx, 'query'>,
  organizationId: string,
  after: string,
  references: readonly string[],
  limit: number,
): Promise<{ readonly notices: readonly NoticeOfResource[]; readonly after: string | null }> {
  const rows = await tx.query<NoticeOfResource & { matches: boolean; read: number }>(NOTICES, [
    organizationId,
    after,
    limit,
    references,
  ]);
  const last = rows.at(-1);
  return {
    notices: rows.filter(({ matches }) => matches),
    after: last && last.read === limit ? last.id : null,
  };
}

const ERASE = statement(
  'erasure.erase',
  `select caudal.erase_personal_data($1, $2, $3, make_interval(years => $4), $5, $6, $7, $8, $9, $10) as outcome`,
);

export type ErasureOutcome = 'erased' | 'in_progress' | 'retained' | 'not_found' | 'changed';

export interface Erasure extends RowId {
  readonly kind: ResourceKind;
  /** What a payout shows instead of the receiver's key, encrypted. */
  readonly receiver: Buffer | null;
  readonly event: { readonly id: string; readonly was: Buffer; readonly becomes: Buffer } | null;
  /** The resource at its rail, and the ids of the notices about it. */
  readonly railReference: string | null;
  readonly notices: readonly string[];
}

/** Erases the personal data of a resource unless it is in progress or within the legal retention. */
export async function erasePersonalData(
  tx: Tx,
  { kind, organizationId, id, receiver, event, railReference, notices }: Erasure,
  retentionYears: number,
): Promise<ErasureOutcome> {
  const row = await queryRow<{ outcome: ErasureOutcome }>(tx, ERASE, [
    kind,
    organizationId,
    id,
    retentionYears,
    receiver,
    event?.id ?? null,
    event?.was ?? null,
    event?.becomes ?? null,
    railReference,
    notices,
  ]);
  if (!row) throw new Error('the erasure returned no outcome');
  return row.outcome;
}

const AUTHORIZATION = statement(
  'erasure.authorization',
  'select text_id, at, evidence from caudal.payer_authorizations where organization_id = $1 and payin_id = $2',
);

export interface StoredAuthorization {
  readonly textId: string;
  readonly at: Date;
  /** Encrypted; null when it was erased. */
  readonly evidence: Buffer | null;
}

export function findAuthorization(
  tx: Pick<Tx, 'query'>,
  { organizationId, id }: RowId,
): Promise<StoredAuthorization | null> {
  return queryRecord(tx, AUTHORIZATION, [organizationId, id]);
}

const EMAILS = statement(
  'erasure.receipt-emails',
  `select id, address, language, created_at, sent_at from caudal.receipt_emails
   where organization_id = $1 and payin_id = $2 order by id`,
);

export interface StoredReceiptEmail {
  readonly id: string;
  /** Encrypted; null once the e-mail was sent or given up. */
  readonly address: Buffer | null;
  readonly language: string;
  readonly createdAt: Date;
  readonly sentAt: Date | null;
}

export function listReceiptEmails(
  tx: Pick<Tx, 'query'>,
  { organizationId, id }: RowId,
): Promise<StoredReceiptEmail[]> {
  return queryRecords(tx, EMAILS, [organizationId, id]);
}
