import {
  bytes,
  copied,
  insertSelect,
  milliseconds,
  money,
  nullable,
  ROW_ID,
  type RowId,
  text,
} from '../db/columns.ts';
import { LEASE_INTERVAL } from '../db/lease.ts';
import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { queryRecords, RowSet } from '../db/records.ts';
import { type Statement, statement, type Tx } from '../db/tx.ts';
import type { Cents } from '../kit/money.ts';
import type { PaidMessage, Rail, RailErrorCode, RailNotice } from '../rails/contract.ts';

/** The resource of a notice: a payin or a payout. */
export type NoticeSubject = RailNotice['about'];

/** The content of a stored notice. `refused` is the rail's rejection of our order; the rail sent the others unprompted. */
type NoticeUpdate =
  | PaidMessage
  | { readonly kind: 'declined' | 'refused'; readonly errorCode: RailErrorCode }
  | { readonly kind: 'unreadable' };

/** Its organization is the operator's for a received notification: its owner is only known when it is applied. */
export interface NewNotice extends RowId {
  readonly rail: Rail;
  readonly about: NoticeSubject;
  readonly noticeId: string | null;
  readonly reference: string;
  readonly update: NoticeUpdate;
  readonly encryptedRaw: Buffer | null;
}

/** The rejection of our order by a rail: applied like the notices that the rail sends. */
export function refusalNotice(
  refusal: Pick<NewNotice, 'organizationId' | 'id' | 'rail' | 'reference'>,
  errorCode: RailErrorCode,
): NewNotice {
  const update = { kind: 'refused', errorCode } as const;
  return { ...refusal, about: 'payin', noticeId: null, update, encryptedRaw: null };
}

const COLUMNS = {
  ...ROW_ID,
  rail: text(),
  notice_id: nullable(text()),
  reference: text(),
  kind: text(),
  execution_id: nullable(text()),
  amount_in_cents: nullable(money),
  error_code: nullable(text()),
  raw: nullable(bytes),
  about: text(),
  end_to_end_id: nullable(text()),
};
const NEW = new RowSet(COLUMNS);

const INSERT = statement(
  'notice.insert',
  `with moment as materialized (select caudal.now() as at)
   ${insertSelect('caudal.rail_notices', {
     ...copied(COLUMNS),
     received_at: 'at',
     task: "case when kind <> 'unreadable' then 'apply' end",
     due_at: "case when kind <> 'unreadable' then at end",
   })} from moment, ${NEW.as('new')}`,
);

/** Stores notices before they are processed; a worker applies them. */
export async function insertNotices(tx: Tx, notices: readonly NewNotice[]): Promise<void> {
  if (notices.length === 0) return;
  await tx.query(INSERT, NEW.parameters(notices.map(toStored)));
}

function toStored({ update, encryptedRaw, ...notice }: NewNotice) {
  const paid = update.kind === 'paid' ? update : null;
  return {
    ...notice,
    kind: update.kind,
    executionId: paid?.executionId ?? null,
    amount: paid?.amount ?? null,
    errorCode: 'errorCode' in update ? update.errorCode : null,
    raw: encryptedRaw,
    endToEndId: paid?.endToEndId ?? null,
  };
}

export interface DueNotice extends RowId {
  readonly rail: Rail;
  readonly reference: string;
  readonly update: Exclude<NoticeUpdate, { kind: 'unreadable' }>;
  readonly attempts: number;
  /** Since it was received, by the database clock. */
  readonly ageMs: number;
}

const DUE_LIST = `n.organization_id, n.id, n.rail, n.reference, n.kind, n.execution_id, n.end_to_end_id, n.amount_in_cents, n.error_code, n.attempts,
  (extract(epoch from caudal.now() - n.received_at) * 1000)::float8 as age_ms`;

/** SQL condition: a notice is due to be applied. */
export function noticesDue(about: NoticeSubject): string {
  return `exists (select from caudal.rail_notices n where n.about = '${about}' and n.task = 'apply' and n.due_at <= caudal.now())`;
}

const LOCK_DUE = statement(
  'notice.lock-due',
  `select ${DUE_LIST} from caudal.rail_notices n where n.about = $2 and n.task = 'apply' and n.due_at <= caudal.now()
   order by n.due_at limit $1 for update skip locked`,
);

const LOCK_ONE = statement(
  'notice.lock-one',
  `select ${DUE_LIST} from caudal.rail_notices n where n.organization_id = $1 and n.id = $2 and n.task = 'apply' for update skip locked`,
);

/**
 * Locks notices due to be applied until the transaction ends. Applying makes no rail call, so a row lock replaces the
 * lease, and a crashed process releases its notices immediately.
 */
export function lockDueNotices(tx: Tx, about: NoticeSubject, limit: number): Promise<DueNotice[]> {
  return queryNotices(tx, LOCK_DUE, [limit, about]);
}

export function lockDueNotice(tx: Tx, organizationId: string, id: string): Promise<DueNotice[]> {
  return queryNotices(tx, LOCK_ONE, [organizationId, id]);
}

const UNVERIFIED_DUE =
  "n.task = 'verify' and n.due_at <= caudal.now() and (n.leased_until is null or n.leased_until < clock_timestamp())";

/** SQL condition: a notice is due for verification and not leased. */
export function unverifiedDue(about: NoticeSubject, rail: Rail): string {
  return `exists (select from caudal.rail_notices n where n.about = '${about}' and n.rail = '${rail}' and ${UNVERIFIED_DUE})`;
}

const LEASE_UNVERIFIED_NOTICES = statement(
  'notice.lease-unverified',
  `with due as (
     select n.organization_id, n.id from caudal.rail_notices n
     where n.about = $4 and n.rail = $3 and ${UNVERIFIED_DUE}
     order by n.due_at limit $2 for update skip locked
   )
   update caudal.rail_notices n set leased_until = clock_timestamp() + ${LEASE_INTERVAL}, lease_token = $1
   from due where n.organization_id = due.organization_id and n.id = due.id
   returning ${DUE_LIST}`,
);

/** Leases up to `limit` notices that must be verified at their rail. */
export function leaseUnverifiedNotices(
  tx: Tx,
  leaseToken: string,
  about: NoticeSubject,
  rail: Rail,
  limit: number,
): Promise<DueNotice[]> {
  return queryNotices(tx, LEASE_UNVERIFIED_NOTICES, [leaseToken, limit, rail, about]);
}

/** The result of processing a notice. `next` is null when it is done; the task `ask` verifies it at the rail. */
export interface NoticeResult extends RowId {
  readonly outcome: 'applied' | 'duplicate' | 'unconfirmed' | null;
  readonly next: { readonly task: 'apply' | 'verify'; readonly afterMs: number } | null;
}

const RESULTS = new RowSet({
  ...ROW_ID,
  outcome: nullable(text()),
  task: nullable(text()),
  after_ms: nullable(milliseconds),
});

const CONCLUDE = statement(
  'notice.conclude',
  `with moment as materialized (select caudal.now() as at)
   update caudal.rail_notices n set
     outcome = r.outcome, task = r.task, due_at = moment.at + make_interval(secs => r.after_ms / 1000.0),
     attempts = least(n.attempts + 1, 32000), leased_until = null, lease_token = null
   from moment, ${RESULTS.as('r')}
   where n.organization_id = r.organization_id and n.id = r.id and n.task is not null and n.lease_token is not distinct from ${RESULTS.scalar(1)}::uuid`,
);

/** @param leaseToken the token of leased notices; null for notices locked by this transaction */
export async function concludeNotices(
  tx: Tx,
  results: readonly NoticeResult[],
  leaseToken: string | null,
): Promise<void> {
  if (results.length === 0) return;
  const rows = results.map((result) => ({ ...result, ...(result.next ?? { task: null, afterMs: null }) }));
  await tx.query(CONCLUDE, [...RESULTS.parameters(rows), leaseToken]);
}

const UNREADABLE = statement(
  'notice.unreadable',
  `select n.organization_id, n.id, n.rail, n.received_at, n.raw as encrypted_raw from caudal.rail_notices n
   where n.kind = 'unreadable' and n.raw is not null order by n.received_at desc limit $1`,
);

export interface UnreadableNotice extends RowId {
  readonly rail: Rail;
  readonly receivedAt: Date;
  readonly encryptedRaw: Buffer;
}

/** Lists the newest notices that could not be parsed. */
export function listUnreadable(tx: Tx, limit: number): Promise<UnreadableNotice[]> {
  return queryRecords(tx, UNREADABLE, [limit]);
}

/** A lower bound is enough for a metric. */
const MAX_COUNTED = 100_000;

const WAITING = statement(
  'notice.waiting',
  // Counts up to a limit and reads the age of the next due notice only: in an outage this must not scan the whole backlog.
  `select t.task, sum((select count(*)::int from (
       select from caudal.rail_notices n where n.about = s.about and n.task = t.task and n.due_at is not null limit ${MAX_COUNTED}) as counted))::int as count,
     max(coalesce((select extract(epoch from caudal.now() - n.received_at) from caudal.rail_notices n
       where n.about = s.about and n.task = t.task and n.due_at is not null order by n.due_at limit 1), 0))::float8 as oldest_seconds
   from (values ('apply'), ('verify')) as t (task), (values ('payin'), ('payout')) as s (about) group by t.task`,
);

/** Notices that are not yet applied, by task. */
export function readNoticeBacklog(
  tx: Pick<Tx, 'query'>,
): Promise<{ task: 'apply' | 'verify'; count: number; oldest_seconds: number }[]> {
  return tx.query(WAITING);
}

interface StoredNotice extends Omit<DueNotice, 'update'> {
  readonly kind: 'paid' | 'declined' | 'refused';
  readonly executionId: string | null;
  readonly endToEndId: string | null;
  readonly amount: Cents | null;
  readonly errorCode: RailErrorCode | null;
}

async function queryNotices(tx: Tx, query: Statement, values: readonly unknown[]): Promise<DueNotice[]> {
  const notices = await queryRecords<StoredNotice>(tx, query, values);
  return notices.map((notice) => ({ ...notice, update: toUpdate(notice) }));
}

function toUpdate({ kind, executionId, endToEndId, amount, errorCode }: StoredNotice): DueNotice['update'] {
  if (kind === 'paid' && executionId !== null && amount !== null)
    return { kind: 'paid', executionId, endToEndId: endToEndId ?? undefined, amount };
  if (kind !== 'paid' && errorCode !== null) return { kind, errorCode };
  throw new Error(`the stored notice of kind ${kind} lacks the columns of its kind`);
}

const OPEN = statement(
  'notice.open',
  `select count(*)::integer as count from caudal.rail_notices where id ${WITHIN} and due_at is not null`,
);

/** Counts notices that are not processed yet. */
export function countOpenNotices(tx: Tx, span: IdSpan): Promise<number> {
  return countWithin(tx, OPEN, span);
}
