import { setImmediate as tick } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Batcher, type Verdict } from '../../src/kit/batch/batcher.ts';
import { FairQueue } from '../../src/kit/batch/fair-queue.ts';
import type { ApiError } from '../../src/kit/errors.ts';

interface Command {
  readonly id: number;
  readonly group: string;
  readonly poisoned: boolean;
}

class Failure extends Error {
  readonly verdict: Verdict;

  constructor(verdict: Verdict) {
    super(verdict);
    this.verdict = verdict;
  }
}

function command(id: number, group = 'a', poisoned = false): Command {
  return { id, group, poisoned };
}

interface Plan {
  readonly maxBatch?: number;
  readonly maxQueue?: number;
  readonly lanes?: number;
  readonly retryWithinMs?: number;
  /** What happens to the n-th run, beyond the poison in it. */
  readonly incidents?: readonly (Verdict | null)[];
}

/** A batcher over a store that counts, so that a test can see what ran, how often and together with what. */
function stage(plan: Plan = {}) {
  const committed: number[] = [];
  const batches: Command[][] = [];
  const gate = { open: true, waiting: [] as (() => void)[] };
  let runs = 0;
  const batcher = new Batcher<Command, number>({
    maxBatch: plan.maxBatch ?? 50,
    maxQueue: plan.maxQueue ?? 1000,
    lanes: plan.lanes ?? 1,
    retryWithinMs: plan.retryWithinMs ?? 3000,
    groupOf: (each) => each.group,
    verdict: (error) => (error instanceof Failure ? error.verdict : 'fault'),
    run: async (commands) => {
      batches.push([...commands]);
      const incident = plan.incidents?.[runs];
      runs += 1;
      await tick();
      if (!gate.open) await new Promise<void>((resolve) => gate.waiting.push(resolve));
      if (commands.some((each) => each.poisoned)) throw new Failure('command');
      if (incident) throw new Failure(incident);
      committed.push(...commands.map((each) => each.id));
      return commands.map((each) => each.id * 10);
    },
  });
  const openGate = () => {
    gate.open = true;
    for (const resolve of gate.waiting.splice(0)) resolve();
  };
  return { batcher, committed, batches, gate, openGate };
}

describe('the batcher', () => {
  it('takes one command alone at once', async () => {
    const { batcher, batches } = stage();
    await expect(batcher.submit(command(7))).resolves.toBe(70);
    expect(batches.map((batch) => batch.length)).toEqual([1]);
  });

  it('commits together what gathered while the last batch ran', async () => {
    const { batcher, batches } = stage();
    const first = batcher.submit(command(0));
    await tick();
    const rest = Array.from({ length: 20 }, (_, index) => batcher.submit(command(index + 1)));
    await Promise.all([first, ...rest]);
    expect(batches.map((batch) => batch.length)).toEqual([1, 20]);
  });

  it('gathers while a batch is quick, and goes on beside one that takes long', async () => {
    const { batcher, batches, gate, openGate } = stage({ lanes: 2 });
    gate.open = false;
    const began = performance.now();
    const held = batcher.submit(command(0));
    await tick();
    const rest = Array.from({ length: 20 }, (_, index) => batcher.submit(command(index + 1)));
    await tick();
    expect(batches.map((batch) => batch.length)).toEqual([1]);
    await vi.waitFor(() => expect(batches.map((batch) => batch.length)).toEqual([1, 20]), { interval: 2 });
    expect(performance.now() - began).toBeGreaterThan(15);
    const third = batcher.submit(command(21));
    openGate();
    await Promise.all([held, ...rest, third]);
    expect(batches.map((batch) => batch.length)).toEqual([1, 20, 1]);
  });

  it('lets only the poisoned command of fifty fail', async () => {
    const { batcher, committed } = stage();
    const answers = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => batcher.submit(command(index, 'a', index === 31))),
    );
    expect(
      answers
        .map((answer, index) => (answer.status === 'rejected' ? index : -1))
        .filter((index) => index >= 0),
    ).toEqual([31]);
    expect([...committed].sort((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, index) => index).filter((index) => index !== 31),
    );
  });

  it('tries a batch again as a whole when nothing was committed', async () => {
    const { batcher, batches, committed } = stage({ incidents: ['again', 'again', null] });
    await expect(Promise.all([batcher.submit(command(1)), batcher.submit(command(2))])).resolves.toEqual([
      10, 20,
    ]);
    expect(batches.map((batch) => batch.length)).toEqual([2, 2, 2]);
    expect(committed).toEqual([1, 2]);
  });

  it('gives up after its retries and says that nothing was done', async () => {
    const { batcher } = stage({
      incidents: Array.from({ length: 500 }, () => 'again' as const),
      retryWithinMs: 200,
    });
    await expect(batcher.submit(command(1))).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it('never repeats nor splits a batch whose commit may have happened', async () => {
    const { batcher, batches } = stage({ incidents: ['unknown'] });
    const answers = await Promise.allSettled([batcher.submit(command(1)), batcher.submit(command(2))]);
    expect(
      answers.map((answer) => (answer.status === 'rejected' ? (answer.reason as ApiError).code : '')),
    ).toEqual(['outcome_unknown', 'outcome_unknown']);
    expect(batches).toHaveLength(1);
  });

  it('turns away, unbegun, a command that has waited too long behind others', async () => {
    const { batcher, gate, openGate, committed } = stage({ retryWithinMs: 30, maxBatch: 1 });
    gate.open = false;
    const first = batcher.submit(command(1));
    await tick();
    const second = batcher.submit(command(2));
    await new Promise((resolve) => setTimeout(resolve, 40));
    openGate();
    await expect(first).resolves.toBe(10);
    await expect(second).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(committed).toEqual([1]);
  });

  it('refuses what does not fit its queue, with the time to come back', async () => {
    const { batcher, gate, openGate } = stage({ maxQueue: 3 });
    gate.open = false;
    const running = batcher.submit(command(0));
    await tick();
    const queued = [1, 2, 3].map((id) => batcher.submit(command(id)));
    await expect(batcher.submit(command(4))).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterSeconds: 1,
    });
    openGate();
    await expect(Promise.all([running, ...queued])).resolves.toEqual([0, 10, 20, 30]);
  });

  it('finds room for a quiet organization when a loud one has filled the queue', async () => {
    const { batcher, batches, gate, openGate } = stage({ maxQueue: 10, maxBatch: 4 });
    gate.open = false;
    const running = batcher.submit(command(0, 'loud'));
    await tick();
    const loud = Array.from({ length: 10 }, (_, index) => batcher.submit(command(index + 1, 'loud')));
    const quiet = batcher.submit(command(99, 'quiet'));
    const settled = Promise.allSettled(loud);
    openGate();
    await expect(quiet).resolves.toBe(990);
    await running;
    const refused = (await settled).filter((answer) => answer.status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(batches[1]?.map((each) => each.id)).toContain(99);
  });

  it('finishes what it took before it closes, and takes nothing more', async () => {
    const { batcher, committed } = stage();
    const taken = [batcher.submit(command(1)), batcher.submit(command(2))];
    const closed = batcher.close();
    await expect(batcher.submit(command(3))).rejects.toMatchObject({ code: 'service_unavailable' });
    await closed;
    expect(committed).toEqual([1, 2]);
    await Promise.all(taken);
  });

  it('answers every command exactly once, whatever fails', async () => {
    const arbitrary = fc.record({
      commands: fc.array(
        fc.record({ group: fc.constantFrom('a', 'b', 'c'), poisoned: fc.boolean(), pause: fc.boolean() }),
        { maxLength: 60 },
      ),
      incidents: fc.array(
        fc.constantFrom<(Verdict | null)[]>(null, null, null, 'again', 'unknown', 'fault'),
        {
          maxLength: 30,
        },
      ),
      maxBatch: fc.integer({ min: 1, max: 12 }),
      maxQueue: fc.integer({ min: 1, max: 40 }),
      lanes: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async (input) => {
        const { batcher, committed, batches } = stage(input);
        const answers: Promise<PromiseSettledResult<number>>[] = [];
        for (const [id, each] of input.commands.entries()) {
          answers.push(
            Promise.allSettled([batcher.submit(command(id, each.group, each.poisoned))]).then(
              ([answer]) => answer,
            ),
          );
          if (each.pause) await tick();
        }
        const settled = await Promise.all(answers);
        await batcher.close();
        const once = new Set(committed);
        expect(once.size).toBe(committed.length);
        for (const [id, answer] of settled.entries()) {
          const poisoned = input.commands[id]?.poisoned;
          if (answer.status === 'fulfilled') expect(answer.value).toBe(id * 10);
          // A yes means committed; a command that was refused or is poisoned was not.
          expect(once.has(id)).toBe(answer.status === 'fulfilled');
          if (poisoned) expect(answer.status).toBe('rejected');
        }
        for (const batch of batches) expect(batch.length).toBeLessThanOrEqual(input.maxBatch);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the fair queue', () => {
  it('keeps order within a group and shares each batch evenly between groups', () => {
    const arbitrary = fc.record({
      items: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 200 }),
      batch: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(arbitrary, ({ items, batch }) => {
        const queue = new FairQueue<{ group: string; order: number }>(1000);
        for (const [order, group] of items.entries()) queue.push(group, { group, order });
        const left = new Map<string, number>();
        for (const group of items) left.set(group, (left.get(group) ?? 0) + 1);
        const seen: { group: string; order: number }[] = [];
        while (queue.size > 0) {
          const taken = queue.take(batch);
          const share = new Map<string, number>();
          for (const item of taken) share.set(item.group, (share.get(item.group) ?? 0) + 1);
          const most = Math.max(...share.values());
          // Nobody who still waits got two fewer than anybody served.
          for (const [group, waiting] of left) {
            const got = share.get(group) ?? 0;
            if (waiting > got) expect(got).toBeGreaterThanOrEqual(most - 1);
            left.set(group, waiting - got);
          }
          seen.push(...taken);
        }
        expect(seen).toHaveLength(items.length);
        for (const group of new Set(items)) {
          const orders = seen.filter((item) => item.group === group).map((item) => item.order);
          expect(orders).toEqual([...orders].sort((a, b) => a - b));
        }
      }),
    );
  });

  it('never exceeds its limit, and only the longest line gives way', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b', 'c')),
        fc.integer({ min: 1, max: 10 }),
        (groups, limit) => {
          const queue = new FairQueue<string>(limit);
          const length = new Map<string, number>();
          for (const group of groups) {
            const longest = Math.max(0, ...length.values());
            const evicted = queue.push(group, group);
            length.set(group, (length.get(group) ?? 0) + 1);
            if (evicted !== null) {
              expect(length.get(evicted) ?? 0).toBeGreaterThanOrEqual(longest);
              length.set(evicted, (length.get(evicted) ?? 0) - 1);
            }
            expect(queue.size).toBeLessThanOrEqual(limit);
          }
        },
      ),
    );
  });

  it('serves a group again only after every other waiting group', () => {
    const queue = new FairQueue<string>(100);
    for (let index = 0; index < 10; index += 1) queue.push('loud', `loud${index}`);
    queue.push('quiet', 'quiet0');
    expect(queue.take(1)).toEqual(['loud0']);
    expect(queue.take(1)).toEqual(['quiet0']);
  });
});
