import { setTimeout as sleep } from 'node:timers/promises';
import type { History } from './history.ts';
import { InvariantViolation } from './invariant-violation.ts';
import type { OrderFacts } from './order-facts.ts';
import { resume } from './stage-steps.ts';

const LOOK_EVERY_MS = 15;
/** From an order's arrival to its settlement. */
const ORDER_MS = 1000;

/** What is due now, and in how long the first notice is due that was put off. Put off in business time, which we move. */
const LEFT = `select
  (select count(*) from caudal.payins where organization_id = $1 and rail_due_at <= caudal.now())::int as questions,
  (select count(*) from caudal.breb_keys where organization_id = $1 and register_due_at <= caudal.now())::int as keys,
  (select count(*) from caudal.payouts where organization_id = $1 and
     (leased_until > clock_timestamp() or (rail_due_at <= caudal.now() and not (rail_task = 'send' and $3::boolean))))::int as payouts,
  (select count(*) from caudal.anomalies where organization_id = $1 and accepted_at is not null and resolved_at is null)::int as acceptances,
  (select count(*) from caudal.rail_notices where task is not null and received_at >= $2)::int as notices,
  (select extract(epoch from min(due_at) - caudal.now()) * 1000 from caudal.rail_notices
   where task is not null and received_at >= $2)::float8 as notice_in_ms`;

interface Left {
  readonly questions: number;
  readonly keys: number;
  /** Due, or in somebody's hands; while the rail is paused none is due to be sent. */
  readonly payouts: number;
  /** Accepted and not yet credited. */
  readonly acceptances: number;
  readonly notices: number;
  readonly notice_in_ms: number | null;
}

/**
 * Waits until everything that was said has been heard, applied and asked about, judging all the while: a promise that
 * does not hold in the middle of work does not hold.
 */
export async function comeToRest(history: History): Promise<void> {
  const { world } = history;
  const { stage, witness } = world;
  const deadline = performance.now() + world.restsWithinMs;
  await letHangingGo(history);
  const hurried = new Set<number>();
  for (;;) {
    // The rail's journal first: what it knows to be delivered is stored, and so among what is left in the database.
    const { notices, orders } = await world.journal.readOn();
    const heard = [...notices.values()]
      .filter((notice) => notice.acknowledged)
      .map(({ noticeId }) => noticeId);
    const underWay = [...notices.values()].filter(
      (notice) => !notice.acknowledged && !history.heldRails.has(notice.rail),
    ).length;
    const [left] = await witness.ask<Left>('left', LEFT, [
      history.organizationId,
      history.since,
      history.paused,
    ]);
    if (!left) throw new Error('the database answered nothing');
    const due = left.questions + left.keys + left.payouts + left.acceptances;
    const settling = orders.open().ending.length;
    if (underWay + due + left.notices + settling === 0) {
      history.heard = new Set(heard);
      return;
    }
    if (performance.now() > deadline) {
      const about = { withinMs: world.restsWithinMs, underWay, settling, ...left };
      throw new InvariantViolation({ promise: 'rest', about });
    }
    await history.judge('any');
    if (underWay + due === 0 && (left.notice_in_ms ?? 0) > 0)
      await stage.shiftTime(Math.ceil(left.notice_in_ms ?? 0));
    // The rail takes its time over an order, by its own clock; its end is in the journal a moment later.
    else if (underWay + due === 0 && settling > 0 && !hurried.has(lastOf(orders))) {
      hurried.add(lastOf(orders));
      await stage.shiftTime(ORDER_MS);
    } else await sleep(LOOK_EVERY_MS);
  }
}

function lastOf(orders: OrderFacts): number {
  return Math.max(...orders.open().ending.map(({ seq }) => seq));
}

export async function letHangingGo({ hanging, world }: History): Promise<void> {
  for (const id of hanging.splice(0)) await world.control.removeFault(id);
}

const BEYOND_EXPIRY_MS = 61 * 60_000;
const NEXT_POLL_MS = 6 * 60_000;
const MAX_POLLS = 10;
const LAST_POLL_MS = 61_000;

/** The rails behave again, time goes on, and every payin and payout finds its end. */
export async function comeToAnEnd(history: History): Promise<void> {
  const { world } = history;
  for (const hold of history.holds.splice(0)) await hold.letGo();
  await letHangingGo(history);
  await world.control.clearFaults();
  history.heldRails.clear();
  await resume(history);
  await comeToRest(history);
  await endStaying(history);
  let view = await history.judge('rest');
  for (let round = 0; round < MAX_POLLS; round += 1) {
    const { payins, payouts } = view.books;
    const open = payins.some(({ result_at }) => result_at === null);
    if (!open && payouts.every(({ result_at }) => result_at !== null)) break;
    await world.stage.shiftTime(round === 0 && open ? BEYOND_EXPIRY_MS : NEXT_POLL_MS);
    await comeToRest(history);
    await endStaying(history);
    view = await history.judge('rest');
  }
  await lastPolls(history);
  await history.judge('end');
}

/** An order that stays open at the rail for ever is ended there by a person, sooner or later. */
async function endStaying(history: History): Promise<void> {
  const { control, journal } = history.world;
  const { staying } = (await journal.readOn()).orders.open();
  for (const { endToEndId } of staying) await control.endOrder({ endToEndId, outcome: 'SETTLED' });
  if (staying.length > 0) await comeToRest(history);
}

const WAITING = `select (
    (select count(*) from caudal.payins where organization_id = $1 and rail_due_at is not null)
    + (select count(*) from caudal.payouts where organization_id = $1 and rail_due_at is not null)
  )::int as count`;

/** What ended is asked about once more a minute later. Left undone, it would be done in the midst of a later history. */
async function lastPolls(history: History): Promise<void> {
  const { stage, witness } = history.world;
  for (let round = 0; round < MAX_POLLS; round += 1) {
    const [left] = await witness.ask<{ count: number }>('waiting', WAITING, [history.organizationId]);
    if (left?.count === 0) return;
    await stage.shiftTime(LAST_POLL_MS);
    await comeToRest(history);
  }
  throw new InvariantViolation({ promise: 'rest', about: 'the last questions are asked' });
}
