import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from './stage.ts';

/** A dead sender's claim has thirty seconds, and what it held is then sent line by line. */
const RESTS_WITHIN_MS = 120_000;
const QUIET_POLLS = 3;

const WAITING = `
  select exists (select from caudal.events where undispatched)
      or exists (select from caudal.webhook_deliveries where status = 'PENDING')
      or exists (select from caudal.webhook_queues where leased_until is not null) as busy,
    (select max(extract(epoch from next_attempt_at - caudal.now())) from caudal.webhook_deliveries where next_attempt_at is not null)::float8
      as seconds`;

/** Waits until every event has reached whoever wants it; where a delivery waits for its next attempt, time goes on until then. */
export async function restWebhooks(stage: Stage, withinMs = RESTS_WITHIN_MS): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let polls = 1, quiet = 0; quiet < QUIET_POLLS && performance.now() < deadline; polls += 1) {
    const [row] = await stage.query<{ busy: boolean; seconds: number | null }>(WAITING);
    quiet = row && !row.busy ? quiet + 1 : 0;
    // A line that failed rests for up to a minute whatever is in it.
    if (polls % 5 === 0 && row?.busy) await stage.shiftTime(Math.max(61, 1 + (row.seconds ?? 0)) * 1000);
    await sleep(200);
  }
}

/** What a server must never have to say, found by the command that looks for it. @returns null when all is well */
export async function forgottenLines(stage: Stage): Promise<string | null> {
  const said = await stage.command('schedules', 'run', 'housekeeping');
  return isAlarm(said) ? said.trim() : null;
}

export function isAlarm(text: string): boolean {
  return text.includes('nobody would have looked');
}
