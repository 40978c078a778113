export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface HistogramSample {
  readonly labels: Readonly<Record<string, string>>;
  /** Cumulative, without the last bucket (`+Inf`), which equals `count`. */
  readonly buckets: readonly { readonly le: number; readonly count: number }[];
  readonly sum: number;
  readonly count: number;
}

/** A metric with all its current values: `samples` of a counter or gauge, `histograms` of a histogram. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly Sample[];
  readonly histograms: readonly HistogramSample[];
}
