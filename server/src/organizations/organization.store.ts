import { statement, type Tx } from '../db/tx.ts';
import type { Rail } from '../rails/contract.ts';
import type { Limits, Organization } from './organization.ts';
import type { WrappedKey } from './secrets.ts';

export interface NewOrganization {
  readonly id: string;
  readonly name: string;
  readonly accent: string;
  readonly supportContact: string;
  readonly rails: readonly Rail[];
  readonly city: string;
  readonly postalCode: string;
  readonly merchantCategory: string;
  readonly isHouse: boolean;
}

const INSERT = statement(
  'organization.insert',
  `insert into caudal.organizations (id, name, accent, support_contact, rails, city, postal_code, merchant_category, is_house)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   on conflict do nothing`,
);

const INSERT_KEY = statement(
  'organization.insert-key',
  `insert into caudal.organization_keys (organization_id, wrapped_key, master_key_id) values ($1, $2, $3)
   on conflict do nothing`,
);

/** Creating one that is there already changes nothing: the house is ensured at every migration. */
export async function insertOrganization(
  tx: Tx,
  organization: NewOrganization,
  key: WrappedKey,
): Promise<void> {
  const { id, name, accent, supportContact, rails, city, postalCode, merchantCategory, isHouse } =
    organization;
  await tx.query(INSERT, [
    id,
    name,
    accent,
    supportContact,
    rails,
    city,
    postalCode,
    merchantCategory,
    isHouse,
  ]);
  await tx.query(INSERT_KEY, [id, key.wrappedKey, key.masterKeyId]);
}

const ANNOUNCE = statement(
  'organization.announce',
  'insert into caudal.credential_changes (organization_id) values ($1)',
);

/** Every process forgets what it knew of the organization and its credentials within a second. */
export async function announceChange(tx: Tx, organizationId: string): Promise<void> {
  await tx.query(ANNOUNCE, [organizationId]);
}

const LIST = statement(
  'organization.list',
  `select id, number, name, accent, support_contact, rails, city, postal_code, merchant_category
   from caudal.organizations where not is_house order by id`,
);

export async function listOrganizations(tx: Tx): Promise<Organization[]> {
  return (await tx.query<OrganizationRow>(LIST)).map(organizationOf);
}

const LIMITS = statement(
  'organization.limits',
  'select writes_per_second, reads_per_second from caudal.organizations where id = $1 and not is_house for update',
);

/** Locked, so that what is changed is what was read. @returns null when there is no such organization */
export async function lockLimits(tx: Tx, organizationId: string): Promise<Limits | null> {
  const [row] = await tx.query<{ writes_per_second: number | null; reads_per_second: number | null }>(
    LIMITS,
    [organizationId],
  );
  return row ? { writesPerSecond: row.writes_per_second, readsPerSecond: row.reads_per_second } : null;
}

const SET_LIMITS = statement(
  'organization.set-limits',
  'update caudal.organizations set writes_per_second = $2, reads_per_second = $3, updated_at = caudal.now() where id = $1',
);

export async function setLimits(tx: Tx, organizationId: string, limits: Limits): Promise<void> {
  await tx.query(SET_LIMITS, [organizationId, limits.writesPerSecond, limits.readsPerSecond]);
}

const BY_NUMBER = statement(
  'organization.by-number',
  'select number, id from caudal.organizations where number = any($1::int[])',
);

/** Ids by the short handle that references and tokens carry. */
export async function organizationsByNumber(
  tx: Tx,
  numbers: readonly number[],
): Promise<Map<number, string>> {
  if (numbers.length === 0) return new Map();
  const rows = await tx.query<{ number: number; id: string }>(BY_NUMBER, [numbers]);
  return new Map(rows.map((row) => [row.number, row.id]));
}

const FIND_BY_NUMBER = statement(
  'organization.find-by-number',
  `select id, number, name, accent, support_contact, rails, city, postal_code, merchant_category
   from caudal.organizations where number = $1 and not is_house`,
);

export async function findOrganizationByNumber(tx: Tx, number: number): Promise<Organization | null> {
  const [row] = await tx.query<OrganizationRow>(FIND_BY_NUMBER, [number]);
  return row ? organizationOf(row) : null;
}

const NUMBER = statement('organization.number', 'select number from caudal.organizations where id = $1');

export async function numberOfOrganization(tx: Tx, id: string): Promise<number> {
  const [row] = await tx.query<{ number: number }>(NUMBER, [id]);
  if (!row) throw new Error(`there is no organization ${id}`);
  return row.number;
}

const WRAPPED_KEYS = statement(
  'organization.wrapped-keys',
  'select organization_id, wrapped_key, master_key_id from caudal.organization_keys where organization_id = any($1::uuid[])',
);

export async function wrappedKeysOf(
  tx: Tx,
  organizationIds: readonly string[],
): Promise<Map<string, WrappedKey>> {
  const rows = await tx.query<{ organization_id: string; wrapped_key: Buffer; master_key_id: string }>(
    WRAPPED_KEYS,
    [organizationIds],
  );
  return new Map(
    rows.map((row) => [row.organization_id, { wrappedKey: row.wrapped_key, masterKeyId: row.master_key_id }]),
  );
}

const LIST_WRAPPED = statement(
  'organization.list-wrapped',
  'select organization_id, wrapped_key, master_key_id from caudal.organization_keys order by organization_id for update',
);

export async function listWrappedKeys(tx: Tx): Promise<(WrappedKey & { readonly organizationId: string })[]> {
  const rows = await tx.query<{
    organization_id: string;
    wrapped_key: Buffer;
    master_key_id: string;
  }>(LIST_WRAPPED);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    wrappedKey: row.wrapped_key,
    masterKeyId: row.master_key_id,
  }));
}

const REPLACE_WRAPPED = statement(
  'organization.replace-wrapped',
  'update caudal.organization_keys set wrapped_key = $2, master_key_id = $3 where organization_id = $1',
);

export async function replaceWrappedKey(tx: Tx, organizationId: string, key: WrappedKey): Promise<void> {
  await tx.query(REPLACE_WRAPPED, [organizationId, key.wrappedKey, key.masterKeyId]);
}

const EXISTS = statement(
  'organization.exists',
  'select from caudal.organizations where id = $1 and not is_house',
);

export async function organizationExists(tx: Tx, organizationId: string): Promise<boolean> {
  return (await tx.query(EXISTS, [organizationId])).length > 0;
}

export interface OrganizationRow {
  id: string;
  number: number;
  name: string;
  accent: string;
  support_contact: string;
  rails: Rail[];
  city: string;
  postal_code: string;
  merchant_category: string;
}

export function organizationOf(row: OrganizationRow): Organization {
  return {
    id: row.id,
    number: row.number,
    name: row.name,
    accent: row.accent,
    supportContact: row.support_contact,
    rails: new Set(row.rails),
    city: row.city,
    postalCode: row.postal_code,
    merchantCategory: row.merchant_category,
  };
}
