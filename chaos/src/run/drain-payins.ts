import { setTimeout as sleep } from 'node:timers/promises';
import type { RailControl } from '../stack/rail-control.ts';
import type { Stack } from '../stack/stack.ts';

const DRAIN_TIMEOUT_MS = 120_000;
const IDLE_POLLS = 5;
const HOUR_MS = 3_600_000;

const BUSY = `
  select exists (
      select from caudal.payins
      where status in ('PENDING', 'PROCESSING') or rail_due_at is not null or leased_until > clock_timestamp()
    )
    or exists (select from caudal.payment_links where status = 'PENDING')
    or exists (select from caudal.rail_notices where task is not null)
    or exists (select from caudal.breb_keys where register_due_at is not null or leased_until > clock_timestamp()) as busy`;

/** Advances time past every expiry and waits until no payin or link has work pending. */
export async function drainPayins(
  stack: Stack,
  rails: RailControl,
  withinMs = DRAIN_TIMEOUT_MS,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  // Two rounds: a payment in flight when its key was closed arrives after everything else has ended.
  for (let round = 0; round < 2; round += 1) {
    await stack.shiftTime(HOUR_MS + 60_000);
    // Requires several idle polls in a row: a rail may not have sent its notice for an event that just became due.
    for (let polls = 1, idle = 0; idle < IDLE_POLLS && performance.now() < deadline; polls += 1) {
      idle = (await isBusy(stack, rails)) ? 0 : idle + 1;
      // Some polls are scheduled minutes later, and an ended payin is polled once more.
      if (polls % 15 === 0 && idle === 0) await stack.shiftTime(360_000);
      await sleep(200);
    }
  }
}

async function isBusy(stack: Stack, rails: RailControl): Promise<boolean> {
  if ((await rails.noticesWaiting()) > 0) return true;
  const [row] = await stack.query<{ busy: boolean }>(BUSY);
  return row?.busy ?? true;
}
