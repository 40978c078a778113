import { setTimeout as sleep } from 'node:timers/promises';
import { toRailReference } from '../load/payer.ts';
import type { RailControl } from '../stack/rail-control.ts';
import type { Stack } from '../stack/stack.ts';

const DRAIN_TIMEOUT_MS = 120_000;
const IDLE_POLLS = 5;
/** Longer than the rail's processing time plus the send delay: unknown orders are polled or resent. */
const POLL_AGAIN_MS = 61_000;

const BUSY = `
  select exists (select from caudal.payouts where status = 'PROCESSING' or leased_until > clock_timestamp())
    or exists (select from caudal.rail_notices where task is not null) as busy`;

/** Waits until every payout is final, advancing time. Ends orders that the network leaves undecided. */
export async function drainPayouts(stack: Stack, rails: RailControl): Promise<void> {
  const deadline = performance.now() + DRAIN_TIMEOUT_MS;
  for (let polls = 1, idle = 0; idle < IDLE_POLLS && performance.now() < deadline; polls += 1) {
    idle = (await isBusy(stack, rails)) ? 0 : idle + 1;
    if (polls % 5 === 0 && idle === 0) {
      await stack.shiftTime(POLL_AGAIN_MS);
      await endUndecided(stack, rails);
    }
    await sleep(200);
  }
}

async function isBusy(stack: Stack, rails: RailControl): Promise<boolean> {
  if ((await rails.noticesWaiting()) > 0) return true;
  const [row] = await stack.query<{ busy: boolean }>(BUSY);
  return row?.busy ?? true;
}

/** Orders still in flight long after sending can only be to the key that the network leaves undecided. */
async function endUndecided(stack: Stack, rails: RailControl): Promise<void> {
  const open = await stack.query<{ id: string; number: number }>(
    `select p.id, o.number from caudal.payouts p join caudal.organizations o on o.id = p.organization_id
     where p.status = 'PROCESSING' and p.last_sent_at < caudal.now() - interval '2 minutes'`,
  );
  for (const { id, number } of open)
    await rails.endOrder({ endToEndId: toRailReference(id, number), outcome: 'SETTLED' });
}
