import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '../stack/stack.ts';

/** The lease of a dead sender lasts thirty seconds; then another worker delivers its queues. */
const DRAIN_TIMEOUT_MS = 120_000;
const IDLE_POLLS = 3;

const WAITING = `
  select exists (select from caudal.events where undispatched)
      or exists (select from caudal.webhook_deliveries where status = 'PENDING')
      or exists (select from caudal.webhook_queues where leased_until is not null) as busy,
    (select max(extract(epoch from next_attempt_at - caudal.now())) from caudal.webhook_deliveries where next_attempt_at is not null)::float8
      as seconds`;

/** Waits until all events are delivered. Advances time to the next attempt of postponed deliveries. */
export async function drainWebhooks(stack: Stack, withinMs = DRAIN_TIMEOUT_MS): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let polls = 1, idle = 0; idle < IDLE_POLLS && performance.now() < deadline; polls += 1) {
    const [row] = await stack.query<{ busy: boolean; seconds: number | null }>(WAITING);
    idle = row && !row.busy ? idle + 1 : 0;
    // A queue backs off for up to a minute after a failure.
    if (polls % 5 === 0 && row?.busy) await stack.shiftTime(Math.max(61, 1 + (row.seconds ?? 0)) * 1000);
    await sleep(200);
  }
}

/** Runs housekeeping, which reschedules stalled queues. @returns its output if it found any, else null */
export async function findStalledQueues(stack: Stack): Promise<string | null> {
  const output = await stack.command('schedules', 'run', 'housekeeping');
  return reportsStalledQueues(output) ? output.trim() : null;
}

/** Matches the log code of the server: a stalled queue means that a wake-up was lost. */
export function reportsStalledQueues(output: string): boolean {
  return output.includes('stalled_webhook_queues_rescheduled');
}
