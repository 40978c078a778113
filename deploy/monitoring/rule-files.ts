import type { Alert, AlertGroup } from './alert.ts';
import { ALERT_GROUPS } from './alerts/alert-groups.ts';
import type { Durations } from './durations.ts';
import { RECORDING_RULES } from './recording-rules.ts';

/** Where the docs of a deployment are; operators replace the host by their own (docs/operating/monitoring.md). */
const DOCS = 'https://caudal.example.com/docs';

/** The group of the recording rules, which the alerts read. */
export const RECORDING_GROUP = 'caudal-recording';

export const RULES_FILE = 'caudal-rules.yaml';

/** The name of an alert group in the rules file. */
export function ruleGroup(group: AlertGroup): string {
  return `caudal-${group.name}`;
}

export function runbookUrl(group: AlertGroup, alert: Alert): string {
  return `${DOCS}/operating/runbooks/${group.name}/#${alert.name.toLowerCase()}`;
}

/** The rules as a file of Prometheus. Strings are quoted as in JSON, which YAML contains. */
export function rulesYaml(durations: Durations): string {
  const recording = RECORDING_RULES.flatMap(({ record, expr }) => [
    `      - record: ${record}`,
    ...block('expr', expr(durations)),
  ]);
  const groups = ALERT_GROUPS.flatMap((group) => [
    `  - name: ${ruleGroup(group)}`,
    '    rules:',
    ...group.alerts.flatMap((alert) => alertLines(group, alert, durations)),
  ]);
  return `${['groups:', `  - name: ${RECORDING_GROUP}`, '    rules:', ...recording, ...groups].join('\n')}\n`;
}

function alertLines(group: AlertGroup, alert: Alert, durations: Durations): string[] {
  return [
    `      - alert: ${alert.name}`,
    ...block('expr', alert.expr(durations)),
    `        for: ${durations.hold(alert.for)}`,
    '        labels:',
    `          severity: ${alert.severity}`,
    '        annotations:',
    `          summary: ${JSON.stringify(alert.summary)}`,
    `          description: ${JSON.stringify(alert.description)}`,
    `          runbook_url: ${JSON.stringify(runbookUrl(group, alert))}`,
  ];
}

function block(name: string, text: string): string[] {
  return [`        ${name}: |-`, ...text.split('\n').map((line) => `          ${line}`)];
}
