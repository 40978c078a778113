import { ALERT_GROUPS } from './alerts/alert-groups.ts';
import { dashboardJson } from './dashboards/dashboard.ts';
import { DASHBOARDS } from './dashboards/dashboards.ts';
import { PRODUCTION } from './durations.ts';
import { promtoolTests } from './promtool-tests.ts';
import { RULES_FILE, rulesYaml } from './rule-files.ts';

/** Files for Prometheus and Grafana, by path from the repository's root. `npm run generate` writes them. */
export function monitoringFiles(): Record<string, string> {
  return {
    [`deploy/prometheus/${RULES_FILE}`]: HEAD + rulesYaml(PRODUCTION),
    ...Object.fromEntries(
      ALERT_GROUPS.flatMap((group) =>
        Object.entries(promtoolTests(group)).map(([name, text]) => [
          `deploy/prometheus/tests/${name}.yaml`,
          HEAD + text,
        ]),
      ),
    ),
    ...Object.fromEntries(
      DASHBOARDS.map((dashboard) => [`deploy/grafana/${dashboard.uid}.json`, dashboardJson(dashboard)]),
    ),
  };
}

const HEAD = '# Generated from deploy/monitoring by npm run generate.\n';
