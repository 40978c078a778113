import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import {
  cancelPayout,
  createPayout,
  newShop,
  payoutRequest,
  readBalance,
} from '../harness/payout-requests.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const RACES = 1000;
const CONCURRENCY = 50;
const FUNDS = RACES * 100;

let stack: Stack;
let caudal: InProcess;
let simulator: SimulatorControl;
beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 2 });
  caudal = await composeInProcess(stack.settings);
  simulator = new SimulatorControl(stack.simulatorUrl);
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

/** End-to-end IDs of all orders that reached the rail, from its journal. */
function readJournalOrders(): string[] {
  const lines = readFileSync(join(stack.simulatorData, 'journal.jsonl'), 'utf8').trimEnd().split('\n');
  return lines
    .map((line) => JSON.parse(line) as { kind: string; orders?: readonly (readonly string[])[] })
    .filter(({ kind }) => kind === 'breb.orders')
    .flatMap(({ orders = [] }) => orders.map(([endToEndId = '']) => endToEndId));
}

/** Stops and continues the workers at random moments, so that cancellations win races on a busy machine, too. */
async function pauseWorkersWhile(isRacing: () => boolean): Promise<void> {
  while (isRacing()) {
    for (const worker of stack.workers) worker.kill('SIGSTOP');
    await sleep(randomInt(400));
    for (const worker of stack.workers) worker.kill('SIGCONT');
    await sleep(randomInt(400));
  }
}

it('POST /payouts/{id}/cancel either cancels or is too late in a thousand races, and a canceled payout is never sent', async () => {
  const shop = await newShop(caudal, stack.api, FUNDS);
  const outcomes = new Map<string, string>();
  let started = 0;
  const race = async (): Promise<void> => {
    while (started < RACES) {
      started += 1;
      const [creating, canceling] = [randomInt(2), randomInt(2)].map((index) =>
        shop.api.at(stack.apis[index]?.url ?? ''),
      );
      const { id } = await createPayout(creating ?? shop.api, payoutRequest({ amountInCents: 100 }));
      // A random delay that decides the race, not a wait for a condition.
      await sleep(randomInt(400));
      const { status, body } = await cancelPayout(canceling ?? shop.api, id);
      outcomes.set(id, status === 200 ? body.status : (body as unknown as { code: string }).code);
    }
  };
  let isRacing = true;
  const races = Promise.all(Array.from({ length: CONCURRENCY }, race)).finally(() => (isRacing = false));
  await Promise.all([races, pauseWorkersWhile(() => isRacing)]);
  const rows = await until('all have ended', async () => {
    const all = await stack.database.query<{
      id: string;
      status: string;
      end_to_end_id: string;
      events: string[];
    }>(
      `select p.id, p.status, p.end_to_end_id,
           array(select e.event::text from caudal.events e where e.resource_id = p.id) as events
         from caudal.payouts p where p.organization_id = $1`,
      [shop.id],
    );
    return all.every(({ status }) => status !== 'PROCESSING') ? all : null;
  });
  expect(rows).toHaveLength(RACES);
  const sent = Map.groupBy(readJournalOrders(), (id) => id);
  const executed = Map.groupBy(await simulator.executions(), ({ endToEndId }) => endToEndId);
  const seen = rows.map(({ id, status, end_to_end_id, events }) => ({
    answer: outcomes.get(id),
    status,
    events: events.join(),
    orders: sent.get(end_to_end_id)?.length ?? 0,
    executions: executed.get(end_to_end_id)?.length ?? 0,
  }));
  const kinds = Map.groupBy(seen, (each) => JSON.stringify(each));
  expect([...kinds.keys()].map((kind) => JSON.parse(kind) as object)).toEqual(
    expect.arrayContaining([
      { answer: 'CANCELED', status: 'CANCELED', events: 'payout.canceled', orders: 0, executions: 0 },
      {
        answer: 'payout_already_sent',
        status: 'CONFIRMED',
        events: 'payout.confirmed',
        orders: 1,
        executions: 1,
      },
    ]),
  );
  expect(kinds.size).toBe(2);
  const confirmed = rows.filter(({ status }) => status === 'CONFIRMED').length;
  expect(await readBalance(shop.api)).toEqual({ available: FUNDS - confirmed * 100, held: 0 });
  expect(await runOperatorCommand(stack.settings, 'ledger', 'verify')).toMatchObject({ code: 0 });
});
