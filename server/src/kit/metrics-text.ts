import type { HistogramSample, MetricFamily } from './metric-family.ts';

/** Metrics in the Prometheus text format, version 0.0.4. */
export function renderFamilies(families: readonly MetricFamily[]): string {
  return `${families.flatMap(renderFamily).join('\n')}\n`;
}

function renderFamily({ name, help, type, samples, histograms }: MetricFamily): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels, value }) => `${name}${labelText(labels)} ${value}`),
    ...histograms.flatMap((histogram) => renderHistogram(name, histogram)),
  ];
}

function renderHistogram(name: string, { labels, buckets, sum, count }: HistogramSample): string[] {
  return [
    ...buckets.map(
      (bucket) => `${name}_bucket${labelText({ ...labels, le: String(bucket.le) })} ${bucket.count}`,
    ),
    `${name}_bucket${labelText({ ...labels, le: '+Inf' })} ${count}`,
    `${name}_sum${labelText(labels)} ${sum}`,
    `${name}_count${labelText(labels)} ${count}`,
  ];
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const text = Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');
  return text === '' ? '' : `{${text}}`;
}

function escaped(value: string): string {
  if (!/[\\"\n]/.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
