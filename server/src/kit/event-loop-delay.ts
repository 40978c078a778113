import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './metrics.ts';

const RESOLUTION_MS = 10;

/** How long what is ready waits for this process to turn to it, since the last look. */
export class EventLoopDelay {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#delays.enable();
  }

  /** On average. */
  takeMs(): number {
    const ms = lateMs(this.#delays.mean);
    this.#delays.reset();
    return ms;
  }

  /** 99 of 100 wait no longer. */
  takeWorstMs(): number {
    const ms = lateMs(this.#delays.percentile(99));
    this.#delays.reset();
    return ms;
  }
}

/** What is measured is the time between two looks at the clock, which are to be so far apart; NaN when there were none. */
function lateMs(nanoseconds: number): number {
  return Math.max(0, (nanoseconds || 0) / 1e6 - RESOLUTION_MS);
}

export function watchEventLoop(metrics: Metrics): void {
  const delay = new EventLoopDelay();
  metrics.gauge(
    'caudal_event_loop_delay_seconds',
    'How late the process turns to what is ready, 99 of 100 since the last scrape.',
    () => delay.takeWorstMs() / 1000,
  );
}
