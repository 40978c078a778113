import { LEASE_INTERVAL } from '../db/lease.ts';
import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { statement, type Tx } from '../db/tx.ts';
import { cents } from '../kit/money.ts';
import type { PaidMessage, Rail, RailErrorCode, RailNotice } from '../rails/contract.ts';

/** The resource of a notice: a payin or a payout. */
export type NoticeSubject = RailNotice['about'];

/** The content of a stored notice. `refused` is the rail's rejection of our order; the rail sent the others unprompted. */
type NoticeUpdate =
  | PaidMessage
  | { readonly kind: 'declined' | 'refused'; readonly errorCode: RailErrorCode }
  | { readonly kind: 'unreadable' };

export interface NewNotice {
  readonly id: string;
  /** The operator organization for a received notification: its owner is only known when it is applied. */
  readonly organizationId: string;
  readonly rail: Rail;
  readonly about: NoticeSubject;
  readonly noticeId: string | null;
  readonly reference: string;
  readonly update: NoticeUpdate;
  readonly encryptedRaw: Buffer | null;
}

const INSERT = statement(
  'notice.insert',
  `with moment as materialized (select caudal.now() as at)
   insert into caudal.rail_notices (organization_id, id, rail, notice_id, reference, kind, execution_id, amount_in_cents, error_code,
     raw, about, end_to_end_id, received_at, task, due_at)
   select organization_id, id, rail, notice_id, reference, kind, execution_id, amount, error_code, raw, about, end_to_end_id, at,
     case when kind <> 'unreadable' then 'apply' end, case when kind <> 'unreadable' then at end
   from moment, unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::bytea[], $11::text[], $12::text[])
     as n (organization_id, id, rail, notice_id, reference, kind, execution_id, amount, error_code, raw, about, end_to_end_id)`,
);

/** Stores notices before they are processed; a worker applies them. */
export async function insertNotices(tx: Tx, notices: readonly NewNotice[]): Promise<void> {
  if (notices.length === 0) return;
  await tx.query(INSERT, [
    notices.map((notice) => notice.organizationId),
    notices.map((notice) => notice.id),
    notices.map((notice) => notice.rail),
    notices.map((notice) => notice.noticeId),
    notices.map((notice) => notice.reference),
    notices.map(({ update }) => update.kind),
    notices.map(({ update }) => (update.kind === 'paid' ? update.executionId : null)),
    notices.map(({ update }) => (update.kind === 'paid' ? update.amount : null)),
    notices.map(({ update }) => ('errorCode' in update ? update.errorCode : null)),
    notices.map((notice) => notice.encryptedRaw),
    notices.map((notice) => notice.about),
    notices.map(({ update }) => (update.kind === 'paid' ? (update.endToEndId ?? null) : null)),
  ]);
}

export interface DueNotice {
  readonly organizationId: string;
  readonly id: string;
  readonly rail: Rail;
  readonly reference: string;
  readonly update: Exclude<NoticeUpdate, { kind: 'unreadable' }>;
  readonly attempts: number;
  /** Since it was received, by the database clock. */
  readonly ageMs: number;
}

const COLUMNS = `n.organization_id, n.id, n.rail, n.reference, n.kind, n.execution_id, n.end_to_end_id, n.amount_in_cents, n.error_code, n.attempts,
  (extract(epoch from caudal.now() - n.received_at) * 1000)::float8 as age_ms`;

/** SQL condition: a notice is due to be applied. */
export function noticesDue(about: NoticeSubject): string {
  return `exists (select from caudal.rail_notices n where n.about = '${about}' and n.task = 'apply' and n.due_at <= caudal.now())`;
}

const LOCK_DUE = statement(
  'notice.lock-due',
  `select ${COLUMNS} from caudal.rail_notices n where n.about = $2 and n.task = 'apply' and n.due_at <= caudal.now()
   order by n.due_at limit $1 for update skip locked`,
);

const LOCK_ONE = statement(
  'notice.lock-one',
  `select ${COLUMNS} from caudal.rail_notices n where n.organization_id = $1 and n.id = $2 and n.task = 'apply' for update skip locked`,
);

/**
 * Locks notices due to be applied until the transaction ends. Applying makes no rail call, so a row lock replaces the
 * lease, and a crashed process releases its notices immediately.
 */
export async function lockDueNotices(tx: Tx, about: NoticeSubject, limit: number): Promise<DueNotice[]> {
  return (await tx.query<NoticeRow>(LOCK_DUE, [limit, about])).map(noticeFromRow);
}

export async function lockDueNotice(tx: Tx, organizationId: string, id: string): Promise<DueNotice[]> {
  return (await tx.query<NoticeRow>(LOCK_ONE, [organizationId, id])).map(noticeFromRow);
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
   returning ${COLUMNS}`,
);

/** Leases up to `limit` notices that must be verified at their rail. */
export async function leaseUnverifiedNotices(
  tx: Tx,
  leaseToken: string,
  about: NoticeSubject,
  rail: Rail,
  limit: number,
): Promise<DueNotice[]> {
  return (await tx.query<NoticeRow>(LEASE_UNVERIFIED_NOTICES, [leaseToken, limit, rail, about])).map(
    noticeFromRow,
  );
}

/** The result of processing a notice. `next` is null when it is done; the task `ask` verifies it at the rail. */
export interface NoticeResult {
  readonly organizationId: string;
  readonly id: string;
  readonly outcome: 'applied' | 'duplicate' | 'unconfirmed' | null;
  readonly next: { readonly task: 'apply' | 'verify'; readonly afterMs: number } | null;
}

const CONCLUDE = statement(
  'notice.conclude',
  `with moment as materialized (select caudal.now() as at)
   update caudal.rail_notices n set
     outcome = r.outcome, task = r.task, due_at = moment.at + make_interval(secs => r.after_ms / 1000.0),
     attempts = least(n.attempts + 1, 32000), leased_until = null, lease_token = null
   from moment, unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::float8[]) as r (organization_id, id, outcome, task, after_ms)
   where n.organization_id = r.organization_id and n.id = r.id and n.task is not null and n.lease_token is not distinct from $6::uuid`,
);

/** @param leaseToken the token of leased notices; null for notices locked by this transaction */
export async function concludeNotices(
  tx: Tx,
  results: readonly NoticeResult[],
  leaseToken: string | null,
): Promise<void> {
  if (results.length === 0) return;
  await tx.query(CONCLUDE, [
    results.map((result) => result.organizationId),
    results.map((result) => result.id),
    results.map((result) => result.outcome),
    results.map((result) => result.next?.task ?? null),
    results.map((result) => result.next?.afterMs ?? null),
    leaseToken,
  ]);
}

const UNREADABLE = statement(
  'notice.unreadable',
  `select n.organization_id, n.id, n.rail, n.received_at, n.raw from caudal.rail_notices n
   where n.kind = 'unreadable' and n.raw is not null order by n.received_at desc limit $1`,
);

export interface UnreadableNotice {
  readonly organizationId: string;
  readonly id: string;
  readonly rail: Rail;
  readonly receivedAt: Date;
  readonly encryptedRaw: Buffer;
}

/** Lists the newest notices that could not be parsed. */
export async function listUnreadable(tx: Tx, limit: number): Promise<UnreadableNotice[]> {
  const rows = await tx.query<{
    organization_id: string;
    id: string;
    rail: Rail;
    received_at: Date;
    raw: Buffer;
  }>(UNREADABLE, [limit]);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    id: row.id,
    rail: row.rail,
    receivedAt: row.received_at,
    encryptedRaw: row.raw,
  }));
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

interface NoticeRow {
  organization_id: string;
  id: string;
  rail: Rail;
  reference: string;
  kind: 'paid' | 'declined' | 'refused';
  execution_id: string | null;
  end_to_end_id: string | null;
  amount_in_cents: bigint | null;
  error_code: RailErrorCode | null;
  attempts: number;
  age_ms: number;
}

function noticeFromRow(row: NoticeRow): DueNotice {
  return {
    organizationId: row.organization_id,
    id: row.id,
    rail: row.rail,
    reference: row.reference,
    update: updateFromRow(row),
    attempts: row.attempts,
    ageMs: row.age_ms,
  };
}

function updateFromRow({
  kind,
  execution_id,
  end_to_end_id,
  amount_in_cents,
  error_code,
}: NoticeRow): DueNotice['update'] {
  if (kind === 'paid' && execution_id !== null && amount_in_cents !== null)
    return {
      kind: 'paid',
      executionId: execution_id,
      endToEndId: end_to_end_id ?? undefined,
      amount: cents(amount_in_cents),
    };
  if (kind !== 'paid' && error_code !== null) return { kind, errorCode: error_code };
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
