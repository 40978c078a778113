import { setTimeout as sleep } from 'node:timers/promises';
import { pseReferenceOf } from './payer.ts';
import type { RailControl } from './rail-control.ts';
import type { Stage } from './stage.ts';

const RESTS_WITHIN_MS = 120_000;
const QUIET_POLLS = 5;
/** The rail's longest time and ours to leave, and some more: what is unknown is asked about, or sent again. */
const ASKED_AGAIN_MS = 61_000;

const BUSY = `
  select exists (select from caudal.payouts where status = 'PROCESSING' or leased_until > clock_timestamp())
    or exists (select from caudal.rail_notices where task is not null) as busy`;

/** Waits until every payout has come to its end, time going by in jumps. What the network would never decide is decided. */
export async function restPayouts(stage: Stage, rails: RailControl): Promise<void> {
  const deadline = performance.now() + RESTS_WITHIN_MS;
  for (let polls = 1, quiet = 0; quiet < QUIET_POLLS && performance.now() < deadline; polls += 1) {
    quiet = (await isBusy(stage, rails)) ? 0 : quiet + 1;
    if (polls % 5 === 0 && quiet === 0) {
      await stage.shiftTime(ASKED_AGAIN_MS);
      await endForgotten(stage, rails);
    }
    await sleep(200);
  }
}

async function isBusy(stage: Stage, rails: RailControl): Promise<boolean> {
  if ((await rails.noticesWaiting()) > 0) return true;
  const [row] = await stage.query<{ busy: boolean }>(BUSY);
  return row?.busy ?? true;
}

/** Sent long ago and still under way: only orders to the key that is never decided are. */
async function endForgotten(stage: Stage, rails: RailControl): Promise<void> {
  const open = await stage.query<{ id: string; number: number }>(
    `select p.id, o.number from caudal.payouts p join caudal.organizations o on o.id = p.organization_id
     where p.status = 'PROCESSING' and p.last_sent_at < caudal.now() - interval '2 minutes'`,
  );
  for (const { id, number } of open)
    await rails.endOrder({ endToEndId: pseReferenceOf(id, number), outcome: 'SETTLED' });
}
