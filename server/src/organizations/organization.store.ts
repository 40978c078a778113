import { queryRecords } from '../db/records.ts';
import { type Statement, statement, type Tx } from '../db/tx.ts';
import type { Rail } from '../rails/contract.ts';
import type { AmountPolicy, Limits, Organization } from './organization.ts';
import { insertOrganizationKeys } from './organization-keys.store.ts';
import type { NewOrganizationKeys } from './secrets.ts';

/** The columns of an `OrganizationRecord`, from the table `o`. */
export const ORGANIZATION_COLUMNS =
  'o.id, o.number, o.name, o.legal_name, o.tax_id, o.accent, o.support_contact, o.rails, o.city, o.postal_code, o.merchant_category, o.suspended_at is not null as suspended';

const LOGO_ID = '(select l.id from caudal.organization_logos l where l.organization_id = o.id) as logo_id';

/** The columns that only operators see. */
const LISTED_COLUMNS = `${ORGANIZATION_COLUMNS}, o.amount_policy, o.verified_at, ${LOGO_ID}`;

export interface NewOrganization
  extends Omit<Organization, 'number' | 'rails' | 'suspended' | 'legalName' | 'taxId'>,
    Partial<Pick<Organization, 'legalName' | 'taxId'>> {
  readonly rails: readonly Rail[];
  /** Default: EXACT. */
  readonly amountPolicy?: AmountPolicy;
  readonly isOperator: boolean;
}

const INSERT = statement(
  'organization.insert',
  `insert into caudal.organizations (id, name, accent, support_contact, rails, city, postal_code, merchant_category, is_operator, amount_policy, legal_name, tax_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
   on conflict do nothing`,
);

/** No-op when the organization exists: every migration ensures that the operator organization exists. */
export async function insertOrganization(
  tx: Tx,
  organization: NewOrganization,
  keys: NewOrganizationKeys,
): Promise<void> {
  const { id, name, accent, supportContact, rails, city, postalCode, merchantCategory, isOperator } =
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
    isOperator,
    organization.amountPolicy ?? 'EXACT',
    organization.legalName ?? null,
    organization.taxId ?? null,
  ]);
  await insertOrganizationKeys(tx, id, keys);
}

const ANNOUNCE = statement(
  'organization.announce',
  'insert into caudal.credential_changes (organization_id) values ($1)',
);

/** Invalidates the cached organization and its credentials in every process within a second. */
export async function announceChange(tx: Tx, organizationId: string): Promise<void> {
  await tx.query(ANNOUNCE, [organizationId]);
}

const LIST = statement(
  'organization.list',
  `select ${LISTED_COLUMNS} from caudal.organizations o where not o.is_operator order by o.id`,
);

export interface ListedOrganization extends Organization {
  readonly amountPolicy: AmountPolicy;
  /** When the operator verified legal name and NIT; null: not verified. */
  readonly verifiedAt: Date | null;
  readonly logoId: string | null;
}

export async function listOrganizations(tx: Tx): Promise<ListedOrganization[]> {
  return (await queryRecords<ListedRecord>(tx, LIST)).map(toOrganization);
}

const FIND_BY_ID = statement(
  'organization.find',
  `select ${LISTED_COLUMNS} from caudal.organizations o where o.id = $1 and not o.is_operator`,
);
const LOCK_BY_ID = statement('organization.lock', `${FIND_BY_ID.text} for no key update`);

export async function findOrganization(tx: Tx, organizationId: string): Promise<ListedOrganization | null> {
  const [record] = await queryRecords<ListedRecord>(tx, FIND_BY_ID, [organizationId]);
  return record ? toOrganization(record) : null;
}

/** Locks the row until the transaction ends, so that an update is based on the values read. */
export async function lockOrganization(tx: Tx, organizationId: string): Promise<ListedOrganization | null> {
  const [record] = await queryRecords<ListedRecord>(tx, LOCK_BY_ID, [organizationId]);
  return record ? toOrganization(record) : null;
}

/** The attributes of an organization that an operator may change. */
export interface OrganizationChanges
  extends Partial<Pick<NewOrganization, 'name' | 'accent' | 'supportContact' | 'rails' | 'amountPolicy'>> {
  readonly legalName?: string;
  readonly taxId?: string;
  /** Whether the operator verified legal name and NIT. */
  readonly verified?: boolean;
}

const UPDATE = statement(
  'organization.update',
  `update caudal.organizations o set name = coalesce($2, name), accent = coalesce($3, accent),
     support_contact = coalesce($4, support_contact), rails = coalesce($5, rails),
     amount_policy = coalesce($6, amount_policy), legal_name = coalesce($7, legal_name), tax_id = coalesce($8, tax_id),
     verified_at = case
       when $9::boolean then caudal.now()
       when not $9::boolean then null
       -- The operator verified the previous identity, not the new one.
       when coalesce($2, name) = name and coalesce($7, legal_name) = legal_name and coalesce($8, tax_id) = tax_id then verified_at
     end,
     updated_at = caudal.now()
   where id = $1 returning ${LISTED_COLUMNS}`,
);

export async function updateOrganization(
  tx: Tx,
  organizationId: string,
  changes: OrganizationChanges,
): Promise<ListedOrganization> {
  const { name, accent, supportContact, rails, amountPolicy, legalName, taxId, verified } = changes;
  const values = [name, accent, supportContact, rails, amountPolicy, legalName, taxId, verified].map(
    (value) => value ?? null,
  );
  const [record] = await queryRecords<ListedRecord>(tx, UPDATE, [organizationId, ...values]);
  if (!record) throw new Error(`organization ${organizationId} not found`);
  return toOrganization(record);
}

const SELECT_LIMITS =
  'select writes_per_second, reads_per_second from caudal.organizations where id = $1 and not is_operator';
const LIMITS = statement('organization.limits', SELECT_LIMITS);
const LOCK_LIMITS = statement('organization.lock-limits', `${SELECT_LIMITS} for update`);

/** @returns null when there is no such organization */
export function readLimits(tx: Tx, organizationId: string): Promise<Limits | null> {
  return queryLimits(LIMITS, tx, organizationId);
}

/** Locks the row until the transaction ends. @returns null when there is no such organization */
export function lockLimits(tx: Tx, organizationId: string): Promise<Limits | null> {
  return queryLimits(LOCK_LIMITS, tx, organizationId);
}

async function queryLimits(query: Statement, tx: Tx, organizationId: string): Promise<Limits | null> {
  const [limits] = await queryRecords<Limits>(tx, query, [organizationId]);
  return limits ?? null;
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

/** Organization ids by number, the short handle in references and tokens. */
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
  `select ${ORGANIZATION_COLUMNS}, o.created_at, o.verified_at, ${LOGO_ID}
   from caudal.organizations o where o.number = $1 and not o.is_operator`,
);

/** What the checkout pages show of an organization beside its attributes. */
export interface ShopIdentity extends Pick<ListedOrganization, 'verifiedAt' | 'logoId'> {
  readonly createdAt: Date;
}

export async function findShopByNumber(
  tx: Tx,
  number: number,
): Promise<{ organization: Organization; identity: ShopIdentity } | null> {
  const [record] = await queryRecords<OrganizationRecord & ShopIdentity>(tx, FIND_BY_NUMBER, [number]);
  if (!record) return null;
  const { createdAt, verifiedAt, logoId, ...organization } = record;
  return { organization: toOrganization(organization), identity: { createdAt, verifiedAt, logoId } };
}

const NUMBER = statement('organization.number', 'select number from caudal.organizations where id = $1');

export async function getOrganizationNumber(tx: Tx, id: string): Promise<number> {
  const [row] = await tx.query<{ number: number }>(NUMBER, [id]);
  if (!row) throw new Error(`organization ${id} not found`);
  return row.number;
}

const EXISTS = statement(
  'organization.exists',
  'select from caudal.organizations where id = $1 and not is_operator',
);

export async function organizationExists(tx: Tx, organizationId: string): Promise<boolean> {
  return (await tx.query(EXISTS, [organizationId])).length > 0;
}

/** The selected columns of an organization. */
export type OrganizationRecord = Omit<Organization, 'rails'> & { readonly rails: readonly Rail[] };

type ListedRecord = OrganizationRecord & Pick<ListedOrganization, 'amountPolicy' | 'verifiedAt' | 'logoId'>;

export function toOrganization<Selected extends OrganizationRecord>({ rails, ...fields }: Selected) {
  return { ...fields, rails: new Set(rails) };
}
