import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './metrics.ts';

const RESOLUTION_MS = 10;
/** A sample wakes the process: for a metric that is scraped every few seconds ten of them a second are enough. */
const METRIC_RESOLUTION_MS = 100;
/** A reader that does not come back for this long needs no samples. */
const SAMPLED_FOR_MS = 2000;

/** How long what is ready waits for this process to turn to it, since the last look. */
export class EventLoopDelay {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #stopping: NodeJS.Timeout | null = null;

  /** On average. Samples are taken only while a caller asks regularly: the first answer after a rest is zero. */
  takeMs(): number {
    if (this.#stopping) {
      const ms = lateMs(this.#delays.mean, RESOLUTION_MS);
      this.#delays.reset();
      this.#stopping.refresh();
      return ms;
    }
    this.#delays.reset();
    this.#delays.enable();
    this.#stopping = setTimeout(() => {
      this.#delays.disable();
      this.#stopping = null;
    }, SAMPLED_FOR_MS).unref();
    return 0;
  }
}

/** What is measured is the time between two looks at the clock, which are to be so far apart; NaN when there were none. */
function lateMs(nanoseconds: number, resolutionMs: number): number {
  return Math.max(0, (nanoseconds || 0) / 1e6 - resolutionMs);
}

export function watchEventLoop(metrics: Metrics): void {
  const delays = monitorEventLoopDelay({ resolution: METRIC_RESOLUTION_MS });
  delays.enable();
  metrics.gauge(
    'caudal_event_loop_delay_seconds',
    'How late the process turns to what is ready, 99 of 100 since the last scrape.',
    () => {
      const ms = lateMs(delays.percentile(99), METRIC_RESOLUTION_MS);
      delays.reset();
      return ms / 1000;
    },
  );
}
