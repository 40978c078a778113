import { setTimeout as sleep } from 'node:timers/promises';
import type { Killer } from './killer.ts';
import type { Random } from './random.ts';
import type { Stage } from './stage.ts';

const MOST_AWAY = 2;

interface FaultInjectionOptions {
  readonly stage: Stage;
  readonly killer: Killer;
  /** By how many seconds time goes on at once, by weight. */
  readonly shifts: Readonly<Record<string, number>>;
  /** Nothing is killed. */
  readonly calm: boolean;
}

/** What goes on beside a load: processes die, time goes on by leaps, and now and then somebody looks at how it stands. */
export class FaultInjection {
  readonly #options: FaultInjectionOptions;
  #goingOn = false;
  #beside: Promise<unknown> = Promise.resolve();
  /** A look reads the database, so it and a death, which may be the database's, wait for each other. */
  #looking: Promise<unknown> = Promise.resolve();
  #killing: Promise<unknown> = Promise.resolve();

  constructor(options: FaultInjectionOptions) {
    this.#options = options;
  }

  begin(shifts: Random, kills: Random): void {
    this.#goingOn = true;
    this.#beside = Promise.all([this.#shiftTime(shifts), ...(this.#options.calm ? [] : [this.#kill(kills)])]);
  }

  look(look: () => Promise<void>): void {
    this.#looking = this.#looking.then(() => this.#killing).then(look);
  }

  /** No more begins; what is under way is awaited. */
  async end(): Promise<void> {
    this.#goingOn = false;
    await Promise.all([this.#beside, this.#looking]);
  }

  async #kill(random: Random): Promise<void> {
    const { killer } = this.#options;
    while (this.#goingOn) {
      await sleep(random.whole(400, 1800));
      // On a busy machine they come back slowly, and where nobody is there nothing can go wrong.
      if (killer.away >= MOST_AWAY) continue;
      await this.#nobodyLooks();
      this.#killing = killer.kill();
      await this.#killing;
    }
  }

  /** Another look may have begun while one was waited for. */
  async #nobodyLooks(): Promise<void> {
    let last: Promise<unknown> | null = null;
    while (last !== this.#looking) {
      last = this.#looking;
      await last;
    }
  }

  async #shiftTime(random: Random): Promise<void> {
    const { stage, shifts } = this.#options;
    while (this.#goingOn) {
      await sleep(random.whole(500, 1500));
      // When it fails half way, the next one brings both clocks to the same time.
      await stage.shiftTime(Number(random.weighted(shifts)) * 1000).catch(() => undefined);
    }
  }
}
