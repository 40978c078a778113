import { z } from 'zod';
import { integer, postgresUrl } from './setting-types.ts';

/** Settings of the database connections. */
export const DATABASE_SETTINGS = {
  DATABASE_URL: postgresUrl(
    'PostgreSQL URL of the schema owner. Required by `migrate`; other processes need it only when the three URLs below are not set.',
  ).optional(),
  DATABASE_READ_URL: postgresUrl('PostgreSQL URL of the role `caudal_read`.').optional(),
  DATABASE_BATCH_URL: postgresUrl('PostgreSQL URL of the role `caudal_batch`.').optional(),
  DATABASE_SYSTEM_URL: postgresUrl('PostgreSQL URL of the role `caudal_system`.').optional(),
  DATABASE_BACKUP_URL: postgresUrl(
    'PostgreSQL URL of the role `caudal_backup`, used by `pg_dump`. Only `migrate` reads it, to set the password. When it is not set, an administrator sets the password.',
  ).optional(),
  CAUDAL_DATABASE_ROLE_PREFIX: z
    .string()
    .regex(/^(?!pg_)[a-z][a-z0-9_]{0,39}$/, 'up to 40 lower-case letters, digits and underscores')
    .default('caudal')
    .describe(
      'Prefix of the database role names (`caudal_read`, …). Roles are shared by the whole PostgreSQL cluster, so a second deployment in it needs another prefix. A database keeps the prefix it was first migrated with.',
    ),
  CAUDAL_MIGRATE_LOCK_WAIT_SECONDS: integer(
    1,
    86_400,
    'How long `migrate` retries a migration while other sessions hold a lock that it needs.',
  ).default(300),
  CAUDAL_DATABASE_DEADLINE_MS: integer(
    200,
    60_000,
    'Maximum duration of a single statement before its connection is closed.',
  ).default(5000),
  CAUDAL_DATABASE_START_WAIT_MS: integer(
    0,
    600_000,
    'How long a starting process waits while PostgreSQL is starting or unreachable, before it exits with code 1. A rejected login is not waited for.',
  ).default(60_000),
  CAUDAL_READ_CONNECTIONS: integer(
    1,
    200,
    'Maximum database connections of an API process for reads. docs/operating/run-it.md lists all connections of a process.',
  ).default(8),
  CAUDAL_SYSTEM_CONNECTIONS: integer(
    2,
    200,
    'Maximum database connections of a process for everything except merchant requests: worker loops, authentication, rail notices. Default: 6 in an API process, 10 in a worker.',
  ).optional(),
  CAUDAL_MAX_PENDING_COMMITS: integer(
    1,
    1000,
    'Maximum commits of a process that stay unanswered in PostgreSQL, which happens when a synchronous standby is missing. Each one occupies a server connection. At the limit, writes are rejected with 503 and /readyz reports `commits_pending`.',
  ).default(8),
  CAUDAL_BATCH_LANES: integer(
    1,
    16,
    'Maximum concurrent batches of commands; another batch starts when the current one is slow.',
  ).default(2),
} as const;
