import { integer, uuid } from '../db/columns.ts';
import { queryRecords, type RecordOf, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { WrappedKey } from '../kit/master-key.ts';
import type { NewOrganizationKeys } from './secrets.ts';

const INSERT_DATA_KEY = statement(
  'organization-keys.insert-data-key',
  // Not only "on conflict": the first key of an organization may have been rotated and deleted.
  `insert into caudal.organization_keys (organization_id, wrapped_key, master_key_id)
   select $1, $2, $3 where not exists (select from caudal.organization_keys where organization_id = $1)
   on conflict do nothing returning 1`,
);

const INSERT_HASH_KEY = statement(
  'organization-keys.insert-hash-key',
  `insert into caudal.organization_hash_keys (organization_id, wrapped_key, master_key_id) values ($1, $2, $3)
   on conflict do nothing`,
);

/** No-op for an organization that has keys. */
export async function insertOrganizationKeys(
  tx: Tx,
  organizationId: string,
  { dataKey, hashKey }: NewOrganizationKeys,
): Promise<void> {
  const inserted = await tx.query(INSERT_DATA_KEY, [organizationId, dataKey.wrappedKey, dataKey.masterKeyId]);
  // An organization with an older data key and no stored hash key has a derived one, which a new key must not replace.
  if (inserted.length > 0) await insertHashKey(tx, organizationId, hashKey);
}

export async function insertHashKey(
  tx: Pick<Tx, 'query'>,
  organizationId: string,
  { wrappedKey, masterKeyId }: WrappedKey,
): Promise<void> {
  await tx.query(INSERT_HASH_KEY, [organizationId, wrappedKey, masterKeyId]);
}

/** A data key with the organization's hash key; null: none is stored, it is derived from the first data key. */
export interface StoredKeys extends WrappedKey {
  readonly organizationId: string;
  readonly number: number;
  /** Negative: it is active. */
  readonly activeInMs: number;
  readonly hashWrappedKey: Buffer | null;
  readonly hashMasterKeyId: string | null;
}

const READ = statement(
  'organization-keys.read',
  `select d.organization_id, d.number, d.wrapped_key, d.master_key_id,
     (extract(epoch from d.activates_at - clock_timestamp()) * 1000)::float8 as active_in_ms,
     h.wrapped_key as hash_wrapped_key, h.master_key_id as hash_master_key_id
   from caudal.organization_keys d left join caudal.organization_hash_keys h using (organization_id)
   where d.organization_id = any($1::uuid[])`,
);

export function readOrganizationKeys(
  tx: Pick<Tx, 'query'>,
  organizationIds: readonly string[],
): Promise<StoredKeys[]> {
  return queryRecords(tx, READ, [organizationIds]);
}

type DataKeyRow = WrappedKey & { readonly organizationId: string };

const WITHOUT_HASH_KEY = statement(
  'organization-keys.without-hash-key',
  `select d.organization_id, d.wrapped_key, d.master_key_id from caudal.organization_keys d
   where d.number = 1 and not exists (select from caudal.organization_hash_keys h where h.organization_id = d.organization_id)`,
);

/** The first data keys of organizations whose hash key is derived from them. */
export function listWithoutHashKey(tx: Pick<Tx, 'query'>): Promise<DataKeyRow[]> {
  return queryRecords(tx, WITHOUT_HASH_KEY);
}

/** A wrapped key of either kind, with what identifies its row. */
export interface KeyRow extends WrappedKey {
  readonly kind: 'data' | 'hash';
  readonly organizationId: string;
  /** Of a data key; 0 for the hash key. */
  readonly number: number;
}

const LIST = statement(
  'organization-keys.list',
  `select 'data' as kind, organization_id, number, wrapped_key, master_key_id from caudal.organization_keys
   union all select 'hash', organization_id, 0, wrapped_key, master_key_id from caudal.organization_hash_keys
   order by organization_id, number`,
);

export function listKeys(tx: Pick<Tx, 'query'>): Promise<KeyRow[]> {
  return queryRecords(tx, LIST);
}

const REPLACE = {
  data: statement(
    'organization-keys.replace-data-key',
    `update caudal.organization_keys set wrapped_key = $2, master_key_id = $3
     where organization_id = $1 and wrapped_key = $4 returning 1`,
  ),
  hash: statement(
    'organization-keys.replace-hash-key',
    `update caudal.organization_hash_keys set wrapped_key = $2, master_key_id = $3
     where organization_id = $1 and wrapped_key = $4 returning 1`,
  ),
};

/** Stores a key wrapped again. @returns false when another process has wrapped it meanwhile */
export async function replaceWrappedKey(tx: Tx, key: KeyRow, fresh: WrappedKey): Promise<boolean> {
  const values = [key.organizationId, fresh.wrappedKey, fresh.masterKeyId, key.wrappedKey];
  return (await tx.query(REPLACE[key.kind], values)).length > 0;
}

export interface NewestKey {
  readonly organizationId: string;
  readonly number: number;
  readonly active: boolean;
  /** How many values it has encrypted, approximately. */
  readonly messages: number;
}

const NEWEST = statement(
  'organization-keys.newest',
  `select distinct on (organization_id) organization_id, number, activates_at <= clock_timestamp() as active,
     messages::float8 as messages
   from caudal.organization_keys order by organization_id, number desc`,
);

export function listNewestKeys(tx: Pick<Tx, 'query'>): Promise<NewestKey[]> {
  return queryRecords(tx, NEWEST);
}

const INSERT_NEXT = statement(
  'organization-keys.insert-next',
  `insert into caudal.organization_keys (organization_id, number, wrapped_key, master_key_id, activates_at)
   values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5))
   on conflict do nothing returning 1`,
);

/** @returns false when the organization has a key with this number */
export async function insertDataKey(
  tx: Tx,
  organizationId: string,
  key: { readonly number: number; readonly wrapped: WrappedKey; readonly activeInSeconds: number },
): Promise<boolean> {
  const { number, wrapped, activeInSeconds } = key;
  const values = [organizationId, number, wrapped.wrappedKey, wrapped.masterKeyId, activeInSeconds];
  return (await tx.query(INSERT_NEXT, values)).length > 0;
}

const USES = new RowSet({ organization_id: uuid, number: integer, count: integer });

const ADD_USES = statement(
  'organization-keys.add-uses',
  `update caudal.organization_keys k set messages = k.messages + u.count
   from ${USES.as('u')} where k.organization_id = u.organization_id and k.number = u.number`,
);

/** Adds to the counts of values that keys have encrypted. */
export async function addUses(tx: Pick<Tx, 'query'>, uses: readonly KeyUse[]): Promise<void> {
  // Ordered, so that two processes cannot deadlock.
  const ordered = uses.toSorted((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
  await tx.query(ADD_USES, USES.parameters(ordered));
}

export type KeyUse = RecordOf<typeof USES>;
