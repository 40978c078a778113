import type { CatalogEntry } from './description.ts';

export const DIAGNOSTIC_COMMANDS = [
  {
    name: 'doctor',
    audit: 'none',
    summary: 'run all health checks and show a remedy for each problem',
    usage: 'doctor [--watch SECONDS]',
    options: [
      {
        name: 'watch',
        value: 'SECONDS',
        summary: 'repeat the checks at this interval until Ctrl-C (1 to 3600)',
      },
    ],
    details:
      'Checks configuration and secrets, database, migrations, roles, clocks, rails, Bre-B keys waiting for registration, rail notices, payouts, anomalies, webhooks and schedules. Makes no changes except for a test write. A failed check does not stop the others; all checks end within ten seconds. Exit code 1 when a check fails, 0 with warnings only.',
    examples: ['caudal doctor', 'caudal doctor --json', 'caudal doctor --watch 10'],
  },
  {
    name: 'config check',
    audit: 'none',
    summary: 'validate the configuration for a role and list all errors',
    usage: 'config check [--role api|worker|all|migrate]',
    options: [
      {
        name: 'role',
        value: 'ROLE',
        summary: 'role to validate for (default: all)',
        choices: ['api', 'worker', 'all', 'migrate'],
      },
    ],
    details:
      'Opens no connection and never prints a secret. Also warns about insecure settings: development secrets, a secret used twice, plain http.',
    examples: ['caudal config check --env-file production.env --role migrate'],
  },
] as const satisfies readonly CatalogEntry[];
