import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { Batcher, type Verdict } from '../../src/kit/batch/batcher.ts';
import { FairQueue } from '../../src/kit/batch/fair-queue.ts';
import type { ApiError } from '../../src/kit/errors.ts';

const tick = promisify(setImmediate);

// The time of the batcher: it passes only where a test says so.
let now = 1000;
beforeEach(() => {
  now = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

interface Command {
  readonly id: number;
  readonly group: string;
  readonly invalid: boolean;
}

class Failure extends Error {
  readonly verdict: Verdict;

  constructor(verdict: Verdict) {
    super(verdict);
    this.verdict = verdict;
  }
}

function command(id: number, group = 'a', invalid = false): Command {
  return { id, group, invalid };
}

interface BatcherOptions {
  readonly maxBatch?: number;
  readonly maxQueue?: number;
  readonly lanes?: number;
  readonly retryWithinMs?: number;
  /** Duration of each run. */
  readonly runMs?: number;
  /** Result of the n-th run, besides invalid commands. */
  readonly incidents?: readonly (Verdict | null)[];
}

/** A batcher with a store that records what ran, how often and in which batch. */
function createBatcher(options: BatcherOptions = {}) {
  const committed: number[] = [];
  const batches: Command[][] = [];
  const gate = { open: true, waiting: [] as (() => void)[] };
  let runs = 0;
  const batcher = new Batcher<Command, number>({
    maxBatch: options.maxBatch ?? 50,
    maxQueue: options.maxQueue ?? 1000,
    lanes: options.lanes ?? 1,
    retryWithinMs: options.retryWithinMs ?? 3000,
    groupOf: (each) => each.group,
    verdict: (error) => (error instanceof Failure ? error.verdict : 'internal_error'),
    run: async (commands) => {
      batches.push([...commands]);
      const incident = options.incidents?.[runs];
      runs += 1;
      now += options.runMs ?? 0;
      await tick();
      if (!gate.open) await new Promise<void>((resolve) => gate.waiting.push(resolve));
      if (commands.some((each) => each.invalid)) throw new Failure('command');
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

describe('Batcher', () => {
  it('runs a single command immediately', async () => {
    const { batcher, batches } = createBatcher();
    await expect(batcher.submit(command(7))).resolves.toBe(70);
    expect(batches.map((batch) => batch.length)).toEqual([1]);
  });

  it('commits together the commands that arrived during the last batch', async () => {
    const { batcher, batches } = createBatcher();
    const first = batcher.submit(command(0));
    await tick();
    const rest = Array.from({ length: 20 }, (_, index) => batcher.submit(command(index + 1)));
    await Promise.all([first, ...rest]);
    expect(batches.map((batch) => batch.length)).toEqual([1, 20]);
  });

  it('collects while a batch is fast, and starts another lane beside a slow one', async () => {
    // Not the immediates: the batches themselves still run.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { batcher, batches, gate, openGate } = createBatcher({ lanes: 2 });
    gate.open = false;
    const held = batcher.submit(command(0));
    await tick();
    const rest = Array.from({ length: 20 }, (_, index) => batcher.submit(command(index + 1)));
    await tick();
    vi.advanceTimersByTime(19);
    expect(batches.map((batch) => batch.length)).toEqual([1]);
    vi.advanceTimersByTime(1);
    expect(batches.map((batch) => batch.length)).toEqual([1, 20]);
    const third = batcher.submit(command(21));
    openGate();
    await Promise.all([held, ...rest, third]);
    expect(batches.map((batch) => batch.length)).toEqual([1, 20, 1]);
  });

  it('fails only the invalid command of fifty', async () => {
    const { batcher, committed } = createBatcher();
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

  it('retries a whole batch when nothing was committed', async () => {
    const { batcher, batches, committed } = createBatcher({ incidents: ['retry', 'retry', null] });
    await expect(Promise.all([batcher.submit(command(1)), batcher.submit(command(2))])).resolves.toEqual([
      10, 20,
    ]);
    expect(batches.map((batch) => batch.length)).toEqual([2, 2, 2]);
    expect(committed).toEqual([1, 2]);
  });

  it('gives up after its retries and reports that nothing was done', async () => {
    const { batcher, batches } = createBatcher({
      incidents: Array.from({ length: 500 }, () => 'retry' as const),
      retryWithinMs: 200,
      runMs: 60,
    });
    await expect(batcher.submit(command(1))).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(batches).toHaveLength(4);
  });

  it('never repeats or splits a batch whose commit may have happened', async () => {
    const { batcher, batches } = createBatcher({ incidents: ['unknown'] });
    const answers = await Promise.allSettled([batcher.submit(command(1)), batcher.submit(command(2))]);
    expect(
      answers.map((answer) => (answer.status === 'rejected' ? (answer.reason as ApiError).code : '')),
    ).toEqual(['outcome_unknown', 'outcome_unknown']);
    expect(batches).toHaveLength(1);
  });

  it('rejects a command that waited too long before it started', async () => {
    const { batcher, gate, openGate, committed } = createBatcher({ retryWithinMs: 30, maxBatch: 1 });
    gate.open = false;
    const first = batcher.submit(command(1));
    await tick();
    const second = batcher.submit(command(2));
    now += 40;
    openGate();
    await expect(first).resolves.toBe(10);
    await expect(second).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(committed).toEqual([1]);
  });

  it('rejects commands beyond its queue limit with Retry-After', async () => {
    const { batcher, gate, openGate } = createBatcher({ maxQueue: 3 });
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

  it('makes room for another organization when one has filled the queue', async () => {
    const { batcher, batches, gate, openGate } = createBatcher({ maxQueue: 10, maxBatch: 4 });
    gate.open = false;
    const running = batcher.submit(command(0, 'loud'));
    await tick();
    const loud = Array.from({ length: 10 }, (_, index) => batcher.submit(command(index + 1, 'loud')));
    const quiet = batcher.submit(command(99, 'quiet'));
    const settled = Promise.allSettled(loud);
    openGate();
    await expect(quiet).resolves.toBe(990);
    await running;
    const rejected = (await settled).filter((answer) => answer.status === 'rejected');
    expect(rejected).toHaveLength(1);
    expect(batches[1]?.map((each) => each.id)).toContain(99);
  });

  it('finishes accepted commands before it closes, and accepts no more', async () => {
    const { batcher, committed } = createBatcher();
    const accepted = [batcher.submit(command(1)), batcher.submit(command(2))];
    const closed = batcher.close();
    await expect(batcher.submit(command(3))).rejects.toMatchObject({ code: 'service_unavailable' });
    await closed;
    expect(committed).toEqual([1, 2]);
    await Promise.all(accepted);
  });

  it('answers every command exactly once, whatever fails', async () => {
    const arbitrary = fc.record({
      commands: fc.array(
        fc.record({ group: fc.constantFrom('a', 'b', 'c'), poisoned: fc.boolean(), pause: fc.boolean() }),
        { maxLength: 60 },
      ),
      incidents: fc.array(
        fc.constantFrom<(Verdict | null)[]>(null, null, null, 'retry', 'unknown', 'internal_error'),
        {
          maxLength: 30,
        },
      ),
      maxBatch: fc.integer({ min: 1, max: 12 }),
      maxQueue: fc.integer({ min: 1, max: 40 }),
      lanes: fc.integer({ min: 1, max: 3 }),
      // A run of 30 ms lets another lane start beside it.
      runMs: fc.constantFrom(0, 30),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async (input) => {
        const { batcher, committed, batches } = createBatcher(input);
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
          const invalid = input.commands[id]?.poisoned;
          if (answer.status === 'fulfilled') expect(answer.value).toBe(id * 10);
          // Fulfilled means committed; a rejected or invalid command was not.
          expect(once.has(id)).toBe(answer.status === 'fulfilled');
          if (invalid) expect(answer.status).toBe('rejected');
        }
        for (const batch of batches) expect(batch.length).toBeLessThanOrEqual(input.maxBatch);
      }),
      { numRuns: 300 },
    );
  });
});

describe('FairQueue', () => {
  it('keeps the order within a group and shares each batch evenly between groups', () => {
    const arbitrary = fc.record({
      items: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 200 }),
      batch: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(arbitrary, ({ items, batch }) => {
        const queue = new FairQueue<{ group: string; order: number }>(1000);
        for (const [order, group] of items.entries()) queue.push(group, { group, order });
        const remaining = new Map<string, number>();
        for (const group of items) remaining.set(group, (remaining.get(group) ?? 0) + 1);
        const served: { group: string; order: number }[] = [];
        while (queue.size > 0) {
          const taken = queue.take(batch);
          const share = new Map<string, number>();
          for (const item of taken) share.set(item.group, (share.get(item.group) ?? 0) + 1);
          const maxShare = Math.max(...share.values());
          // No waiting group got two fewer than any served group.
          for (const [group, waiting] of remaining) {
            const got = share.get(group) ?? 0;
            if (waiting > got) expect(got).toBeGreaterThanOrEqual(maxShare - 1);
            remaining.set(group, waiting - got);
          }
          served.push(...taken);
        }
        expect(served).toHaveLength(items.length);
        for (const group of new Set(items)) {
          const orders = served.filter((item) => item.group === group).map((item) => item.order);
          expect(orders).toEqual([...orders].sort((a, b) => a - b));
        }
      }),
    );
  });

  it('never exceeds its limit, and evicts only from the longest group', () => {
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
