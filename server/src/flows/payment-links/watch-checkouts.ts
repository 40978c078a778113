import type { SystemDeps } from '../../deps.ts';
import { monotonicMs } from '../../kit/clock.ts';
import type { Payin } from '../../payins/payin.ts';
import { type WatchedPayin, watchedPayins } from '../../payins/payin-page.store.ts';

/** So often all pages that are open in this process are looked after, by one statement. */
const EVERY_MS = 100;
const MOST = 5000;

interface Watcher {
  readonly payin: WatchedPayin;
  tell: (stamp: string) => void;
}

/** Tells open pages that their payment has changed. One question for all of them: a thousand payers cost as much as one. */
export class CheckoutWatch {
  readonly #deps: Pick<SystemDeps, 'system' | 'failures'>;
  readonly #watchers = new Set<Watcher>();
  readonly #endings = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(deps: Pick<SystemDeps, 'system' | 'failures' | 'metrics'>) {
    this.#deps = deps;
    deps.metrics.gauge(
      'caudal_checkout_pages',
      'Pages of payers that wait for their outcome.',
      () => this.#watchers.size,
    );
  }

  get full(): boolean {
    return this.#watchers.size >= MOST;
  }

  /**
   * @param tell called with how it stands, now and whenever that is another
   * @param over called when this process shuts down
   * @returns ends it
   */
  watch(payin: WatchedPayin, tell: (stamp: string) => void, over?: () => void): () => void {
    let last: string | null = null;
    const watcher: Watcher = {
      payin,
      tell: (stamp) => {
        if (stamp !== last) tell(stamp);
        last = stamp;
      },
    };
    this.#watchers.add(watcher);
    if (over) this.#endings.add(over);
    this.#schedule(0);
    return () => {
      this.#watchers.delete(watcher);
      if (over) this.#endings.delete(over);
    };
  }

  close(): void {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#watchers.clear();
    for (const over of this.#endings) over();
  }

  #schedule(afterMs: number): void {
    if (this.#closed || this.#timer !== null || this.#watchers.size === 0) return;
    this.#timer = setTimeout(() => void this.#look(), afterMs);
  }

  async #look(): Promise<void> {
    const began = monotonicMs();
    const watchers = [...this.#watchers];
    try {
      const standings = await this.#deps.system.transaction('read', (tx) =>
        watchedPayins(
          tx,
          watchers.map(({ payin }) => payin),
        ),
      );
      for (const [index, watcher] of watchers.entries()) {
        const railStatus = standings[index];
        watcher.tell(railStatus ? stamp(railStatus) : '');
      }
      this.#deps.failures.succeeded('watch_checkout_pages');
    } catch (error) {
      this.#deps.failures.failed('watch_checkout_pages', error);
    }
    this.#timer = null;
    this.#schedule(Math.max(EVERY_MS - (monotonicMs() - began), EVERY_MS / 2));
  }
}

/** As text that is another when anything that a page shows of a payin is. */
export function stampOf({ status, source, expiresAt }: Payin): string {
  return stamp({ status, opened: source.rail === 'PSE' && source.page !== null, expiresAt });
}

function stamp(railStatus: {
  readonly status: string;
  readonly opened: boolean;
  readonly expiresAt: Date;
}): string {
  return `${railStatus.status} ${railStatus.opened} ${railStatus.expiresAt.getTime()}`;
}
