import { bytes, flag, nullable, type RowId, text } from '../db/columns.ts';
import { queryRecord, queryRecords, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import { ORGANIZATION_COLUMNS, type OrganizationRecord, toOrganization } from './organization.store.ts';
import type { Limits, Organization } from './organization.ts';
import type { Pause } from './rail-pauses.ts';
import type { GuardReading } from './sending-guard.ts';

/** A stored credential with everything that a request needs except the keys of its organization, read in one query. */
export interface StoredCredential {
  readonly organization: Organization;
  readonly keyId: string;
  readonly mac: Buffer;
  readonly scopes: readonly string[];
  readonly limits: Limits;
  readonly keyLimits: Limits;
  /** CIDR networks; null: any address. */
  readonly allowFrom: readonly string[] | null;
  /** Business time in milliseconds; null: never. A token expires no later than its API key. */
  readonly expiresAtMs: number | null;
}

type CredentialRecord = OrganizationRecord &
  Limits &
  Pick<StoredCredential, 'keyId' | 'mac' | 'scopes' | 'expiresAtMs' | 'allowFrom'> & {
    readonly keyWritesPerSecond: number | null;
    readonly keyReadsPerSecond: number | null;
  };

const OWNER = 'join caudal.organizations o on o.id = k.organization_id';

const OWNER_COLUMNS = `${ORGANIZATION_COLUMNS}, o.writes_per_second, o.reads_per_second`;

const KEY_COLUMNS = `k.id as key_id, k.allow_from::text[] as allow_from, k.writes_per_second as key_writes_per_second,
  k.reads_per_second as key_reads_per_second`;

const FIND_KEY = statement(
  'credential.find-key',
  `select ${OWNER_COLUMNS}, ${KEY_COLUMNS}, k.mac, k.scopes, (extract(epoch from k.expires_at) * 1000)::float8 as expires_at_ms
   from caudal.api_keys k ${OWNER}
   where k.id = $1 and k.revoked_at is null`,
);

const FIND_TOKEN = statement(
  'credential.find-token',
  `select ${OWNER_COLUMNS}, ${KEY_COLUMNS}, t.mac, t.scopes, (extract(epoch from least(t.expires_at, k.expires_at)) * 1000)::float8 as expires_at_ms
   from caudal.access_tokens t join caudal.api_keys k on k.id = t.api_key_id ${OWNER}
   where t.id = $1 and k.revoked_at is null`,
);

export async function findCredential(
  tx: Pick<Tx, 'query'>,
  kind: 'key' | 'token',
  id: string,
): Promise<StoredCredential | null> {
  const [record] = await queryRecords<CredentialRecord>(tx, kind === 'key' ? FIND_KEY : FIND_TOKEN, [id]);
  if (!record) return null;
  const { keyId, mac, scopes, expiresAtMs, allowFrom, keyWritesPerSecond, keyReadsPerSecond, ...owner } =
    record;
  const { writesPerSecond, readsPerSecond, ...organization } = owner;
  return {
    organization: toOrganization(organization),
    keyId,
    mac,
    scopes,
    limits: { writesPerSecond, readsPerSecond },
    keyLimits: { writesPerSecond: keyWritesPerSecond, readsPerSecond: keyReadsPerSecond },
    allowFrom,
    expiresAtMs,
  };
}

const LIST_LIVE_KEY_IDS = statement(
  'credential.list-live-key-ids',
  'select id from caudal.api_keys where revoked_at is null limit $1',
);

export async function listLiveKeyIds(tx: Pick<Tx, 'query'>, limit: number): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(LIST_LIVE_KEY_IDS, [limit]);
  return rows.map(({ id }) => id);
}

const INSERT_KEY = statement(
  'credential.insert-key',
  `insert into caudal.api_keys
     (id, organization_id, name, mac, scopes, expires_at, pepper_id, allow_from, writes_per_second, reads_per_second)
   values ($1, $2, $3, $4, $5, caudal.now() + make_interval(secs => $6::float8), $7, $8::cidr[], $9, $10)`,
);

/** Where and how often an API key may be used, besides the limits of its organization. Null: no restriction. */
export interface KeyRestrictions extends Limits {
  readonly allowFrom: readonly string[] | null;
}

interface NewCredential extends RowId {
  readonly mac: Buffer;
  readonly scopes: readonly string[];
  readonly lifetimeSeconds: number | null;
}

export async function insertKey(
  tx: Tx,
  key: NewCredential & KeyRestrictions & { readonly name: string; readonly pepperId: string },
): Promise<void> {
  const { id, organizationId, name, mac, scopes, lifetimeSeconds, pepperId } = key;
  const { allowFrom, writesPerSecond, readsPerSecond } = key;
  const restrictions = [allowFrom, writesPerSecond, readsPerSecond];
  await tx.query(INSERT_KEY, [
    id,
    organizationId,
    name,
    mac,
    scopes,
    lifetimeSeconds,
    pepperId,
    ...restrictions,
  ]);
}

const INSERT_TOKEN = statement(
  'credential.insert-token',
  `insert into caudal.access_tokens (id, organization_id, api_key_id, mac, scopes, expires_at)
   values ($1, $2, $3, $4, $5, caudal.now() + make_interval(secs => $6::float8))`,
);

export async function insertToken(
  tx: Pick<Tx, 'query'>,
  { id, organizationId, keyId, mac, scopes, lifetimeSeconds }: NewCredential & { readonly keyId: string },
): Promise<void> {
  await tx.query(INSERT_TOKEN, [id, organizationId, keyId, mac, scopes, lifetimeSeconds]);
}

const REVOKE = statement(
  'credential.revoke',
  'update caudal.api_keys set revoked_at = caudal.now() where id = $1 and revoked_at is null returning organization_id',
);

/** @returns the organization of the revoked key, or null when there is no such active key */
export async function revokeKey(tx: Tx, keyId: string): Promise<string | null> {
  const [row] = await tx.query<{ organization_id: string }>(REVOKE, [keyId]);
  return row?.organization_id ?? null;
}

const LOCK_RESTRICTIONS = statement(
  'credential.lock-restrictions',
  `select organization_id, allow_from::text[] as allow_from, writes_per_second, reads_per_second
   from caudal.api_keys where id = $1 and revoked_at is null for no key update`,
);

/** @returns null when there is no such active key */
export function lockRestrictions(
  tx: Tx,
  keyId: string,
): Promise<(KeyRestrictions & { readonly organizationId: string }) | null> {
  return queryRecord(tx, LOCK_RESTRICTIONS, [keyId]);
}

const SET_RESTRICTIONS = statement(
  'credential.set-restrictions',
  `update caudal.api_keys set allow_from = $2::cidr[], writes_per_second = $3, reads_per_second = $4 where id = $1`,
);

export async function setRestrictions(
  tx: Tx,
  keyId: string,
  { allowFrom, writesPerSecond, readsPerSecond }: KeyRestrictions,
): Promise<void> {
  await tx.query(SET_RESTRICTIONS, [keyId, allowFrom, writesPerSecond, readsPerSecond]);
}

const SHOWN_COLUMNS = `id, name, scopes, created_at, expires_at, revoked_at, last_used_at,
  allow_from::text[] as allow_from, writes_per_second, reads_per_second`;

const LIST_KEYS = statement(
  'credential.list-keys',
  `select ${SHOWN_COLUMNS}
   from caudal.api_keys where organization_id = $1 order by created_at`,
);

/** An API key as shown to operators, without its secret. */
export interface StoredKey extends KeyRestrictions {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

export function listKeys(tx: Tx, organizationId: string): Promise<StoredKey[]> {
  return queryRecords(tx, LIST_KEYS, [organizationId]);
}

const SHOW_KEY = statement(
  'credential.show-key',
  `select organization_id, ${SHOWN_COLUMNS} from caudal.api_keys where id = $1`,
);

/** Also finds a revoked key. */
export function findKey(
  tx: Tx,
  keyId: string,
): Promise<(StoredKey & { readonly organizationId: string }) | null> {
  return queryRecord(tx, SHOW_KEY, [keyId]);
}

/** The use of an API key by a process. */
export interface KeyUse {
  /** The MAC of the key under the current pepper; null when only a token of the key was used. */
  readonly mac: Buffer | null;
  /** Whether the stored MAC was made with a previous pepper. */
  readonly replace: boolean;
}

const USED = new RowSet({ id: text(), mac: nullable(bytes), replace: flag });

const TOUCH = statement(
  'credential.touch',
  `update caudal.api_keys k set last_used_at = caudal.now(),
     mac = case when used.replace then used.mac else k.mac end,
     pepper_id = case when used.replace or k.mac = used.mac then ${USED.scalar(1)} else k.pepper_id end
   from ${USED.as('used')} where k.id = used.id`,
);

/** Records the use of API keys and the pepper of their MACs, and replaces MACs that were made with a previous pepper. */
export async function touchKeys(
  tx: Pick<Tx, 'query'>,
  used: ReadonlyMap<string, KeyUse>,
  pepperId: string | null,
): Promise<void> {
  const rows = [...used].map(([id, use]) => ({ id, ...use })).sort((a, b) => (a.id < b.id ? -1 : 1));
  await tx.query(TOUCH, [...USED.parameters(rows), pepperId]);
}

/** An active API key whose MAC was not made with the current pepper, as far as is known. */
export interface KeyOfOtherPepper {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly lastUsedAt: Date | null;
  /** Null: unknown, because the key was not used since peppers are recorded. */
  readonly pepperId: string | null;
}

const OTHER_PEPPERS = statement(
  'credential.other-peppers',
  `select id, organization_id, name, last_used_at, pepper_id from caudal.api_keys
   where revoked_at is null and (expires_at is null or expires_at > caudal.now()) and pepper_id is distinct from $1
   order by last_used_at desc nulls last, id`,
);

export function listKeysOfOtherPeppers(
  tx: Pick<Tx, 'query'>,
  currentPepperId: string,
): Promise<KeyOfOtherPepper[]> {
  return queryRecords(tx, OTHER_PEPPERS, [currentPepperId]);
}

const PULSE = statement(
  'credential.pulse',
  `select (extract(epoch from caudal.now()) * 1000)::float8 as now_ms,
     (extract(epoch from clock_timestamp()) * 1000)::float8 as real_ms,
     (extract(epoch from caudal.id_time(caudal.now())) * 1000)::float8 as ids_ms,
     (select (extract(epoch from high_water) * 1000)::float8 from caudal.id_clock) as high_ms,
     coalesce((select json_agg(json_build_object('id', c.id, 'organizationId', c.organization_id))
       from caudal.credential_changes c where c.at > clock_timestamp() - interval '30 seconds'), '[]') as changes,
     coalesce((select json_agg(json_build_object('rail', p.rail, 'organizationId', p.organization_id))
       from caudal.rail_pauses p), '[]') as pauses,
     caudal.sending_held() as hold,
     (select json_build_object('number', m.number, 'mark', m.mark,
        'ageMs', (extract(epoch from clock_timestamp() - m.at) * 1000)::float8)
      from caudal.continuity_marks m order by m.number desc limit 1) as newest`,
);

export interface Pulse extends GuardReading {
  readonly nowMs: number;
  /** Real time of the database: independent of shifted business time and of suspensions of this machine. */
  readonly realMs: number;
  /** The time for new ids, and the high-water mark of ids. */
  readonly idsMs: number;
  readonly highMs: number;
  readonly changes: readonly { readonly id: number; readonly organizationId: string }[];
  readonly pauses: readonly Pause[];
}

/**
 * Reads business time, recent credential changes, rail pauses and the sending guard. Changes overlap by 30 seconds because a change gets its
 * timestamp before it commits; the caller skips those it has already seen.
 */
export async function readPulse(tx: Pick<Tx, 'query'>): Promise<Pulse> {
  const [pulse] = await queryRecords<Pulse>(tx, PULSE);
  if (!pulse) throw new Error('the database returned no time');
  return pulse;
}

const PURGE_TOKENS = statement(
  'credential.purge-tokens',
  `delete from caudal.access_tokens where id = any (array(
     select id from caudal.access_tokens where expires_at < caudal.now() - interval '1 day' limit 5000))
   returning 1`,
);

/** @returns the number of rows deleted; call again until it is zero */
export async function purgeAccessTokens(tx: Pick<Tx, 'query'>): Promise<number> {
  return (await tx.query(PURGE_TOKENS)).length;
}

const PURGE_CHANGES = statement(
  'credential.purge-changes',
  `delete from caudal.credential_changes where id = any (array(
     select id from caudal.credential_changes where at < clock_timestamp() - interval '1 hour' limit 5000))
   returning 1`,
);

export async function purgeCredentialChanges(tx: Pick<Tx, 'query'>): Promise<number> {
  return (await tx.query(PURGE_CHANGES)).length;
}
