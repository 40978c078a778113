import type { PeerCall, PeerReply } from '../harness/faulty-peer.ts';
import type { PayoutDriver } from '../harness/payout-driver.ts';
import { readMetric } from '../harness/read-metric.ts';
import type { Stack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

interface Payout {
  readonly id: string;
}

/** Waits for the answers to this many attempts: an order may settle before its answer is recorded. @returns all answers */
export function waitForAnswers(driver: PayoutDriver, { id }: Payout, count: number): Promise<string[]> {
  return until(`${count} attempts have their answers`, async () => {
    const attempts = await driver.attempts(id);
    const answers = attempts.flatMap(({ answer }) => answer ?? []);
    return answers.length >= count && answers.length === attempts.length ? answers : null;
  });
}

/** Postpones the polls of a sent payout for a day: until the test makes them due, no worker polls, however slow the test is. */
export async function postponePolls(driver: PayoutDriver, { id }: Payout): Promise<void> {
  await until('no worker polls', async () => {
    const postponed = await driver.query(
      `update caudal.payouts set rail_due_at = caudal.now() + interval '1 day'
       where id = $1 and rail_task = 'poll' and lease_token is null returning id`,
      [id],
    );
    return postponed.length === 1;
  });
}

export async function makePollDue(driver: PayoutDriver, { id }: Payout): Promise<void> {
  await driver.query(
    "update caudal.payouts set rail_due_at = caudal.now() where id = $1 and rail_task = 'poll'",
    [id],
  );
}

/** Runs `work` while no worker sends payouts. */
export async function whilePaused<T>(stack: Stack, driver: PayoutDriver, work: () => Promise<T>): Promise<T> {
  const waitForPauses = (count: number) =>
    until(`the workers see ${count} pauses`, async () => {
      const pauses = await Promise.all(stack.workers.map((each) => readMetric(each, 'caudal_rail_pauses')));
      return pauses.every((each) => each === count);
    });
  await driver.command('rails', 'pause', '--rail', 'BRE_B', '--reason', 'prueba', '--by', 'Laura');
  await waitForPauses(1);
  const done = await work();
  await driver.command('rails', 'resume', '--rail', 'BRE_B');
  // Otherwise a late worker may confuse this pause with the next one.
  await waitForPauses(0);
  return done;
}

/** Forwards a call of the server to the simulator. @returns its reply */
export async function forward(
  simulatorUrl: string,
  { path, authorization, body }: PeerCall,
): Promise<PeerReply> {
  const answer = await fetch(simulatorUrl + path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}
