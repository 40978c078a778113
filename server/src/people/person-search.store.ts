import type { RowId } from '../db/columns.ts';
import { queryRecords, ROW_IDS } from '../db/records.ts';
import { type Statement, statement, type Tx } from '../db/tx.ts';
import type { CustomerHashes, ResourceKind } from './person.ts';

/** What to look for in the rows of one organization. */
export interface SearchPattern extends CustomerHashes {
  /** Keyed hashes of the person as the holder of a Bre-B key. */
  readonly holders: readonly Buffer[];
  /** Keyed hashes of the Bre-B keys that consist of the person's identifier. */
  readonly receivers: readonly Buffer[];
}

/** Rows read by a statement: some ten milliseconds, so that a search delays no other work of the database. */
export const SEARCH_BATCH = 20_000;

/** A row of an earlier version has a customer and no index: the caller decrypts and compares it. */
const CUSTOMER = `t.customer is not null
  and (t.customer_index is null or substr(t.customer_index, 1, 8) = $4 or substr(t.customer_index, 9, 8) = $5)`;

/** The matching rows and the last row, with the number of rows read. */
const BATCH_RESULT = `select b.id, b.matches, (select count(*)::integer from batch) as read
  from batch b where b.matches or b.id = (select l.id from batch l order by l.id desc limit 1) order by b.id`;

interface BatchRow {
  readonly id: string;
  readonly matches: boolean;
  readonly read: number;
}

function searchStatement(name: string, table: string, condition: string): Statement {
  return statement(
    `person-search.${name}`,
    `with batch as materialized (
       select t.id, t.erased_at is null and (${condition}) as matches
       from caudal.${table} t where t.organization_id = $1 and t.id > $2 order by t.id limit $3
     )
     ${BATCH_RESULT}`,
  );
}

const RECEIVER = 't.holder = any ($6::bytea[]) or t.receiver_index = any ($7::bytea[])';

const SEARCHES: Readonly<Record<ResourceKind, Statement>> = {
  payin: searchStatement('payins', 'payins', CUSTOMER),
  payout: searchStatement('payouts', 'payouts', `(${CUSTOMER}) or ${RECEIVER}`),
  payment_link: searchStatement('payment-links', 'payment_links', CUSTOMER),
};

export interface SearchedBatch {
  /** Rows that may belong to the person. */
  readonly candidates: readonly string[];
  /** The last row read; null when there are no more. */
  readonly after: string | null;
}

/**
 * Reads the next rows of an organization in the order of their ids.
 * @param after the smallest UUID, or the last row of the previous batch
 */
export async function searchBatch(
  tx: Pick<Tx, 'query'>,
  kind: ResourceKind,
  organizationId: string,
  after: string,
  pattern: SearchPattern,
  limit = SEARCH_BATCH,
): Promise<SearchedBatch> {
  const { document, email, holders, receivers } = pattern;
  const values = [organizationId, after, limit, document, email];
  const rows = await tx.query<BatchRow>(
    SEARCHES[kind],
    kind === 'payout' ? [...values, holders, receivers] : values,
  );
  return toBatch(rows, limit);
}

function toBatch(rows: readonly BatchRow[], limit: number): SearchedBatch {
  const last = rows.at(-1);
  return {
    candidates: rows.filter(({ matches }) => matches).map(({ id }) => id),
    after: last && last.read === limit ? last.id : null,
  };
}

function expiredStatement(name: string, table: string): Statement {
  return statement(
    `person-search.expired-${name}`,
    `with batch as materialized (
       select t.id, t.erased_at is null as matches from caudal.${table} t
       where t.organization_id = $1 and t.id > $2
         and t.id < caudal.uuid_floor(caudal.now() - make_interval(years => $4)) order by t.id limit $3
     )
     ${BATCH_RESULT}`,
  );
}

const EXPIRED: Readonly<Record<ResourceKind, Statement>> = {
  payin: expiredStatement('payins', 'payins'),
  payout: expiredStatement('payouts', 'payouts'),
  payment_link: expiredStatement('payment-links', 'payment_links'),
};

/** Like `searchBatch`: the rows that are older than the legal retention and not erased. */
export async function expiredBatch(
  tx: Pick<Tx, 'query'>,
  kind: ResourceKind,
  organizationId: string,
  after: string,
  retentionYears: number,
  limit = SEARCH_BATCH,
): Promise<SearchedBatch> {
  return toBatch(
    await tx.query<BatchRow>(EXPIRED[kind], [organizationId, after, limit, retentionYears]),
    limit,
  );
}

const ORGANIZATIONS = statement(
  'person-search.organizations',
  'select id, number, name, support_contact from caudal.organizations where $1::uuid is null or id = $1 order by id',
);

export interface SearchedOrganization {
  readonly id: string;
  readonly number: number;
  readonly name: string;
  readonly supportContact: string;
}

/** All organizations, with the operator's, whose payouts return money. @param id null: all */
export function listSearchedOrganizations(
  tx: Pick<Tx, 'query'>,
  id: string | null,
): Promise<SearchedOrganization[]> {
  return queryRecords(tx, ORGANIZATIONS, [id]);
}

const RECEIVERS = statement(
  'person-search.receivers',
  `select p.id, p.holder, p.receiver_index from ${ROW_IDS.as('wanted')}
   join caudal.payouts p on p.organization_id = wanted.organization_id and p.id = wanted.id`,
);

/** The keyed hashes of a payout's receiver. */
export interface ReceiverHashes {
  readonly id: string;
  readonly holder: Buffer | null;
  readonly receiverIndex: Buffer;
}

export async function readReceiverHashes(
  tx: Pick<Tx, 'query'>,
  payouts: readonly RowId[],
): Promise<ReadonlyMap<string, ReceiverHashes>> {
  const rows = await queryRecords<ReceiverHashes>(tx, RECEIVERS, ROW_IDS.parameters(payouts));
  return new Map(rows.map((row) => [row.id, row]));
}
