import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../backoff.ts';
import { ApiError } from '../errors.ts';
import { FairQueue } from './fair-queue.ts';

/**
 * What a failed batch means for its commands:
 * - `command`: some command's own data is at fault; the batch is split until only the guilty one fails.
 * - `held`: somebody else holds what a command needs; the same, but the parts no longer wait for it.
 * - `again`: nothing was committed and the whole may be tried again (serialization, deadlock, lost connection).
 * - `unknown`: the commit may have happened; nobody may be told yes or no.
 * - `fault`: our own mistake; nothing was committed and trying again would not help.
 */
export type Verdict = 'command' | 'held' | 'again' | 'unknown' | 'fault';

export interface BatcherOptions<Command, Result> {
  /**
   * Does the commands in one transaction; results in the order of the commands. `patient` is false for the parts of a
   * batch that has already waited for somebody: each part waiting anew would add up to minutes.
   */
  readonly run: (commands: readonly Command[], patient: boolean) => Promise<readonly Result[]>;
  readonly verdict: (error: unknown) => Verdict;
  /** Whose command it is; lines are kept apart by it. */
  readonly groupOf: (command: Command) => string;
  readonly maxBatch: number;
  readonly maxQueue: number;
  /** How many batches may be under way at once: a further one is begun when those before it take long. */
  readonly lanes: number;
  /**
   * No new attempt is begun later than this after the oldest command came: clients have a deadline too, and those
   * who queue behind a database that is away must not wait for every batch in front of them.
   */
  readonly retryWithinMs?: number;
  readonly observe?: (batch: {
    size: number;
    /** How long its oldest command had waited when this attempt began. */
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
 * What a batch takes when nothing holds it up, generously. While the one before is within it, waiting for its end and
 * sharing a commit with all that came meanwhile is quicker for everybody than many small batches side by side. One that
 * takes longer waits for somebody, and does not hold up the others.
 */
const USUAL_MS = 20;

/**
 * Natural batching: a lane that has finished takes whatever has gathered meanwhile. A request alone waits for nobody, and
 * under load many requests share one commit.
 */
export class Batcher<Command, Result> {
  readonly #options: BatcherOptions<Command, Result>;
  readonly #queue: FairQueue<Waiting<Command, Result>>;
  #running = 0;
  #begunAt = 0;
  #nextLook: NodeJS.Timeout | null = null;
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

  /** Rejects with `overloaded` when there is no room, `outcome_unknown` when nobody can say what happened. */
  submit(command: Command): Promise<Result> {
    if (this.#closed) return Promise.reject(new ApiError('service_unavailable', { reason: 'shutting down' }));
    return new Promise((resolve, reject) => {
      const refused = this.#queue.push(this.#options.groupOf(command), {
        command,
        resolve,
        reject,
        since: performance.now(),
      });
      refused?.reject(new ApiError('overloaded', { reason: 'the queue of commands is full' }));
      this.#schedule();
    });
  }

  /** Refuses new commands and resolves when those already taken are done. */
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
    // After the current round of I/O, so that requests which arrived together travel together.
    setImmediate(() => {
      this.#scheduled = false;
      this.#fillLanes();
    });
  }

  #fillLanes(): void {
    while (this.#running < this.#options.lanes && this.#queue.size > 0) {
      const waitMs = this.#running === 0 ? 0 : this.#begunAt + USUAL_MS - performance.now();
      if (waitMs > 0) return this.#lookAgainIn(waitMs);
      const batch = this.#queue.take(this.#options.maxBatch).filter((waiting) => this.#inTime(waiting));
      if (batch.length === 0) continue;
      this.#running += 1;
      this.#begunAt = performance.now();
      void this.#work(batch).finally(() => {
        this.#running -= 1;
        this.#fillLanes();
        if (this.#idle) for (const done of this.#whenIdle.splice(0)) done();
      });
    }
  }

  #lookAgainIn(ms: number): void {
    if (this.#nextLook !== null) return;
    this.#nextLook = setTimeout(() => {
      this.#nextLook = null;
      this.#fillLanes();
    }, ms);
  }

  /** Turns away a command that has waited too long to be begun: nothing was done for it, and it may come again. */
  #inTime(waiting: Waiting<Command, Result>): boolean {
    if (performance.now() - waiting.since < this.#patienceMs) return true;
    waiting.reject(new ApiError('service_unavailable', { reason: 'waited too long for a batch' }));
    return false;
  }

  get #patienceMs(): number {
    return this.#options.retryWithinMs ?? 3000;
  }

  /** Never rejects: every command of the batch gets its answer. */
  async #work(batch: readonly Waiting<Command, Result>[], patient = true): Promise<void> {
    const oldest = oldestOf(batch);
    const giveUpAt = oldest + this.#patienceMs;
    for (let attempt = 1; ; attempt += 1) {
      const failure = await this.#attempt(batch, patient);
      if (failure === null) return;
      if (failure.verdict === 'again' && performance.now() < giveUpAt) {
        await sleep(backoffMs(attempt, 5, 200));
        continue;
      }
      // One attempt may wait for two locks in turn, so the first split may come as late as `giveUpAt`.
      if (failure.verdict === 'held' && batch.length > 1 && performance.now() > giveUpAt + this.#patienceMs) {
        // A lock on a whole table holds every command: splitting further would only add up waits.
        for (const waiting of batch)
          waiting.reject(
            new ApiError('service_unavailable', {
              cause: failure.error,
              reason: 'lock timeout of a whole batch',
            }),
          );
        return;
      }
      if ((failure.verdict === 'command' || failure.verdict === 'held') && batch.length > 1) {
        const half = Math.ceil(batch.length / 2);
        const stillPatient = patient && failure.verdict === 'command';
        await this.#work(batch.slice(0, half), stillPatient);
        await this.#work(batch.slice(half), stillPatient);
        return;
      }
      for (const waiting of batch) waiting.reject(answerTo(failure));
      return;
    }
  }

  async #attempt(
    batch: readonly Waiting<Command, Result>[],
    patient: boolean,
  ): Promise<{ verdict: Verdict; error: unknown } | null> {
    const started = performance.now();
    const report = (verdict: Verdict | 'done') =>
      this.#options.observe?.({
        size: batch.length,
        waitedSeconds: (started - oldestOf(batch)) / 1000,
        seconds: (performance.now() - started) / 1000,
        verdict,
      });
    try {
      const commands = batch.map((waiting) => waiting.command);
      const results = await this.#options.run(commands, patient);
      if (results.length !== batch.length) throw new Error('a batch must answer each of its commands');
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

function oldestOf(batch: readonly { readonly since: number }[]): number {
  return batch.reduce((least, { since }) => Math.min(least, since), Number.POSITIVE_INFINITY);
}

function answerTo(failure: { verdict: Verdict; error: unknown }): unknown {
  switch (failure.verdict) {
    case 'unknown':
      return new ApiError('outcome_unknown', { cause: failure.error });
    case 'again':
      return new ApiError('service_unavailable', {
        cause: failure.error,
        reason: 'the database would not take the batch',
      });
    case 'command':
    case 'held':
    case 'fault':
      return failure.error;
  }
}
