import { milliseconds, nullable, text, uuid } from '../db/columns.ts';
import { LEASE_INTERVAL } from '../db/lease.ts';
import { queryRecord, queryRecords, type RecordOf, RowSet } from '../db/records.ts';
import { type Statement, statement, type Tx } from '../db/tx.ts';
import type { Cents } from '../kit/money.ts';

/** A Bre-B key due for registration at the network, with the data the network requires. */
export interface DueKey {
  readonly key: string;
  readonly organizationId: string;
  readonly payinId: string;
  readonly amount: Cents;
  readonly expiresAt: Date;
  /** The payin has expired and cannot be paid, so the key is not registered. */
  readonly expired: boolean;
  readonly encryptedCustomer: Buffer | null;
  readonly traceContext: Buffer | null;
  readonly attempts: number;
}

const DUE =
  'k.register_due_at <= caudal.now() and (k.leased_until is null or k.leased_until < clock_timestamp())';

/** SQL condition: a key is due and not leased. */
export const KEYS_DUE = `exists (select from caudal.breb_keys k where ${DUE})`;

const LEASE_DUE = statement(
  'breb-key.lease',
  `with due as (
     select k.key from caudal.breb_keys k
     where ${DUE}
       and k.organization_id <> all ($3::uuid[])
     order by k.register_due_at limit $2 for update skip locked
   ),
   leased as (
     update caudal.breb_keys k set leased_until = clock_timestamp() + ${LEASE_INTERVAL}, lease_token = $1
     from due where k.key = due.key
     returning k.key, k.organization_id, k.payin_id, k.attempts
   )
   select c.key, c.organization_id, c.payin_id, c.attempts, p.amount_in_cents, p.expires_at, p.expires_at <= caudal.now() as expired, p.customer as encrypted_customer, p.trace_context
   from leased c join caudal.payins p on p.organization_id = c.organization_id and p.id = c.payin_id`,
);

/**
 * Leases up to `limit` due keys that are not leased. The keys of a crashed process become available when its lease ends.
 * @param excludedOrganizations organizations for which the rail is paused: their keys stay due
 */
export function leaseDueKeys(
  tx: Tx,
  leaseToken: string,
  limit: number,
  excludedOrganizations: readonly string[],
): Promise<DueKey[]> {
  return queryRecords(tx, LEASE_DUE, [leaseToken, limit, excludedOrganizations]);
}

const RESULTS = new RowSet({
  lease_token: uuid,
  key: text(),
  /** The network's rejection code; null when the key is registered, or when registration is retried after `retryAfterMs`. */
  refusal: nullable(text()),
  retry_after_ms: nullable(milliseconds),
});

export type RegistrationResult = RecordOf<typeof RESULTS>;

const RECORD = statement(
  'breb-key.record',
  `with moment as materialized (select caudal.now() as at)
   update caudal.breb_keys k set
     registered_at = case when r.refusal is null and r.retry_after_ms is null then moment.at end,
     refusal = r.refusal,
     register_due_at = case when r.retry_after_ms is not null then moment.at + make_interval(secs => r.retry_after_ms / 1000.0) end,
     attempts = least(k.attempts + 1, 32000),
     leased_until = null, lease_token = null
   from moment, ${RESULTS.as('r')}
   where k.key = r.key and k.lease_token = r.lease_token
   returning k.key, k.organization_id, k.payin_id`,
);

export type RecordedKey = Pick<DueKey, 'key' | 'organizationId' | 'payinId'>;

/**
 * Records the network's answers. A result whose lease another process has taken over changes nothing.
 * @param results sorted by key
 * @returns the keys whose result was recorded
 */
export function recordRegistrations(tx: Tx, results: readonly RegistrationResult[]): Promise<RecordedKey[]> {
  return queryRecords(tx, RECORD, RESULTS.parameters(results));
}

export interface KeyBacklog {
  readonly count: number;
  readonly oldestSeconds: number;
}

async function readBacklog(tx: Pick<Tx, 'query'>, query: Statement): Promise<KeyBacklog> {
  return (await queryRecord<KeyBacklog>(tx, query)) ?? { count: 0, oldestSeconds: 0 };
}

const WAITING = statement(
  'breb-key.waiting',
  // Counts up to a limit and reads the age of the next due key only: in an outage this must not scan the whole backlog.
  `select (select count(*)::int from (select from caudal.breb_keys k where k.register_due_at is not null limit 100000) as counted) as count,
     coalesce((select extract(epoch from caudal.now() - k.minted_at) from caudal.breb_keys k
       where k.register_due_at is not null order by k.register_due_at limit 1), 0)::float8 as oldest_seconds`,
);

/** Cheap enough for a metric: `oldestSeconds` is the age of the next due key, not of the oldest. */
export function readKeyBacklog(tx: Pick<Tx, 'query'>): Promise<KeyBacklog> {
  return readBacklog(tx, WAITING);
}

const WAITING_LONGEST = statement(
  'breb-key.waiting-longest',
  // The next due key is not the oldest: keys postponed after failures have waited longer.
  `select count(*)::int as count, coalesce(extract(epoch from caudal.now() - min(minted_at)), 0)::float8 as oldest_seconds
   from (select k.minted_at from caudal.breb_keys k where k.register_due_at is not null limit 100000) as counted`,
);

/** Like `readKeyBacklog`, with the age of the oldest key. It scans the backlog: for diagnostics, not for metrics. */
export function readExactKeyBacklog(tx: Pick<Tx, 'query'>): Promise<KeyBacklog> {
  return readBacklog(tx, WAITING_LONGEST);
}
