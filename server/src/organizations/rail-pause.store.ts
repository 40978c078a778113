import { queryRecords } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Pause } from './rail-pauses.ts';

export interface StoredPause extends Pause {
  readonly reason: string;
  readonly pausedBy: string;
  readonly pausedAt: Date;
}

// Pausing again updates the reason and the author; `paused_at` stays.
const PAUSE = statement(
  'rail-pause.pause',
  `insert into caudal.rail_pauses (rail, organization_id, reason, paused_by) values ($1, $2, $3, $4)
   on conflict (rail, organization_id) do update set reason = excluded.reason, paused_by = excluded.paused_by`,
);

/** The organization must exist. */
export async function pause(
  tx: Tx,
  { rail, organizationId, reason, pausedBy }: Omit<StoredPause, 'pausedAt'>,
): Promise<void> {
  await tx.query(PAUSE, [rail, organizationId, reason, pausedBy]);
}

const RESUME = statement(
  'rail-pause.resume',
  'delete from caudal.rail_pauses where rail = $1 and organization_id = $2 returning 1',
);

/** @returns whether it was paused */
export async function resume(tx: Tx, { rail, organizationId }: Pause): Promise<boolean> {
  return (await tx.query(RESUME, [rail, organizationId])).length > 0;
}

const LIST = statement(
  'rail-pause.list',
  'select rail, organization_id, reason, paused_by, paused_at from caudal.rail_pauses order by rail, paused_at',
);

export function listPauses(tx: Pick<Tx, 'query'>): Promise<StoredPause[]> {
  return queryRecords(tx, LIST);
}
