/** A duration in the notation of Prometheus. */
export type Duration = `${number}${'s' | 'm' | 'h' | 'd'}`;

/**
 * Rules name their durations through this interface, so that the proof in a real Prometheus (proof/) can run the same
 * expressions with shorter ones.
 */
export interface Durations {
  /** A range, such as the 5m of rate(…[5m]). */
  readonly window: (range: Duration) => string;
  /** How long a condition must hold before its alert fires. */
  readonly hold: (duration: Duration) => string;
  /** An age in seconds that a condition compares with. */
  readonly age: (duration: Duration) => string;
}

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 };

export function toSeconds(duration: Duration): number {
  return Number.parseInt(duration, 10) * SECONDS[duration.slice(-1) as keyof typeof SECONDS];
}

export const PRODUCTION: Durations = {
  window: (range) => range,
  hold: (duration) => duration,
  age: (duration) => String(toSeconds(duration)),
};
