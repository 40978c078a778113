import { bytes, nullable, type RowId, uuid } from '../db/columns.ts';
import { queryRecords, type RecordOf, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Actor } from '../kit/actor.ts';
import type { Resolved } from './payout.store.ts';

/** The result of a key lookup, as far as a later payout needs it. */
export interface NewLookup extends RowId {
  readonly receiverIndex: Buffer;
  readonly resolutionId: string;
  readonly holder: Buffer;
  readonly validForMs: number;
  readonly createdBy: Actor;
}

const INSERT = statement(
  'lookup.insert',
  `insert into caudal.breb_lookups (organization_id, id, receiver_index, resolution_id, holder, created_by, resolved_at, expires_at)
   select $1, $2, $3, $4, $5, $7, at, at + make_interval(secs => $6 / 1000.0) from (select caudal.now() as at) as moment
   returning expires_at`,
);

/** @returns when the lookup expires */
export async function insertLookup(tx: Tx, lookup: NewLookup): Promise<Date> {
  const { organizationId, id, receiverIndex, resolutionId, holder, validForMs, createdBy } = lookup;
  const values = [organizationId, id, receiverIndex, resolutionId, holder, validForMs, createdBy];
  const [row] = await tx.query<{ expires_at: Date }>(INSERT, values);
  if (!row) throw new Error('no lookup was inserted');
  return row.expires_at;
}

/** The lookup a payout uses: the one it names, or else the newest of the same Bre-B key. */
export type WantedLookup = RecordOf<typeof WANTED>;

const WANTED = new RowSet({ organization_id: uuid, receiver_index: bytes, lookup_id: nullable(uuid) });

const FIND = statement(
  'lookup.find',
  `select w.position::int, l.id as lookup_id, l.resolution_id, l.resolved_at, l.holder
   from ${WANTED.numberedAs('w')}
   cross join lateral (
     select * from caudal.breb_lookups l
     where l.organization_id = w.organization_id and l.receiver_index = w.receiver_index and l.expires_at > caudal.now()
       and (w.lookup_id is null or l.id = w.lookup_id)
     order by l.id desc limit 1
   ) as l`,
);

export interface FoundLookup extends Resolved {
  readonly lookupId: string;
}

/** @returns the unexpired lookup for each request, in order; null when there is none */
export async function findLookups(tx: Tx, wanted: readonly WantedLookup[]): Promise<(FoundLookup | null)[]> {
  if (wanted.length === 0) return [];
  const lookups = await queryRecords<FoundLookup & { position: number }>(tx, FIND, WANTED.parameters(wanted));
  const found = new Map(lookups.map(({ position, ...lookup }) => [position, lookup]));
  return wanted.map((_, index) => found.get(index + 1) ?? null);
}

const PURGE = statement(
  'lookup.purge',
  `delete from caudal.breb_lookups where ctid = any (array(
     select ctid from caudal.breb_lookups where expires_at < caudal.now() - interval '1 day' order by expires_at limit 5000))
   returning 1`,
);

/** @returns the number of deleted rows; call again until it is zero */
export async function purgeLookups(tx: Pick<Tx, 'query'>): Promise<number> {
  return (await tx.query(PURGE)).length;
}
