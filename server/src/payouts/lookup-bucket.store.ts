import { integer, type RowId, uuid } from '../db/columns.ts';
import { type RecordOf, ROW_IDS, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

/**
 * Two token buckets per organization. A lookup costs one `lookups` token, which a payout that follows it refunds. A
 * lookup that finds no holder, or a holder other than the one the caller named, also costs one `misses` token, and so does
 * a payout that is declined because of its key: its outcome tells the caller the same as a lookup. The small
 * `misses` bucket stops an enumeration of phone numbers after a hundred, while a payroll of fifty thousand passes.
 */
const CAPACITY = { lookups: 60_000, misses: 100 } as const;
const REFILL_PER_SECOND = { lookups: 20, misses: 1 / 6 } as const;
/**
 * Payouts cost their miss when they end, so that many of them can end after the bucket is empty. They leave a debt, which
 * the refill pays back. Its bound is fifty minutes: one file with wrong keys must not lock a merchant out for days.
 */
const MAX_MISSES_OWED = 500;

type Bucket = keyof typeof CAPACITY;

/** SQL for the number of tokens in a bucket at a given time. */
function filled(bucket: Bucket, at: string): string {
  return `least(${CAPACITY[bucket]}, b.${bucket} + ${REFILL_PER_SECOND[bucket]} * greatest(0, extract(epoch from ${at} - b.filled_at))::float8)`;
}

const NOW = 'excluded.filled_at';

const TAKE = statement(
  'lookup-bucket.take',
  // An upsert also waits for a concurrent transaction that inserts the same bucket.
  `insert into caudal.lookup_buckets as b (organization_id, lookups, misses, filled_at)
   select $1, ${CAPACITY.lookups} - 1, ${CAPACITY.misses} - 1, caudal.now()
   on conflict (organization_id) do update set
     lookups = ${filled('lookups', NOW)} - 1, misses = ${filled('misses', NOW)} - 1, filled_at = greatest(b.filled_at, ${NOW})
   where ${filled('lookups', NOW)} >= 1 and ${filled('misses', NOW)} >= 1
   returning 1`,
);

const SHORTAGE = statement(
  'lookup-bucket.shortage',
  `select greatest((1 - ${filled('lookups', 'm.at')}) / ${REFILL_PER_SECOND.lookups}, (1 - ${filled('misses', 'm.at')}) / ${REFILL_PER_SECOND.misses}) as seconds
   from (select caudal.now() as at) as m, caudal.lookup_buckets b where b.organization_id = $1`,
);

/**
 * Takes one token from each bucket, before the directory is queried.
 * @returns null when the tokens were taken; otherwise the seconds until they are available
 */
export async function takeLookupTokens(tx: Tx, organizationId: string): Promise<number | null> {
  const taken = await tx.query(TAKE, [organizationId]);
  if (taken.length > 0) return null;
  const [row] = await tx.query<{ seconds: number }>(SHORTAGE, [organizationId]);
  return Math.max(1, Math.ceil(row?.seconds ?? 1));
}

const REFUNDS = new RowSet({ organization_id: uuid, lookups: integer, misses: integer });

const REFUND = statement(
  'lookup-bucket.refund',
  `update caudal.lookup_buckets b set
     lookups = least(${CAPACITY.lookups}, b.lookups + g.lookups), misses = least(${CAPACITY.misses}, b.misses + g.misses)
   from ${REFUNDS.as('g')} where b.organization_id = g.organization_id`,
);

export async function refundLookupTokens(
  tx: Tx,
  refunds: readonly RecordOf<typeof REFUNDS>[],
): Promise<void> {
  if (refunds.length === 0) return;
  // A fixed lock order: concurrent batches wait for each other instead of deadlocking.
  const sorted = refunds.toSorted((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
  await tx.query(REFUND, REFUNDS.parameters(sorted));
}

const USE = statement(
  'lookup-bucket.use',
  `update caudal.breb_lookups l set used_at = caudal.now()
   from (
     select u.organization_id, u.id from caudal.breb_lookups u
     join ${ROW_IDS.as('w')} on u.organization_id = w.organization_id and u.id = w.id
     where u.used_at is null order by u.organization_id, u.id for update of u
   ) as unused
   where l.organization_id = unused.organization_id and l.id = unused.id and l.used_at is null
   returning l.organization_id`,
);

/** Refunds the tokens of lookups whose payout is sent; each lookup is refunded once. */
export async function refundUsedLookups(tx: Tx, used: readonly RowId[]): Promise<void> {
  if (used.length === 0) return;
  const rows = await tx.query<{ organization_id: string }>(USE, ROW_IDS.parameters(used));
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row.organization_id, (counts.get(row.organization_id) ?? 0) + 1);
  await refundLookupTokens(
    tx,
    [...counts].map(([organizationId, lookups]) => ({ organizationId, lookups, misses: 0 })),
  );
}

const MISSES = new RowSet({ organization_id: uuid, misses: integer });

const CHARGE = statement(
  'lookup-bucket.charge-misses',
  `insert into caudal.lookup_buckets as b (organization_id, lookups, misses, filled_at)
   select m.organization_id, ${CAPACITY.lookups}, ${CAPACITY.misses} - m.misses, caudal.now() from ${MISSES.as('m')}
   on conflict (organization_id) do update set
     lookups = ${filled('lookups', NOW)}, filled_at = greatest(b.filled_at, ${NOW}),
     misses = greatest(-${MAX_MISSES_OWED}, ${filled('misses', NOW)} - (${CAPACITY.misses} - excluded.misses))`,
);

/** Charges the misses of payouts that were declined because of their key, one per entry. */
export async function chargeMisses(tx: Tx, organizationIds: readonly string[]): Promise<void> {
  if (organizationIds.length === 0) return;
  // A fixed lock order, as for refunds.
  const misses = [...Map.groupBy(organizationIds.toSorted(), (id) => id)].map(
    ([organizationId, { length }]) => ({ organizationId, misses: length }),
  );
  await tx.query(CHARGE, MISSES.parameters(misses));
}

const EXHAUSTED = statement(
  'lookup-bucket.exhausted',
  `select b.organization_id, (1 - ${filled('misses', 'm.at')}) / ${REFILL_PER_SECOND.misses} as seconds
   from (select caudal.now() as at) as m, caudal.lookup_buckets b
   where b.organization_id = any ($1::uuid[]) and ${filled('misses', 'm.at')} < 1`,
);

/** The organizations without a `misses` token, with the seconds until they have one. */
export async function exhaustedMisses(
  tx: Tx,
  organizationIds: readonly string[],
): Promise<Map<string, number>> {
  if (organizationIds.length === 0) return new Map();
  const rows = await tx.query<{ organization_id: string; seconds: number }>(EXHAUSTED, [organizationIds]);
  return new Map(rows.map((row) => [row.organization_id, Math.max(1, Math.ceil(row.seconds))]));
}
