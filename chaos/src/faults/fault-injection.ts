import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../run/random.ts';
import type { Stack } from '../stack/stack.ts';
import type { Killer } from './killer.ts';

const MAX_DOWN = 2;

interface FaultInjectionOptions {
  readonly stack: Stack;
  readonly killer: Killer;
  /** Weights of the time shifts, keyed by seconds. */
  readonly shifts: Readonly<Record<string, number>>;
  /** Disables kills. */
  readonly faultFree: boolean;
}

/** Runs beside a load: kills processes, shifts time and runs checks at intervals. */
export class FaultInjection {
  readonly #options: FaultInjectionOptions;
  #running = false;
  #background: Promise<unknown> = Promise.resolve();
  /** A check reads the database and a kill may hit the database, so they exclude each other. */
  #checking: Promise<unknown> = Promise.resolve();
  #killing: Promise<unknown> = Promise.resolve();

  constructor(options: FaultInjectionOptions) {
    this.#options = options;
  }

  start(shifts: Random, kills: Random): void {
    this.#running = true;
    this.#background = Promise.all([
      this.#shiftTime(shifts),
      ...(this.#options.faultFree ? [] : [this.#kill(kills)]),
    ]);
  }

  scheduleCheck(check: () => Promise<void>): void {
    this.#checking = this.#checking.then(() => this.#killing).then(check);
  }

  /** Stops injecting faults and waits for pending work. */
  async end(): Promise<void> {
    this.#running = false;
    await Promise.all([this.#background, this.#checking]);
  }

  async #kill(random: Random): Promise<void> {
    const { killer } = this.#options;
    while (this.#running) {
      await sleep(random.integer(400, 1800));
      // Processes restart slowly on a busy machine, and a stack without live processes tests nothing.
      if (killer.downCount >= MAX_DOWN) continue;
      await this.#checksDone();
      this.#killing = killer.kill();
      await this.#killing;
    }
  }

  /** Another check may start while this waits for one. */
  async #checksDone(): Promise<void> {
    let last: Promise<unknown> | null = null;
    while (last !== this.#checking) {
      last = this.#checking;
      await last;
    }
  }

  async #shiftTime(random: Random): Promise<void> {
    const { stack, shifts } = this.#options;
    while (this.#running) {
      await sleep(random.integer(500, 1500));
      // If a shift fails halfway, the next one brings both clocks to the same time.
      await stack.shiftTime(Number(random.weighted(shifts)) * 1000).catch(() => undefined);
    }
  }
}
