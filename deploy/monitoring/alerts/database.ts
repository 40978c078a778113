import type { AlertGroup } from '../alert.ts';

const API = 'job="caudal-api",instance="a:1"';
const WORKER = 'job="caudal-worker",instance="w:1"';
const reason = (code: string, values: string) => ({
  [`caudal_unready_reason{${API},code="${code}"}`]: values,
});

export const DATABASE: AlertGroup = {
  name: 'database',
  alerts: [
    {
      name: 'CaudalDatabaseSilent',
      severity: 'page',
      for: '30s',
      expr: () =>
        'count(caudal_unready_reason{code="database_silent"} == 1 or caudal_clock_age_seconds > 5) > 0',
      summary: 'PostgreSQL does not respond',
      description:
        'Processes get no response to heartbeats. Requests get 503; nothing that was acknowledged is lost.',
      fires: { series: reason('database_silent', '0x5 1x10'), at: '10m', labels: {} },
      quiet: [
        {
          series: { ...reason('database_silent', '0x15'), [`caudal_clock_age_seconds{${API}}`]: '0.4x15' },
          at: '10m',
        },
      ],
    },
    {
      name: 'CaudalCommitsPending',
      severity: 'page',
      for: '1m',
      expr: () =>
        'max(caudal_unready_reason{code="commits_pending"}) == 1 or max(caudal_database_pending_commits) > 0',
      summary: 'Commits wait for the synchronous standby',
      description:
        'The synchronous standby does not confirm commits. At their limit a process rejects writes.',
      fires: { series: { [`caudal_database_pending_commits{${API}}`]: '0x5 4x10' }, at: '10m', labels: {} },
      quiet: [
        {
          series: {
            [`caudal_database_pending_commits{${API}}`]: '0x5 1 0x10',
            ...reason('commits_pending', '0x15'),
          },
          at: '10m',
        },
      ],
    },
    {
      name: 'CaudalStandbyLost',
      severity: 'page',
      for: '2m',
      expr: ({ window }) =>
        `caudal:database_standbys < max_over_time(caudal:database_standbys[${window('1d')}])`,
      summary: 'A standby of PostgreSQL is missing',
      description:
        'Fewer standbys are connected than during the last day: the next failure of the primary may lose data or stop writes.',
      fires: {
        series: { [`caudal_database_standbys{${WORKER},state="sync"}`]: '1x5 0x15' },
        at: '15m',
        labels: {},
      },
      quiet: [
        {
          series: {
            [`caudal_database_standbys{${WORKER},state="sync"}`]: '0x20',
            [`caudal_database_standbys{${WORKER},state="async"}`]: '0x20',
          },
          at: '15m',
        },
      ],
    },
    {
      name: 'CaudalArchivingFailing',
      severity: 'page',
      for: '10m',
      expr: () => 'max(caudal_database_archive_failing) == 1',
      summary: 'PostgreSQL cannot archive its WAL',
      description:
        'A point-in-time restore is not possible beyond the last archived segment, and the disk of the WAL fills.',
      fires: {
        series: { [`caudal_database_archive_failing{${WORKER}}`]: '0x5 1x30' },
        at: '20m',
        labels: {},
      },
      quiet: [{ series: { [`caudal_database_archive_failing{${WORKER}}`]: '0x5 1x3 0x30' }, at: '20m' }],
    },
    {
      name: 'CaudalBackupTooOld',
      severity: 'ticket',
      for: '1h',
      expr: () =>
        'min(caudal_backup_age_seconds) > 26 * 3600\n' +
        'or time() - (max(caudal_backup_last_check_timestamp_seconds) > 0) > 2 * 86400',
      summary: 'The last good backup is older than 26 hours',
      description: 'The last backup is too old, or backups have not been checked for two days.',
      fires: { series: { [`caudal_backup_age_seconds{${WORKER}}`]: '100000x90' }, at: '80m', labels: {} },
      quiet: [
        {
          series: {
            [`caudal_backup_age_seconds{${WORKER}}`]: '3600x90',
            [`caudal_backup_last_check_timestamp_seconds{${WORKER}}`]: '0x90',
          },
          at: '80m',
        },
      ],
    },
    {
      name: 'CaudalDatabasePoolExhausted',
      severity: 'ticket',
      for: '2m',
      expr: ({ window }) =>
        `max by (job, instance, pool) (min_over_time(caudal_database_pool_waiting[${window('1m')}])) > 0\n` +
        'and caudal:database_pool:saturation >= 1',
      summary:
        '{{ $labels.instance }} ({{ $labels.job }}) waits for connections of the pool {{ $labels.pool }}',
      description: 'All connections of the pool are in use and work waits for one.',
      fires: {
        series: {
          [`caudal_database_pool_waiting{${API},pool="read"}`]: '0x5 4x15',
          [`caudal_database_pool_connections{${API},pool="read",state="in_use"}`]: '1x5 8x15',
          [`caudal_database_pool_limit{${API},pool="read"}`]: '8x20',
        },
        at: '15m',
        labels: { job: 'caudal-api', instance: 'a:1', pool: 'read' },
      },
      quiet: [
        {
          series: {
            [`caudal_database_pool_waiting{${API},pool="read"}`]: '0x5 4 0x15',
            [`caudal_database_pool_connections{${API},pool="read",state="in_use"}`]: '8x20',
            [`caudal_database_pool_limit{${API},pool="read"}`]: '8x20',
          },
          at: '15m',
        },
      ],
    },
    {
      name: 'CaudalPartitionsMissing',
      severity: 'page',
      for: '1m',
      expr: () => 'min(caudal_months_prepared) < 1',
      summary: 'The partitions of next month are missing',
      description:
        'When the month begins, nothing could be created. Below 0 the partitions of this month are missing.',
      fires: { series: { [`caudal_months_prepared{${API}}`]: '3x5 0x10' }, at: '10m', labels: {} },
      quiet: [{ series: { [`caudal_months_prepared{${API}}`]: '1x15' }, at: '10m' }],
    },
    {
      name: 'CaudalSendingPausedAfterRestore',
      severity: 'page',
      for: '5m',
      expr: () => 'max(caudal_sending_paused_after_restore) == 1',
      summary: 'Sending is paused after a restore',
      description: 'The database was restored. No payout leaves until it has been reconciled with the rail.',
      fires: {
        series: { [`caudal_sending_paused_after_restore{${WORKER}}`]: '1x20' },
        at: '15m',
        labels: {},
      },
      quiet: [{ series: { [`caudal_sending_paused_after_restore{${WORKER}}`]: '0x20' }, at: '15m' }],
    },
  ],
};
