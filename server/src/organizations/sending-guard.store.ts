import { queryRecord } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { SendingHold } from './sending-guard.ts';

type Query = Pick<Tx, 'query'>;

const INSERT_MARK = statement(
  'sending-guard.insert-mark',
  // A process that has been disconnected for longer than a day confirms nothing.
  `with old as (delete from caudal.continuity_marks where at < clock_timestamp() - interval '1 day')
   insert into caudal.continuity_marks (mark) values (gen_random_uuid())`,
);

export async function insertContinuityMark(tx: Query): Promise<void> {
  await tx.query(INSERT_MARK);
}

const CONFIRM = statement(
  'sending-guard.confirm',
  // Only another timeline of the same cluster, database and table: a dump restored elsewhere is confirmed by operators alone.
  `update caudal.sending_guard g set identity = now.identity, confirmed_at = clock_timestamp()
   from (select caudal.database_identity() as identity) now
   -- All processes try at the same time: one commits, which waits for a standby, and the others do not wait for its lock.
   where g.only_row = (select locked.only_row from caudal.sending_guard locked for update skip locked)
     and g.paused_at is null and now.identity is not null
     and regexp_replace(g.identity, '[^/]*$', '') = regexp_replace(now.identity, '[^/]*$', '')
     and exists (select from caudal.continuity_marks m where m.mark = $1)
   returning 1`,
);

/** Accepts the current timeline if the database has the mark. @returns whether it was accepted */
export async function confirmTimeline(tx: Query, mark: string): Promise<boolean> {
  return (await tx.query(CONFIRM, [mark])).length > 0;
}

const PAUSE = statement(
  'sending-guard.pause',
  `update caudal.sending_guard set paused_at = coalesce(paused_at, clock_timestamp()), paused_by = coalesce(paused_by, $1),
     reason = coalesce(reason, $2)`,
);

/** The first pause stays: pausing again changes nothing. */
export async function pauseSending(tx: Query, by: string, reason: string): Promise<void> {
  await tx.query(PAUSE, [by, reason]);
}

const ALLOW = statement(
  'sending-guard.allow',
  `update caudal.sending_guard set identity = caudal.database_identity(), confirmed_at = clock_timestamp(),
     paused_at = null, paused_by = null, reason = null`,
);

/** Accepts the database as it is, after an operator has compared it with the rails. */
export async function allowSending(tx: Query): Promise<void> {
  await tx.query(ALLOW);
}

export interface GuardState {
  readonly hold: SendingHold | null;
  readonly confirmedAt: Date;
  readonly pausedAt: Date | null;
  readonly pausedBy: string | null;
  readonly reason: string | null;
}

const READ = statement(
  'sending-guard.read',
  'select caudal.sending_held() as hold, confirmed_at, paused_at, paused_by, reason from caudal.sending_guard',
);

export async function readSendingGuard(tx: Query): Promise<GuardState> {
  const state = await queryRecord<GuardState>(tx, READ);
  if (!state) throw new Error('the sending guard has no row');
  return state;
}
