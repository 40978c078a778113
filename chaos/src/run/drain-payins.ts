import { setTimeout as sleep } from 'node:timers/promises';
import type { RailControl } from './rail-control.ts';
import type { Stage } from './stage.ts';

const RESTS_WITHIN_MS = 120_000;
const QUIET_POLLS = 5;
const HOUR_MS = 3_600_000;

const BUSY = `
  select exists (
      select from caudal.payins
      where status in ('PENDING', 'PROCESSING') or rail_due_at is not null or leased_until > clock_timestamp()
    )
    or exists (select from caudal.payment_links where status = 'PENDING')
    or exists (select from caudal.rail_notices where task is not null)
    or exists (select from caudal.breb_keys where register_due_at is not null or leased_until > clock_timestamp()) as busy`;

/** Lets time pass beyond every expiry and waits until nothing is left to do about any payin or link. */
export async function restPayins(
  stage: Stage,
  rails: RailControl,
  withinMs = RESTS_WITHIN_MS,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  // Twice: a payment that was under way when its door shut comes after everything else has ended.
  for (let round = 0; round < 2; round += 1) {
    await stage.shiftTime(HOUR_MS + 60_000);
    // Quiet for a while and not for a moment: what has just become due at a rail has told nobody yet.
    for (let polls = 1, quiet = 0; quiet < QUIET_POLLS && performance.now() < deadline; polls += 1) {
      quiet = (await isBusy(stage, rails)) ? 0 : quiet + 1;
      // Some questions come again minutes later, and what ended is asked about once more.
      if (polls % 15 === 0 && quiet === 0) await stage.shiftTime(360_000);
      await sleep(200);
    }
  }
}

async function isBusy(stage: Stage, rails: RailControl): Promise<boolean> {
  if ((await rails.noticesWaiting()) > 0) return true;
  const [row] = await stage.query<{ busy: boolean }>(BUSY);
  return row?.busy ?? true;
}
