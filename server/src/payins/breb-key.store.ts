import { CLAIM } from '../db/lease.ts';
import { statement, type Tx } from '../db/tx.ts';
import { type Cents, cents } from '../kit/money.ts';

/** A key whose registration at the network is due, with what the network wants to know of it. */
export interface DueKey {
  readonly key: string;
  readonly organizationId: string;
  readonly payinId: string;
  readonly amount: Cents;
  readonly expiresAt: Date;
  /** It can no longer be paid, so it is no longer to be registered. */
  readonly expired: boolean;
  readonly sealedCustomer: Buffer | null;
  readonly attempts: number;
}

const DUE =
  'k.register_due_at <= caudal.now() and (k.leased_until is null or k.leased_until < clock_timestamp())';

/** Whether a key is due that no process has claimed. */
export const KEYS_DUE = `exists (select from caudal.breb_keys k where ${DUE})`;

const LEASE_DUE = statement(
  'breb-key.claim',
  `with due as (
     select k.key from caudal.breb_keys k
     where ${DUE}
       and k.organization_id <> all ($3::uuid[])
     order by k.register_due_at limit $2 for update skip locked
   ),
   claimed as (
     update caudal.breb_keys k set leased_until = clock_timestamp() + ${CLAIM}, lease_token = $1
     from due where k.key = due.key
     returning k.key, k.organization_id, k.payin_id, k.attempts
   )
   select c.key, c.organization_id, c.payin_id, c.attempts, p.amount_in_cents, p.expires_at, p.expires_at <= caudal.now() as expired, p.customer
   from claimed c join caudal.payins p on p.organization_id = c.organization_id and p.id = c.payin_id`,
);

interface DueRow {
  key: string;
  organization_id: string;
  payin_id: string;
  attempts: number;
  amount_in_cents: bigint;
  expires_at: Date;
  expired: boolean;
  customer: Buffer | null;
}

/**
 * Takes up to `most` due keys that nobody is at. Keys of a process that died come free when its claim ends.
 * @param excludedOrganizations organizations for which the rail is paused: their keys stay due
 */
export async function leaseDueKeys(
  tx: Tx,
  leaseToken: string,
  limit: number,
  excludedOrganizations: readonly string[],
): Promise<DueKey[]> {
  const rows = await tx.query<DueRow>(LEASE_DUE, [leaseToken, limit, excludedOrganizations]);
  return rows.map((row) => ({
    key: row.key,
    organizationId: row.organization_id,
    payinId: row.payin_id,
    amount: cents(row.amount_in_cents),
    expiresAt: row.expires_at,
    expired: row.expired,
    sealedCustomer: row.customer,
    attempts: row.attempts,
  }));
}

export interface RegistrationResult {
  readonly key: string;
  readonly leaseToken: string;
  /** The network's refusal; null when it has the key, or when it must be asked again after `retryAfterMs`. */
  readonly refusal: string | null;
  readonly retryAfterMs: number | null;
}

const RECORD = statement(
  'breb-key.record',
  `with moment as materialized (select caudal.now() as at)
   update caudal.breb_keys k set
     registered_at = case when r.refusal is null and r.retry_after_ms is null then moment.at end,
     refusal = r.refusal,
     register_due_at = case when r.retry_after_ms is not null then moment.at + make_interval(secs => r.retry_after_ms / 1000.0) end,
     attempts = least(k.attempts + 1, 32000),
     leased_until = null, lease_token = null
   from moment, unnest($1::uuid[], $2::text[], $3::text[], $4::float8[]) as r (lease_token, key, refusal, retry_after_ms)
   where k.key = r.key and k.lease_token = r.lease_token
   returning k.key, k.organization_id, k.payin_id`,
);

export interface RecordedKey {
  readonly key: string;
  readonly organizationId: string;
  readonly payinId: string;
}

/**
 * Writes down what the network said. A result whose claim has been taken over meanwhile changes nothing.
 * @param results sorted by key
 * @returns the keys whose result was recorded
 */
export async function recordRegistrations(
  tx: Tx,
  results: readonly RegistrationResult[],
): Promise<RecordedKey[]> {
  const rows = await tx.query<{ key: string; organization_id: string; payin_id: string }>(RECORD, [
    results.map((result) => result.leaseToken),
    results.map((result) => result.key),
    results.map((result) => result.refusal),
    results.map((result) => result.retryAfterMs),
  ]);
  return rows.map((row) => ({ key: row.key, organizationId: row.organization_id, payinId: row.payin_id }));
}

const WAITING = statement(
  'breb-key.waiting',
  // Counted up to a limit, the age that of the first in line: in an outage this must not read all that wait.
  `select (select count(*)::int from (select from caudal.breb_keys k where k.register_due_at is not null limit 100000) as counted) as count,
     coalesce((select extract(epoch from caudal.now() - k.minted_at) from caudal.breb_keys k
       where k.register_due_at is not null order by k.register_due_at limit 1), 0)::float8 as oldest_seconds`,
);

export async function waitingKeys(tx: Pick<Tx, 'query'>): Promise<{ count: number; oldestSeconds: number }> {
  const [row] = await tx.query<{ count: number; oldest_seconds: number }>(WAITING);
  return { count: row?.count ?? 0, oldestSeconds: row?.oldest_seconds ?? 0 };
}

const WAITING_LONGEST = statement(
  'breb-key.waiting-longest',
  // First in line is who is due next; who was put off by failures has waited longest.
  `select count(*)::int as count, coalesce(extract(epoch from caudal.now() - min(minted_at)), 0)::float8 as oldest_seconds
   from (select k.minted_at from caudal.breb_keys k where k.register_due_at is not null limit 100000) as counted`,
);

/** The same with the age of the very oldest: for a look once, not for every few seconds. */
export async function longestWaitingKeys(
  tx: Pick<Tx, 'query'>,
): Promise<{ count: number; oldestSeconds: number }> {
  const [row] = await tx.query<{ count: number; oldest_seconds: number }>(WAITING_LONGEST);
  return { count: row?.count ?? 0, oldestSeconds: row?.oldest_seconds ?? 0 };
}
