import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './metrics.ts';

const RESOLUTION_MS = 10;
/** Each sample wakes the process: for a metric scraped every few seconds, ten samples per second are enough. */
const METRIC_RESOLUTION_MS = 100;
/** Sampling stops when it was not read for this long. */
const SAMPLE_TIMEOUT_MS = 2000;

/** Average event loop delay since the last read. */
export class EventLoopDelay {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #stopTimer: NodeJS.Timeout | null = null;

  /** Sampling runs only while callers read regularly: the first value after a pause is zero. */
  takeMs(): number {
    if (this.#stopTimer) {
      const ms = toDelayMs(this.#delays.mean, RESOLUTION_MS);
      this.#delays.reset();
      this.#stopTimer.refresh();
      return ms;
    }
    this.#delays.reset();
    this.#delays.enable();
    this.#stopTimer = setTimeout(() => {
      this.#delays.disable();
      this.#stopTimer = null;
    }, SAMPLE_TIMEOUT_MS).unref();
    return 0;
  }
}

/** Node measures the interval between samples, which includes the resolution; NaN without samples. */
function toDelayMs(nanoseconds: number, resolutionMs: number): number {
  return Math.max(0, (nanoseconds || 0) / 1e6 - resolutionMs);
}

export function watchEventLoop(metrics: Metrics): void {
  const delays = monitorEventLoopDelay({ resolution: METRIC_RESOLUTION_MS });
  delays.enable();
  metrics.gauge(
    'caudal_event_loop_delay_seconds',
    'Event loop delay, 99th percentile since the last scrape.',
    () => {
      const ms = toDelayMs(delays.percentile(99), METRIC_RESOLUTION_MS);
      delays.reset();
      return ms / 1000;
    },
  );
}
