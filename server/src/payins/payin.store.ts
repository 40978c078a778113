import { customerIndex } from '../customers/customer-index.ts';
import {
  bytes,
  copied,
  emptyFields,
  type FieldsOf,
  fieldEncryptor,
  fieldPicker,
  flag,
  insertSelect,
  nullable,
  type RowId,
  type RowOf,
  rowReader,
  selectList,
  text,
  time,
  uuid,
} from '../db/columns.ts';
import { LEASE_INTERVAL } from '../db/lease.ts';
import { queryRow, ROW_IDS, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Actor } from '../kit/actor.ts';
import type { SecretKey } from '../kit/crypto.ts';
import type { KeyRing } from '../kit/key-ring.ts';
import { CREATED_COLUMNS, CREATED_SOURCE_COLUMNS, FIELD_COLUMNS, PAYIN_COLUMNS } from './payin.columns.ts';
import { FIRST_POLL_SECONDS } from './payin.polling.ts';
import { FIRST_STATUS, NO_STATUS } from './payin.states.ts';
import { asCreated, type Payin, type PayinSource } from './payin.ts';

/** A payin to insert. The database sets its times. */
export interface NewPayin extends FieldsOf<typeof CREATED_COLUMNS> {
  readonly source: PayinSource;
  readonly dataKey: KeyRing;
  readonly hashKey: SecretKey;
  /** The lease of the creating process on the work that is due after the commit. */
  readonly leaseToken: string;
  /** Null: one hour after the creation. */
  readonly expiresAt: Date | null;
  readonly createdBy: Actor;
}

const LIFETIME_MS = 3_600_000;
const LIFETIME = `interval '${LIFETIME_MS} milliseconds'`;

const NEW = new RowSet({
  ...CREATED_COLUMNS,
  ...CREATED_SOURCE_COLUMNS,
  customer_index: nullable(bytes),
  status: text<'PENDING' | 'PROCESSING'>(),
  expires_at: nullable(time),
  rail_due: flag,
  lease_token: uuid,
  created_by: text<Actor>(),
});

const INSERT = statement(
  'payin.insert',
  `with moment as materialized (select caudal.now() as at),
   new as (select * from ${NEW.as('new')}),
   history as (
     insert into caudal.payin_history (organization_id, payin_id, from_status, to_status, cause, at)
     select organization_id, id, '${NO_STATUS}', status, 'created', at from new, moment
   ),
   keys as (
     insert into caudal.breb_keys (key, organization_id, payin_id, minted_at, register_due_at, leased_until, lease_token)
     select breb_key, organization_id, id, at, at, clock_timestamp() + ${LEASE_INTERVAL}, lease_token from new, moment where breb_key is not null
   )
   ${insertSelect('caudal.payins', {
     ...copied({ ...CREATED_COLUMNS, ...CREATED_SOURCE_COLUMNS }),
     customer_index: 'customer_index',
     created_by: 'created_by',
     currency: "'COP'",
     status: 'status',
     created_at: 'at',
     updated_at: 'at',
     expires_at: `coalesce(expires_at, at + ${LIFETIME})`,
     // A Bre-B payin is polled on schedule; a PSE payin without a payer only has to be ended when it expires.
     rail_task: "case when rail_due then 'open' when rail = 'BRE_B' then 'poll' else 'close' end",
     rail_due_at: `case when rail_due then at when rail = 'BRE_B' then at + interval '${FIRST_POLL_SECONDS.BRE_B} seconds' else coalesce(expires_at, at + ${LIFETIME}) end`,
     rail_sent_at: 'case when rail_due then at end',
     leased_until: `case when rail_due then clock_timestamp() + ${LEASE_INTERVAL} end`,
     lease_token: 'case when rail_due then lease_token end',
   })} from new, moment
   returning created_at`,
);

const encryptFields = fieldEncryptor('payins', CREATED_COLUMNS);
const pickFields = fieldPicker(CREATED_COLUMNS);

/** Inserts payins with their Bre-B keys and first history rows. @returns them in the given order */
export async function insertPayins(tx: Tx, payins: readonly NewPayin[]): Promise<Payin[]> {
  const rows = payins.map((payin) => ({
    ...encryptFields(payin, payin.dataKey),
    ...sourceFields(payin.source),
    customerIndex: customerIndex(payin.hashKey, payin.customer),
    status: FIRST_STATUS[payin.source.rail],
    expiresAt: payin.expiresAt,
    // A PSE payin without a payer waits for the payer's details; for Bre-B the key is due instead of the payin.
    railDue: payin.source.rail === 'PSE' && payin.customer !== null,
    leaseToken: payin.leaseToken,
    createdBy: payin.createdBy,
  }));
  const [inserted] = await tx.query<{ created_at: Date }>(INSERT, NEW.parameters(rows));
  if (!inserted) throw new Error('the insert of payins returned no row');
  tx.report(
    payins.map(({ organizationId, id, source: { rail } }) => ({
      resource: 'payin',
      organizationId,
      id,
      rail,
      ended: null,
    })),
  );
  const createdAt = inserted.created_at;
  const defaultExpiry = new Date(createdAt.getTime() + LIFETIME_MS);
  return payins.map((payin) =>
    asCreated({
      ...pickFields(payin),
      source: payin.source,
      createdAt,
      expiresAt: payin.expiresAt ?? defaultExpiry,
    }),
  );
}

const NO_SOURCE = emptyFields(CREATED_SOURCE_COLUMNS);

function sourceFields(source: PayinSource) {
  const { rail } = source;
  return rail === 'BRE_B'
    ? { ...NO_SOURCE, rail, brebKeyType: source.keyType, brebKey: source.key }
    : { ...NO_SOURCE, rail, pseBank: source.bank, psePersonType: source.personType };
}

/** For `select` and `returning`, of the table alias `p`. */
export const PAYIN_LIST = selectList('p', PAYIN_COLUMNS);

export type PayinRow = RowOf<typeof PAYIN_COLUMNS>;

const FIND = statement(
  'payin.find',
  `select ${PAYIN_LIST} from caudal.payins p
   join ${ROW_IDS.as('wanted')} on p.organization_id = wanted.organization_id and p.id = wanted.id`,
);

const FIND_ONE = statement(
  'payin.find-one',
  `select ${PAYIN_LIST} from caudal.payins p where p.organization_id = $1 and p.id = $2`,
);

/** @returns rows with encrypted customers: the caller decrypts them with the organization's data key */
export async function findPayins(tx: Tx, wanted: readonly RowId[]): Promise<PayinRow[]> {
  if (wanted.length === 0) return [];
  return tx.query<PayinRow>(FIND, ROW_IDS.parameters(wanted));
}

export function findPayin(tx: Tx, organizationId: string, id: string): Promise<PayinRow | null> {
  return queryRow(tx, FIND_ONE, [organizationId, id]);
}

const readFields = rowReader('payins', FIELD_COLUMNS);

export function payinFromRow(row: PayinRow, dataKey: KeyRing): Payin {
  return { ...readFields(row, dataKey), source: sourceFromRow(row) };
}

/** For callers that do not need the customer: it stays encrypted. */
export function payinWithoutCustomer(row: PayinRow, dataKey: KeyRing): Payin {
  return payinFromRow({ ...row, customer: null }, dataKey);
}

function sourceFromRow(row: PayinRow): PayinSource {
  if (row.rail === 'BRE_B' && row.breb_key !== null && row.breb_key_type !== null) {
    return { rail: 'BRE_B', keyType: row.breb_key_type, key: row.breb_key };
  }
  if (row.rail === 'PSE' && row.pse_bank !== null && row.pse_person_type !== null) {
    const page =
      row.pse_url !== null && row.pse_url_at !== null
        ? { url: row.pse_url, at: row.pse_url_at, cus: row.pse_cus }
        : null;
    return { rail: 'PSE', bank: row.pse_bank, personType: row.pse_person_type, page };
  }
  throw new Error(`payin ${row.id} has no data for its rail ${row.rail}`);
}
