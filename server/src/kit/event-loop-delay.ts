import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './metrics.ts';

const RESOLUTION_MS = 10;
/** Each sample wakes the process: for a metric scraped every few seconds, ten samples per second are enough. */
const METRIC_RESOLUTION_MS = 100;
const WINDOW_MS = 15_000;
const MAX_WINDOWS = 4;
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

/**
 * The highest 99th percentile of the windows of the last minute. A scrape does not reset it, so that several collectors see
 * the same value, and each sees a delay that happened between two of its scrapes.
 */
export function watchEventLoop(metrics: Metrics): void {
  const delays = monitorEventLoopDelay({ resolution: METRIC_RESOLUTION_MS });
  const windows: number[] = [];
  const currentMs = () => toDelayMs(delays.percentile(99), METRIC_RESOLUTION_MS);
  delays.enable();
  setInterval(() => {
    windows.push(currentMs());
    if (windows.length > MAX_WINDOWS) windows.shift();
    delays.reset();
  }, WINDOW_MS).unref();
  metrics.gauge(
    'caudal_event_loop_delay_seconds',
    'Event loop delay: the highest 99th percentile of the 15-second windows of the last minute.',
    () => Math.max(currentMs(), ...windows) / 1000,
  );
}
