import { setTimeout as sleep } from 'node:timers/promises';
import type { History } from './history.ts';
import { InvariantViolation } from './invariant-violation.ts';
import type { OrderFacts } from './order-facts.ts';
import { resume } from './stack-steps.ts';
import { isFinalLink } from './view.ts';

const POLL_INTERVAL_MS = 15;
/** The rail's time from an order's arrival to its settlement. */
const ORDER_MS = 1000;

/** Counts due work, and the business time until the first postponed notice is due. */
const LEFT = `select
  (select count(*) from caudal.payins where organization_id = $1 and rail_due_at <= caudal.now())::int as polls,
  (select count(*) from caudal.breb_keys where organization_id = $1 and register_due_at <= caudal.now())::int as keys,
  (select count(*) from caudal.payouts where organization_id = $1 and
     (leased_until > clock_timestamp() or (rail_due_at <= caudal.now() and not (rail_task = 'send' and $3::boolean))))::int as payouts,
  (select count(*) from caudal.anomalies where organization_id = $1 and accepted_at is not null and resolved_at is null)::int as acceptances,
  (select count(*) from caudal.payment_links where organization_id = $1 and status = 'PENDING'
     and num_nonnulls(open_breb_payin_id, open_pse_payin_id) = 0 and closes_at <= caudal.now())::int as links,
  (select count(*) from caudal.rail_notices where task is not null and received_at >= $2)::int as notices,
  (select extract(epoch from min(due_at) - caudal.now()) * 1000 from caudal.rail_notices
   where task is not null and received_at >= $2)::float8 as notice_in_ms`;

interface Left {
  readonly polls: number;
  readonly keys: number;
  /** Due or leased; while the rail is paused, no send is due. */
  readonly payouts: number;
  /** Accepted and not yet credited. */
  readonly acceptances: number;
  /** Closed, without an open attempt, and not yet expired. */
  readonly links: number;
  readonly notices: number;
  readonly notice_in_ms: number | null;
}

/**
 * Waits until all notices are delivered and applied and all due polls are done. Checks the invariants meanwhile, since they
 * must also hold while work is pending.
 */
export async function waitUntilIdle(history: History): Promise<void> {
  const { world } = history;
  const { stack, database } = world;
  const deadline = performance.now() + world.idleTimeoutMs;
  await releaseHangingCalls(history);
  const advanced = new Set<number>();
  for (;;) {
    // Reads the rail's journal first: a delivered notice is stored, so the database counts it as pending or applied.
    const { notices, orders } = await world.journal.readOn();
    const delivered = [...notices.values()]
      .filter((notice) => notice.acknowledged)
      .map(({ noticeId }) => noticeId);
    const inFlight = [...notices.values()].filter(
      (notice) => !notice.acknowledged && !history.heldRails.has(notice.rail),
    ).length;
    const [left] = await database.query<Left>('left', LEFT, [
      history.organizationId,
      history.since,
      history.paused,
    ]);
    if (!left) throw new Error('the database returned no row');
    const due = left.polls + left.keys + left.payouts + left.acceptances + left.links;
    const settling = orders.open().ending.length;
    if (inFlight + due + left.notices + settling === 0) {
      history.deliveredNotices = new Set(delivered);
      return;
    }
    if (performance.now() > deadline) {
      const about = { withinMs: world.idleTimeoutMs, inFlight, settling, ...left };
      throw new InvariantViolation({ invariant: 'work_completes', about });
    }
    await history.check('any');
    if (inFlight + due === 0 && (left.notice_in_ms ?? 0) > 0)
      await stack.shiftTime(Math.ceil(left.notice_in_ms ?? 0));
    // The rail settles an order after some time of its own clock; its end then appears in the journal.
    else if (inFlight + due === 0 && settling > 0 && !advanced.has(lastSeq(orders))) {
      advanced.add(lastSeq(orders));
      await stack.shiftTime(ORDER_MS);
    } else await sleep(POLL_INTERVAL_MS);
  }
}

function lastSeq(orders: OrderFacts): number {
  return Math.max(...orders.open().ending.map(({ seq }) => seq));
}

export async function releaseHangingCalls({ hanging, world }: History): Promise<void> {
  for (const id of hanging.splice(0)) await world.control.removeFault(id);
}

const BEYOND_EXPIRY_MS = 61 * 60_000;
const NEXT_POLL_MS = 6 * 60_000;
const MAX_POLLS = 10;
const LAST_POLL_MS = 61_000;

/** Clears all faults and advances time until every payin, payout and link is final. */
export async function finishHistory(history: History): Promise<void> {
  const { world } = history;
  for (const hold of history.locks.splice(0)) await hold.release();
  await releaseHangingCalls(history);
  await world.control.clearFaults();
  history.heldRails.clear();
  await resume(history);
  await waitUntilIdle(history);
  await endOpenOrders(history);
  let view = await history.check('idle');
  for (let round = 0; round < MAX_POLLS; round += 1) {
    const { payins, payouts, links } = view.snapshot;
    const open =
      payins.some(({ result_at }) => result_at === null) || links.some(({ status }) => !isFinalLink(status));
    if (!open && payouts.every(({ result_at }) => result_at !== null)) break;
    await world.stack.shiftTime(round === 0 && open ? BEYOND_EXPIRY_MS : NEXT_POLL_MS);
    await waitUntilIdle(history);
    await endOpenOrders(history);
    view = await history.check('idle');
  }
  await lastPolls(history);
  await history.check('end');
}

/** Ends the orders that the rail leaves open. */
async function endOpenOrders(history: History): Promise<void> {
  const { control, journal } = history.world;
  const { staying } = (await journal.readOn()).orders.open();
  for (const { endToEndId } of staying) await control.endOrder({ endToEndId, outcome: 'SETTLED' });
  if (staying.length > 0) await waitUntilIdle(history);
}

const WAITING = `select (
    (select count(*) from caudal.payins where organization_id = $1 and rail_due_at is not null)
    + (select count(*) from caudal.payouts where organization_id = $1 and rail_due_at is not null)
  )::int as count`;

/** An ended payin or payout is polled once more a minute later. Runs these polls now, not during a later history. */
async function lastPolls(history: History): Promise<void> {
  const { stack, database } = history.world;
  for (let round = 0; round < MAX_POLLS; round += 1) {
    const [left] = await database.query<{ count: number }>('waiting', WAITING, [history.organizationId]);
    if (left?.count === 0) return;
    await stack.shiftTime(LAST_POLL_MS);
    await waitUntilIdle(history);
  }
  throw new InvariantViolation({ invariant: 'work_completes', about: 'the last polls are still due' });
}
