import type { Duration, Durations } from './durations.ts';

/** Input series of promtool, in its notation: `0+1x10` counts, `1x10` stays. One value per minute. */
type Series = Readonly<Record<string, string>>;

interface QuietCase {
  readonly series: Series;
  readonly at: Duration;
}

interface FiringCase extends QuietCase {
  /** Labels of the alert that fires, without its severity. */
  readonly labels?: Readonly<Record<string, string>>;
  /** What the description shows for the value. */
  readonly value?: string;
}

export interface Alert {
  readonly name: `Caudal${string}`;
  /** `page`: an operator acts now, at night too. `ticket`: within a working day. */
  readonly severity: 'page' | 'ticket';
  readonly for: Duration;
  readonly expr: (durations: Durations) => string;
  readonly summary: string;
  readonly description: string;
  /** For `promtool test rules`. */
  readonly fires: FiringCase;
  readonly quiet: readonly QuietCase[];
}

export interface AlertGroup {
  /** Name of the group and of its page in docs/operating/runbooks. */
  readonly name: 'processes' | 'database' | 'rails' | 'money' | 'webhooks';
  readonly alerts: readonly Alert[];
}

/** The processes of a deployment in `up` and in their own metrics. */
export const JOBS = 'job=~"caudal-.+"';
