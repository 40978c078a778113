import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { detailsText, type Metric } from '../metric.ts';
import { type Conditions, conditionsText } from './conditions.ts';
import { barPlot, latencyPlot, overTimePlot } from './plots.ts';
import { escaped } from './svg.ts';
import { type EarlierResult, tableRows } from './table.ts';

export const REPORT_FOLDER = fileURLToPath(new URL('../../report', import.meta.url));
const EARLIER_FILE = join(REPORT_FOLDER, 'at-length.json');

export interface Measured {
  readonly conditions: Conditions;
  readonly metrics: readonly Metric[];
  /** Reason for a missing result, by metric id. */
  readonly failures: ReadonlyMap<string, string>;
  /** Duration of each bench. */
  readonly seconds: Readonly<Record<string, number>>;
}

/** Results of earlier full runs, by metric id. */
export function readEarlierMetrics(): ReadonlyMap<string, EarlierResult> {
  if (!existsSync(EARLIER_FILE)) return new Map();
  return new Map(
    Object.entries(JSON.parse(readFileSync(EARLIER_FILE, 'utf8')) as Record<string, EarlierResult>),
  );
}

/** @returns the path of the page */
export function writeReport(measured: Measured, earlier: ReadonlyMap<string, EarlierResult>): string {
  mkdirSync(REPORT_FOLDER, { recursive: true });
  const json = JSON.stringify({ ...measured, failures: Object.fromEntries(measured.failures) }, null, 1);
  writeFileSync(join(REPORT_FOLDER, 'report.json'), json);
  if (!measured.conditions.quick) {
    const { conditions, metrics } = measured;
    const found = [...Map.groupBy(metrics, ({ id }) => id)].map(
      ([id, own]) => [id, { conditions, metrics: own }] as const,
    );
    writeFileSync(EARLIER_FILE, JSON.stringify(Object.fromEntries([...earlier, ...found]), null, 1));
  }
  const page = join(REPORT_FOLDER, 'report.html');
  writeFileSync(page, html(measured, earlier));
  return page;
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#0f172a;background:#fff}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #e2e8f0;vertical-align:top}
.MISSED{color:#b91c1c;font-weight:600}.held{color:#0f766e}pre{white-space:pre-wrap;background:#f1f5f9;padding:.8rem}svg{max-width:100%;height:auto}
h2{margin-top:2.5rem}`;

function html(measured: Measured, earlier: ReadonlyMap<string, EarlierResult>): string {
  const rows = tableRows(measured.metrics, measured.failures, earlier).map(
    (row) =>
      `<tr><td>${row.id}</td><td>${escaped(row.value)}</td><td>${escaped(row.target)}</td><td class="${row.verdict}">${row.verdict}</td><td>${escaped(row.description)}</td></tr>`,
  );
  const took = Object.entries(measured.seconds).map(([ids, seconds]) => `${ids} ${seconds.toFixed(0)} s`);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Caudal: benchmark</title><style>${STYLE}</style>
<h1>Benchmark</h1><pre>${escaped(conditionsText(measured.conditions))}</pre>
<table><tr><th>Metric</th><th>Value</th><th>Target</th><th></th><th>Description</th></tr>${rows.join('\n')}</table>
${measured.metrics.map(section).join('\n')}
<p>Time taken: ${took.join(', ')}.</p></html>`;
}

function section(metric: Metric): string {
  const { latency, perSecond, bars } = metric.samples ?? {};
  const plots = [
    bars ? barPlot(metric.description, bars) : '',
    latency ? latencyPlot('Latency by quantile', latency) : '',
    perSecond ? overTimePlot('Throughput over time', perSecond) : '',
  ];
  const title = `${metric.id}: ${metric.description}`;
  return `<h2>${escaped(title)}</h2><p>${escaped(detailsText(metric.details))}</p>${plots.join('\n')}`;
}
