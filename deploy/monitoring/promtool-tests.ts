import type { Alert, AlertGroup } from './alert.ts';
import { type Duration, toSeconds } from './durations.ts';
import { RECORDING_GROUP, RULES_FILE, ruleGroup, runbookUrl } from './rule-files.ts';

/**
 * The files of `promtool test rules` for a group, by name: every alert fires once and stays quiet at least once. Alerts that
 * wait for a day have a file with fewer evaluations: one per minute of two days takes promtool minutes.
 */
export function promtoolTests(group: AlertGroup): Record<string, string> {
  const waitsForDay = (alert: Alert) => toSeconds(alert.for) >= toSeconds('1d');
  const day = group.alerts.filter(waitsForDay);
  return {
    [group.name]: testFile(
      group,
      group.alerts.filter((alert) => !waitsForDay(alert)),
      '1m',
    ),
    ...(day.length === 0 ? {} : { [`${group.name}-day`]: testFile(group, day, '10m') }),
  };
}

function testFile(group: AlertGroup, alerts: readonly Alert[], evaluationInterval: Duration): string {
  const tests = alerts.flatMap((alert) => [
    ...testLines(`${alert.name} fires`, alert, alert.fires, expectation(group, alert)),
    ...alert.quiet.flatMap((quiet, index) =>
      testLines(`${alert.name} stays quiet (${index + 1})`, alert, quiet, ['        exp_alerts: []']),
    ),
  ]);
  const head = [
    `rule_files: [../${RULES_FILE}]`,
    `evaluation_interval: ${evaluationInterval}`,
    // promtool evaluates groups in random order unless their order is given. A recorded value of the evaluation before is
    // stale for an alert when evaluations are more than five minutes apart.
    `group_eval_order: [${RECORDING_GROUP}, ${ruleGroup(group)}]`,
    'tests:',
  ];
  return `${[...head, ...tests].join('\n')}\n`;
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
