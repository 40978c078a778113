import { customerIndex } from '../customers/customer-index.ts';
import {
  bytes,
  copied,
  type FieldsOf,
  fieldEncryptor,
  fieldPicker,
  insertSelect,
  nullable,
  type RowId,
  type RowOf,
  rowReader,
  selectList,
  text,
} from '../db/columns.ts';
import { ROW_IDS, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Actor } from '../kit/actor.ts';
import type { SecretKey } from '../kit/crypto.ts';
import type { KeyRing } from '../kit/key-ring.ts';
import { CREATED_COLUMNS, LINK_COLUMNS } from './payment-link.columns.ts';
import { asCreated, type PaymentLink } from './payment-link.ts';

/** A link to insert. The database sets its times. */
export interface NewLink extends FieldsOf<typeof CREATED_COLUMNS> {
  readonly createdBy: Actor;
  readonly dataKey: KeyRing;
  readonly hashKey: SecretKey;
}

/** For `select` and `returning`, of the table alias `l`. */
export const LINK_LIST = selectList('l', LINK_COLUMNS);

export type LinkRow = RowOf<typeof LINK_COLUMNS>;

const LIFETIME = "interval '1 hour'";

const INSERTED_COLUMNS = { ...CREATED_COLUMNS, customer_index: nullable(bytes), created_by: text<Actor>() };

const NEW = new RowSet(INSERTED_COLUMNS);

const INSERT = statement(
  'payment-link.insert',
  `with moment as materialized (select caudal.now() as at)
   ${insertSelect('caudal.payment_links', {
     ...copied(INSERTED_COLUMNS),
     currency: "'COP'",
     status: "'PENDING'",
     created_at: 'at',
     updated_at: 'at',
     expires_at: `at + ${LIFETIME}`,
     closes_at: `at + ${LIFETIME}`,
   })} from moment, ${NEW.as('new')}
   returning created_at, expires_at`,
);

const encryptFields = fieldEncryptor('payment_links', CREATED_COLUMNS);
const pickFields = fieldPicker(CREATED_COLUMNS);

/** @returns the links in the given order */
export async function insertLinks(tx: Tx, links: readonly NewLink[]): Promise<PaymentLink[]> {
  const rows = links.map((link) => ({
    ...encryptFields(link, link.dataKey),
    customerIndex: customerIndex(link.hashKey, link.customer),
    createdBy: link.createdBy,
  }));
  const [inserted] = await tx.query<{ created_at: Date; expires_at: Date }>(INSERT, NEW.parameters(rows));
  if (!inserted) throw new Error('no payment link was inserted');
  tx.report(
    links.map(({ organizationId, id }) => ({
      resource: 'payment_link',
      organizationId,
      id,
      rail: null,
      ended: null,
    })),
  );
  const { created_at: createdAt, expires_at: expiresAt } = inserted;
  return links.map((link) => asCreated({ ...pickFields(link), createdAt, expiresAt }));
}

const FIND = statement(
  'payment-link.find',
  `select ${LINK_LIST}, caudal.now() as now from caudal.payment_links l
   join ${ROW_IDS.as('wanted')} on l.organization_id = wanted.organization_id and l.id = wanted.id`,
);

/** Returns rows: decrypting the customer needs the organization's data key, which the caller has. */
export async function findLinks(
  tx: Tx,
  ids: readonly RowId[],
): Promise<(LinkRow & { readonly now: Date })[]> {
  if (ids.length === 0) return [];
  return tx.query<LinkRow & { now: Date }>(FIND, ROW_IDS.parameters(ids));
}

export const linkFromRow: (row: LinkRow, dataKey: KeyRing) => PaymentLink = rowReader(
  'payment_links',
  LINK_COLUMNS,
);

/** For callers that do not need the customer: it stays encrypted. */
export function linkWithoutCustomer(row: LinkRow, dataKey: KeyRing): PaymentLink {
  return linkFromRow({ ...row, customer: null }, dataKey);
}
