import type { Log } from '../kit/log.ts';

/** Logs when exports to the collector start to fail and when they succeed again: one line per transition. */
export class ExportHealth {
  readonly #log: Log;
  readonly #signal: 'traces' | 'metrics';
  #failing = false;
  #failures = 0;

  constructor(log: Log, signal: 'traces' | 'metrics') {
    this.#log = log;
    this.#signal = signal;
  }

  get failures(): number {
    return this.#failures;
  }

  failed(reason: string): void {
    this.#failures += 1;
    if (this.#failing) return;
    this.#failing = true;
    this.#log.warn(
      { code: 'telemetry_export_failing', operation: this.#signal, reason },
      'exports to the OpenTelemetry collector fail; requests are not affected',
    );
  }

  succeeded(): void {
    if (!this.#failing) return;
    this.#failing = false;
    this.#log.info(
      { code: 'telemetry_export_recovered', operation: this.#signal },
      'exports to the OpenTelemetry collector succeed again',
    );
  }
}
