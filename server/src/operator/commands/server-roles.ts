import type { CatalogEntry } from './description.ts';

export const SERVER_ROLES = [
  {
    name: 'api',
    audit: 'none',
    summary: 'serve the API, the checkout pages and rail notifications',
    usage: 'api',
    details:
      'Configured by environment variables (docs/reference/configuration.md). Runs until SIGTERM; /readyz reports whether it can accept requests.',
    examples: ['caudal api --env-file production.env'],
  },
  {
    name: 'worker',
    audit: 'none',
    summary: 'process due work: rails, payouts, webhooks, schedules',
    usage: 'worker',
    details: 'Run at least one worker; several workers share the work.',
    examples: ['caudal worker --env-file production.env'],
  },
  {
    name: 'all',
    audit: 'none',
    summary: 'api and worker in one process',
    usage: 'all',
    examples: ['caudal all --env-file production.env'],
  },
  {
    name: 'migrate',
    audit: 'before_and_after',
    summary: 'apply pending database migrations',
    usage: 'migrate [--by NAME]',
    options: [
      {
        name: 'by',
        value: 'NAME',
        summary: 'author for the audit log (default: CAUDAL_BY, or the operating system user)',
      },
    ],
    details:
      'Needs DATABASE_URL with the schema owner, a role with LOGIN and CREATEROLE and no other attributes. Migrations are forward only and idempotent. Start new processes afterwards. Writes an audit row before and after; the first migrate of a database writes only the second, because the audit table does not exist yet. Without --by and CAUDAL_BY the audit records the operating system user, such as os:deploy.',
    examples: ['caudal migrate --by ana --env-file production.env'],
  },
] as const satisfies readonly CatalogEntry[];
