import { errorFields, type Log } from '../kit/log.ts';

interface LoopOptions {
  readonly name: string;
  readonly everyMs: number;
  /** Does one round; answers how much it found. */
  readonly round: () => Promise<number>;
  readonly log: Log;
}

/** Runs rounds of due work: at once again while there is some, else after a pause. A failing round is logged and tried again. */
export class Loop {
  readonly #options: LoopOptions;
  #stopped = false;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Resolves when the round under way is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    let found = 0;
    try {
      do found = await this.#options.round();
      while (found > 0 && !this.#stopped);
    } catch (error) {
      this.#options.log.warn(
        { operation: this.#options.name, ...errorFields(error) },
        'a round of due work failed',
      );
    }
    if (this.#stopped) return;
    this.#timer = setTimeout(() => this.start(), this.#options.everyMs);
  }
}
