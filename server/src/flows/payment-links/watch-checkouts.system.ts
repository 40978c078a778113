import type { RowId } from '../../db/columns.ts';
import type { SystemDeps } from '../../deps.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { readPageStamps } from '../../payins/payin-page.store.ts';

/** Poll interval for all open pages of this process. */
const POLL_INTERVAL_MS = 100;
const MAX_WATCHERS = 5000;

interface Watcher {
  readonly payin: RowId;
  notify: (stamp: string) => void;
}

/** Notifies open pages when their payment changes. One query serves all pages, so the cost does not grow with payers. */
export class CheckoutWatch {
  readonly #deps: Pick<SystemDeps, 'system' | 'failures'>;
  readonly #watchers = new Set<Watcher>();
  readonly #shutdownCallbacks = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(deps: Pick<SystemDeps, 'system' | 'failures' | 'metrics'>) {
    this.#deps = deps;
    deps.metrics.gauge(
      'caudal_checkout_pages',
      'Open checkout pages that receive live status.',
      () => this.#watchers.size,
    );
  }

  get full(): boolean {
    return this.#watchers.size >= MAX_WATCHERS;
  }

  /**
   * @param onStamp called with the current status stamp and after each change
   * @param onShutdown called when this process shuts down
   * @returns a function that stops watching
   */
  watch(payin: RowId, onStamp: (stamp: string) => void, onShutdown?: () => void): () => void {
    let last: string | null = null;
    const watcher: Watcher = {
      payin,
      notify: (stamp) => {
        if (stamp !== last) onStamp(stamp);
        last = stamp;
      },
    };
    this.#watchers.add(watcher);
    if (onShutdown) this.#shutdownCallbacks.add(onShutdown);
    this.#schedule(0);
    return () => {
      this.#watchers.delete(watcher);
      if (onShutdown) this.#shutdownCallbacks.delete(onShutdown);
    };
  }

  close(): void {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#watchers.clear();
    for (const onShutdown of this.#shutdownCallbacks) onShutdown();
  }

  #schedule(afterMs: number): void {
    if (this.#closed || this.#timer !== null || this.#watchers.size === 0) return;
    this.#timer = setTimeout(() => void this.#poll(), afterMs);
  }

  async #poll(): Promise<void> {
    const startedAt = monotonicMs();
    const watchers = [...this.#watchers];
    try {
      const stamps = await this.#deps.system.transaction('read', (tx) =>
        readPageStamps(
          tx,
          watchers.map(({ payin }) => payin),
        ),
      );
      for (const [index, watcher] of watchers.entries()) {
        watcher.notify(stamps[index] ?? '');
      }
      this.#deps.failures.succeeded('watch_checkout_pages');
    } catch (error) {
      this.#deps.failures.failed('watch_checkout_pages', error);
    }
    this.#timer = null;
    this.#schedule(Math.max(POLL_INTERVAL_MS - (monotonicMs() - startedAt), POLL_INTERVAL_MS / 2));
  }
}
