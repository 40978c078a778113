import type { Alert, AlertGroup } from './alert.ts';
import { RULES_FILE, runbookUrl } from './rule-files.ts';

/** The file of `promtool test rules` for a group: every alert fires once and stays quiet at least once. */
export function promtoolTests(group: AlertGroup): string {
  const tests = group.alerts.flatMap((alert) => [
    ...testLines(`${alert.name} fires`, alert, alert.fires, expectation(group, alert)),
    ...alert.quiet.flatMap((quiet, index) =>
      testLines(`${alert.name} stays quiet (${index + 1})`, alert, quiet, ['        exp_alerts: []']),
    ),
  ]);
  return `${[`rule_files: [../${RULES_FILE}]`, 'evaluation_interval: 1m', 'tests:', ...tests].join('\n')}\n`;
}

function testLines(name: string, alert: Alert, test: Alert['quiet'][number], expected: string[]): string[] {
  return [
    `  - name: ${JSON.stringify(name)}`,
    '    interval: 1m',
    '    input_series:',
    ...Object.entries(test.series).flatMap(([series, values]) => [
      `      - series: ${JSON.stringify(series)}`,
      `        values: ${JSON.stringify(values)}`,
    ]),
    '    alert_rule_test:',
    `      - eval_time: ${test.at}`,
    `        alertname: ${alert.name}`,
    ...expected,
  ];
}

function expectation(group: AlertGroup, alert: Alert): string[] {
  const { labels = {}, value = '' } = alert.fires;
  const annotations = {
    summary: fill(alert.summary, labels, value),
    description: fill(alert.description, labels, value),
    runbook_url: runbookUrl(group, alert),
  };
  return [
    '        exp_alerts:',
    `          - exp_labels: ${JSON.stringify({ severity: alert.severity, ...labels })}`,
    `            exp_annotations: ${JSON.stringify(annotations)}`,
  ];
}

/** What Prometheus makes of the template of an annotation. */
function fill(template: string, labels: Readonly<Record<string, string>>, value: string): string {
  return template
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? '')
    .replaceAll('{{ $value }}', value);
}
