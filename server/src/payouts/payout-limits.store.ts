import { bytes, integer, nullable, type RowId, selectList, signedMoney, text, uuid } from '../db/columns.ts';
import { queryRecords, type RecordOf, ROW_IDS, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { LimitScope, LimitsWithUsage, PayoutLimits, ReceiverUsage, Usage } from './payout-limits.ts';

const LIMIT_COLUMNS = {
  day_amount_in_cents: nullable(signedMoney),
  day_count: nullable(integer),
  receiver_day_amount_in_cents: nullable(signedMoney),
  receiver_day_count: nullable(integer),
  new_receiver_hold_seconds: nullable(integer),
};

/** SQL for the day in Bogotá of a time. */
function bogotaDay(at: string): string {
  return `(${at} at time zone 'America/Bogota')::date`;
}

const TODAY = bogotaDay('caudal.now()');
const START_OF_TODAY = "date_trunc('day', caudal.now(), 'America/Bogota')";

/**
 * SQL condition: the payout of alias `p` was created today and counts; a return of money is not limited. An id is stamped shortly before its row is created,
 * so the id bound, which selects partition and index range, starts an hour early.
 */
const COUNTS_TODAY = `p.id >= caudal.uuid_floor(${START_OF_TODAY} - interval '1 hour')
  and p.created_at >= ${START_OF_TODAY} and p.created_at < ${START_OF_TODAY} + interval '1 day'
  and p.status in ('PROCESSING', 'CONFIRMED') and p.anomaly_id is null`;

/** SQL for the API key that created the payout of alias `p`; null for payouts of versions that did not store it. */
const CREATING_KEY = "substring(p.created_by from '^key:(.*)')";

const SELECT_LIMITS = `select l.organization_id, l.api_key_id, ${selectList('l', LIMIT_COLUMNS)},
     coalesce(u.payouts, 0) as payouts, coalesce(u.amount_in_cents, 0)::bigint as amount_in_cents
   from caudal.payout_limits l left join caudal.payout_usage u
     on u.organization_id = l.organization_id and u.api_key_id = l.api_key_id and u.day = ${TODAY}`;

const READ = statement(
  'payout-limits.read',
  `${SELECT_LIMITS} where l.organization_id = any ($1::uuid[]) and l.api_key_id = any ($2::text[])`,
);

/** The limits that apply to payouts by these API keys. The caller holds the locks of the balances. */
export function readLimits(
  tx: Tx,
  organizationIds: readonly string[],
  apiKeyIds: readonly string[],
): Promise<LimitsWithUsage[]> {
  return queryRecords(tx, READ, [organizationIds, ['', ...apiKeyIds]]);
}

const LIST = statement(
  'payout-limits.list',
  `${SELECT_LIMITS} where l.organization_id = $1 order by l.api_key_id`,
);

/** The limits of an organization first, then those of its API keys. */
export function listPayoutLimits(tx: Tx, organizationId: string): Promise<LimitsWithUsage[]> {
  return queryRecords(tx, LIST, [organizationId]);
}

const RECEIVERS = new RowSet({ organization_id: uuid, receiver_index: bytes });
type Receiver = RecordOf<typeof RECEIVERS>;

const RECEIVER_USAGE = statement(
  'payout-limits.receiver-usage',
  `select w.organization_id, w.receiver_index, r.api_key_id, r.payouts, r.amount_in_cents
   from ${RECEIVERS.as('w')} cross join lateral (
     select ${CREATING_KEY} as api_key_id, count(*)::integer as payouts, sum(p.amount_in_cents)::bigint as amount_in_cents
     from caudal.payouts p
     where p.organization_id = w.organization_id and p.receiver_index = w.receiver_index and ${COUNTS_TODAY}
     group by 1
   ) as r`,
);

/** What these receivers were paid today, by API key. */
export async function receiverUsage(tx: Tx, receivers: readonly Receiver[]): Promise<ReceiverUsage[]> {
  if (receivers.length === 0) return [];
  return queryRecords(tx, RECEIVER_USAGE, RECEIVERS.parameters(receivers));
}

const PAID_BEFORE = statement(
  'payout-limits.paid-before',
  // Newest first: a known receiver is usually found in the current month, so that older partitions are not read.
  `select w.position::integer from ${RECEIVERS.numberedAs('w')} cross join lateral (
     select p.id from caudal.payouts p
     where p.organization_id = w.organization_id and p.receiver_index = w.receiver_index and p.status = 'CONFIRMED'
     order by p.id desc limit 1
   ) as paid`,
);

/** Whether the organization has ever paid each receiver, in order. */
export async function paidBefore(tx: Tx, receivers: readonly Receiver[]): Promise<boolean[]> {
  if (receivers.length === 0) return [];
  const rows = await tx.query<{ position: number }>(PAID_BEFORE, RECEIVERS.parameters(receivers));
  const known = new Set(rows.map(({ position }) => position));
  return receivers.map((_, index) => known.has(index + 1));
}

const ADDED = new RowSet({
  organization_id: uuid,
  api_key_id: text(),
  payouts: integer,
  amount_in_cents: signedMoney,
});

const ADD = statement(
  'payout-limits.add-usage',
  `insert into caudal.payout_usage as u (organization_id, api_key_id, day, payouts, amount_in_cents)
   select a.organization_id, a.api_key_id, ${TODAY}, a.payouts, a.amount_in_cents from ${ADDED.as('a')}
   on conflict (organization_id, api_key_id, day) do update set
     payouts = u.payouts + excluded.payouts, amount_in_cents = u.amount_in_cents + excluded.amount_in_cents`,
);

/** Counts new payouts of today. The caller holds the locks of the balances. */
export async function addUsage(tx: Tx, added: readonly (LimitScope & Usage)[]): Promise<void> {
  if (added.length > 0) await tx.query(ADD, ADDED.parameters(added));
}

const RELEASE = statement(
  'payout-limits.release-usage',
  `update caudal.payout_usage u set
     payouts = greatest(0, u.payouts - r.payouts), amount_in_cents = greatest(0, u.amount_in_cents - r.amount_in_cents)
   from (
     select p.organization_id, scope.api_key_id, ${bogotaDay('p.created_at')} as day, count(*)::integer as payouts,
       sum(p.amount_in_cents)::bigint as amount_in_cents
     from caudal.payouts p join ${ROW_IDS.as('w')} on p.organization_id = w.organization_id and p.id = w.id
     cross join lateral (values (''), (${CREATING_KEY})) as scope (api_key_id)
     where p.anomaly_id is null
     group by 1, 2, 3
   ) as r
   where u.organization_id = r.organization_id and u.api_key_id = r.api_key_id and u.day = r.day`,
);

/**
 * Gives declined and canceled payouts back to the day on which they were created. The caller holds the locks of the
 * balances, so that a change of the limits, which counts the day again, sees each payout on one side only.
 */
export async function releaseUsage(tx: Tx, payouts: readonly RowId[]): Promise<void> {
  if (payouts.length > 0) await tx.query(RELEASE, ROW_IDS.parameters(payouts));
}

const SET = statement(
  'payout-limits.set',
  `insert into caudal.payout_limits (organization_id, api_key_id, ${Object.keys(LIMIT_COLUMNS).join(', ')})
   values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (organization_id, api_key_id) do update set
     ${Object.keys(LIMIT_COLUMNS)
       .map((name) => `${name} = excluded.${name}`)
       .join(', ')}, updated_at = caudal.now()`,
);

const RECOUNT = statement(
  'payout-limits.recount',
  `insert into caudal.payout_usage (organization_id, api_key_id, day, payouts, amount_in_cents)
   select $1, $2, ${TODAY}, count(*), coalesce(sum(p.amount_in_cents), 0) from caudal.payouts p
   where p.organization_id = $1 and ${COUNTS_TODAY} and ($2 = '' or p.created_by = 'key:' || $2)
   on conflict (organization_id, api_key_id, day) do update set
     payouts = excluded.payouts, amount_in_cents = excluded.amount_in_cents`,
);

/** Stores limits and counts the payouts of today. The caller holds the lock of the organization's balances. */
export async function setPayoutLimits(
  tx: Tx,
  { organizationId, apiKeyId }: LimitScope,
  limits: PayoutLimits,
): Promise<void> {
  const { dayAmount, dayCount, receiverDayAmount, receiverDayCount, newReceiverHoldSeconds } = limits;
  await tx.query(SET, [
    organizationId,
    apiKeyId,
    dayAmount,
    dayCount,
    receiverDayAmount,
    receiverDayCount,
    newReceiverHoldSeconds,
  ]);
  await tx.query(RECOUNT, [organizationId, apiKeyId]);
}

const REMOVE = statement(
  'payout-limits.remove',
  `with removed as (delete from caudal.payout_limits where organization_id = $1 and api_key_id = $2)
   delete from caudal.payout_usage where organization_id = $1 and api_key_id = $2`,
);

/** Removes limits and their usage. The caller holds the lock of the organization's balances. */
export async function removePayoutLimits(tx: Tx, { organizationId, apiKeyId }: LimitScope): Promise<void> {
  await tx.query(REMOVE, [organizationId, apiKeyId]);
}

const PURGE = statement(
  'payout-limits.purge-usage',
  `delete from caudal.payout_usage where ctid = any (array(
     select ctid from caudal.payout_usage where day < ${TODAY} - 7 limit 5000))
   returning 1`,
);

/** @returns the number of deleted rows; call again until it is zero */
export async function purgePayoutUsage(tx: Pick<Tx, 'query'>): Promise<number> {
  return (await tx.query(PURGE)).length;
}
