import { queryRecords } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { WrappedKey } from '../kit/master-key.ts';
import type { NewOrganizationKeys } from './secrets.ts';

const INSERT_DATA_KEY = statement(
  'organization-keys.insert-data-key',
  `insert into caudal.organization_keys (organization_id, wrapped_key, master_key_id) values ($1, $2, $3)
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
