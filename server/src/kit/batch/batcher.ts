import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../backoff.ts';
import { deadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import { FairQueue } from './fair-queue.ts';

/**
 * What a failed batch means for its commands:
 * - `command`: the data of one command caused the failure; the batch is split until only that command fails.
 * - `lock_timeout`: split like `command`, but the halves do not wait for locks.
 * - `retry`: nothing was committed and the whole batch may be retried (serialization, deadlock, lost connection).
 * - `unknown`: the commit may have happened; it is reported neither as success nor as failure.
 * - `internal_error`: our bug; nothing was committed and a retry would not help.
 */
export type Verdict = 'command' | 'lock_timeout' | 'retry' | 'unknown' | 'internal_error';

export interface BatcherOptions<Command, Result> {
  /**
   * Runs the commands in one transaction; returns results in the order of the commands. `waitForLocks` is false for the
   * parts of a batch that has already waited for a lock: waiting again in each part would add up to minutes.
   */
  readonly run: (commands: readonly Command[], waitForLocks: boolean) => Promise<readonly Result[]>;
  readonly verdict: (error: unknown) => Verdict;
  /** Group of a command for fair queueing, usually its organization. */
  readonly groupOf: (command: Command) => string;
  readonly maxBatch: number;
  readonly maxQueue: number;
  /** Maximum concurrent batches: another one starts only when the previous ones take long. */
  readonly lanes: number;
  /**
   * No attempt starts later than this after the oldest command was submitted: clients have a deadline, and commands queued
   * during a database outage must not wait for every batch before them.
   */
  readonly retryWithinMs?: number;
  readonly observe?: (batch: {
    size: number;
    /** How long the oldest command had waited when this attempt started. */
    waitedSeconds: number;
    seconds: number;
    verdict: Verdict | 'done';
  }) => void;
}

interface Waiting<Command, Result> {
  readonly command: Command;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  readonly since: number;
}

/**
 * Generous duration of an unblocked batch. While the previous batch is within it, waiting for its end and sharing one
 * commit with all new commands is faster than many small concurrent batches. A batch that takes longer is blocked and must
 * not delay the others.
 */
const USUAL_MS = 20;

/**
 * Natural batching: a lane that has finished takes all commands submitted meanwhile. A single request does not wait, and
 * under load many requests share one commit.
 */
export class Batcher<Command, Result> {
  readonly #options: BatcherOptions<Command, Result>;
  readonly #queue: FairQueue<Waiting<Command, Result>>;
  #running = 0;
  #startedAt = 0;
  #fillTimer: NodeJS.Timeout | null = null;
  #scheduled = false;
  #closed = false;
  #whenIdle: (() => void)[] = [];

  constructor(options: BatcherOptions<Command, Result>) {
    this.#options = options;
    this.#queue = new FairQueue(options.maxQueue);
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Rejects with `overloaded` when the queue is full, `outcome_unknown` when the commit may have happened. */
  submit(command: Command): Promise<Result> {
    if (this.#closed) return Promise.reject(new ApiError('service_unavailable', { reason: 'shutting down' }));
    return new Promise((resolve, reject) => {
      const evicted = this.#queue.push(this.#options.groupOf(command), {
        command,
        resolve,
        reject,
        since: performance.now(),
      });
      evicted?.reject(new ApiError('overloaded', { reason: 'command queue is full' }));
      this.#schedule();
    });
  }

  /** Rejects new commands and resolves when the accepted ones are done. */
  close(): Promise<void> {
    this.#closed = true;
    if (this.#idle) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  get #idle(): boolean {
    return this.#running === 0 && this.#queue.size === 0;
  }

  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#options.lanes) return;
    this.#scheduled = true;
    // After the current I/O events, so that requests that arrived together share a batch.
    setImmediate(() => {
      this.#scheduled = false;
      this.#fillLanes();
    });
  }

  #fillLanes(): void {
    while (this.#running < this.#options.lanes && this.#queue.size > 0) {
      const waitMs = this.#running === 0 ? 0 : this.#startedAt + USUAL_MS - performance.now();
      if (waitMs > 0) return this.#fillLanesIn(waitMs);
      const batch = this.#queue.take(this.#options.maxBatch).filter((waiting) => this.#keepOrReject(waiting));
      if (batch.length === 0) continue;
      this.#running += 1;
      this.#startedAt = performance.now();
      void this.#work(batch).finally(() => {
        this.#running -= 1;
        this.#fillLanes();
        if (this.#idle) for (const done of this.#whenIdle.splice(0)) done();
      });
    }
  }

  #fillLanesIn(ms: number): void {
    if (this.#fillTimer !== null) return;
    this.#fillTimer = setTimeout(() => {
      this.#fillTimer = null;
      this.#fillLanes();
    }, ms);
  }

  /** Rejects a command that waited too long to start: nothing was done for it, so the client may retry. */
  #keepOrReject(waiting: Waiting<Command, Result>): boolean {
    if (performance.now() - waiting.since < this.#retryWithinMs) return true;
    waiting.reject(new ApiError('service_unavailable', { reason: 'waited too long for a batch to start' }));
    return false;
  }

  get #retryWithinMs(): number {
    return this.#options.retryWithinMs ?? deadline(3000);
  }

  /** Never rejects: every command of the batch is resolved or rejected. */
  async #work(batch: readonly Waiting<Command, Result>[], waitForLocks = true): Promise<void> {
    const oldest = oldestSubmission(batch);
    const giveUpAt = oldest + this.#retryWithinMs;
    for (let attempt = 1; ; attempt += 1) {
      const failure = await this.#attempt(batch, waitForLocks);
      if (failure === null) return;
      if (failure.verdict === 'retry' && performance.now() < giveUpAt) {
        await sleep(backoffMs(attempt, 5, 200));
        continue;
      }
      // One attempt may wait for two locks in sequence, so the first split may happen as late as `giveUpAt`.
      if (
        failure.verdict === 'lock_timeout' &&
        batch.length > 1 &&
        performance.now() > giveUpAt + this.#retryWithinMs
      ) {
        // A table lock blocks every command: splitting further would only add waits.
        for (const waiting of batch)
          waiting.reject(
            new ApiError('service_unavailable', {
              cause: failure.error,
              reason: 'lock timeout of the whole batch',
            }),
          );
        return;
      }
      if ((failure.verdict === 'command' || failure.verdict === 'lock_timeout') && batch.length > 1) {
        const half = Math.ceil(batch.length / 2);
        const waitInHalves = waitForLocks && failure.verdict === 'command';
        await this.#work(batch.slice(0, half), waitInHalves);
        await this.#work(batch.slice(half), waitInHalves);
        return;
      }
      for (const waiting of batch) waiting.reject(toError(failure));
      return;
    }
  }

  async #attempt(
    batch: readonly Waiting<Command, Result>[],
    waitForLocks: boolean,
  ): Promise<{ verdict: Verdict; error: unknown } | null> {
    const started = performance.now();
    const report = (verdict: Verdict | 'done') =>
      this.#options.observe?.({
        size: batch.length,
        waitedSeconds: (started - oldestSubmission(batch)) / 1000,
        seconds: (performance.now() - started) / 1000,
        verdict,
      });
    try {
      const commands = batch.map((waiting) => waiting.command);
      const results = await this.#options.run(commands, waitForLocks);
      if (results.length !== batch.length) throw new Error('run() must return one result per command');
      for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Result);
      report('done');
      return null;
    } catch (error) {
      const verdict = this.#options.verdict(error);
      report(verdict);
      return { verdict, error };
    }
  }
}

function oldestSubmission(batch: readonly { readonly since: number }[]): number {
  return batch.reduce((least, { since }) => Math.min(least, since), Number.POSITIVE_INFINITY);
}

function toError(failure: { verdict: Verdict; error: unknown }): unknown {
  switch (failure.verdict) {
    case 'unknown':
      return new ApiError('outcome_unknown', { cause: failure.error });
    case 'retry':
      return new ApiError('service_unavailable', {
        cause: failure.error,
        reason: 'database unavailable for the batch',
      });
    case 'command':
    case 'lock_timeout':
    case 'internal_error':
      return failure.error;
  }
}
