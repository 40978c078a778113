import type { Dashboard } from './dashboard.ts';

export const WEBHOOKS: Dashboard = {
  uid: 'caudal-webhooks',
  title: 'Caudal: webhooks',
  rows: [
    {
      title: 'Delivery',
      panels: [
        {
          title: 'Attempts by result',
          unit: 'reqps',
          queries: [
            { expr: 'sum by (result) (rate(caudal_webhook_attempts_total[5m]))', legend: '{{result}}' },
          ],
        },
        {
          title: 'Lag',
          description: 'How long the oldest event waits for an endpoint that works.',
          unit: 's',
          queries: [
            { expr: 'caudal:webhook_lag_seconds', legend: 'lag' },
            { expr: 'max(caudal_events_undispatched_oldest_seconds)', legend: 'not dispatched' },
          ],
        },
        {
          title: 'Endpoints',
          queries: [
            { expr: 'max(caudal_webhook_endpoints_waiting)', legend: 'waiting' },
            { expr: 'max(caudal_webhook_endpoints_backlogged)', legend: 'backlogged' },
            { expr: 'max(caudal_webhook_endpoints_failing)', legend: 'failing' },
            { expr: 'sum(caudal_webhook_endpoints_slow)', legend: 'slow' },
          ],
        },
        {
          title: 'Endpoints disabled in an hour',
          queries: [
            { expr: 'sum(increase(caudal_webhook_endpoints_disabled_total[1h]))', legend: 'disabled' },
          ],
        },
        {
          title: 'Queues in progress, and their limit',
          queries: [
            { expr: 'caudal_webhook_deliveries_in_flight', legend: '{{instance}}' },
            { expr: 'caudal_webhook_deliveries_in_flight_limit', legend: '{{instance}} limit' },
          ],
        },
        { title: 'Event streams', queries: [{ expr: 'sum(caudal_event_streams)', legend: 'open' }] },
      ],
    },
  ],
};

export const DATABASE: Dashboard = {
  uid: 'caudal-database',
  title: 'Caudal: database',
  rows: [
    {
      title: 'Pools',
      panels: [
        {
          title: 'Saturation',
          unit: 'percentunit',
          queries: [{ expr: 'caudal:database_pool:saturation', legend: '{{instance}} {{pool}}' }],
        },
        {
          title: 'Callers waiting for a connection',
          queries: [
            {
              expr: 'sum by (job, instance, pool) (caudal_database_pool_waiting)',
              legend: '{{instance}} {{pool}}',
            },
          ],
        },
        {
          title: 'Wait for a connection, 99th percentile',
          unit: 's',
          queries: [{ expr: 'caudal:database_pool_wait_seconds:p99_5m', legend: '{{pool}}' }],
        },
        {
          title: 'Statements',
          unit: 'reqps',
          queries: [
            { expr: 'sum by (pool) (rate(caudal_database_statement_seconds_count[5m]))', legend: '{{pool}}' },
          ],
        },
        {
          title: 'Duration of statements',
          unit: 's',
          queries: ['p50', 'p95', 'p99'].map((name) => ({
            expr: `caudal:database_statement_seconds:${name}_5m`,
            legend: `${name} {{pool}}`,
          })),
        },
        {
          title: 'Size of payin batches',
          description: 'Payins that share one commit, on average.',
          queries: [
            {
              expr: 'sum(rate(caudal_payin_batch_size_sum[5m])) / sum(rate(caudal_payin_batch_size_count[5m]))',
              legend: 'payins',
            },
          ],
        },
      ],
    },
    {
      title: 'Server',
      panels: [
        {
          title: 'Time since the last heartbeat',
          unit: 's',
          queries: [{ expr: 'caudal_clock_age_seconds', legend: '{{instance}}' }],
        },
        {
          title: 'Commits waiting for the standby',
          queries: [{ expr: 'caudal_database_pending_commits', legend: '{{instance}}' }],
        },
        {
          title: 'Standbys',
          queries: [{ expr: 'max by (state) (caudal_database_standbys)', legend: '{{state}}' }],
        },
        {
          title: 'Time since the last archived WAL segment',
          unit: 's',
          queries: [
            {
              expr: 'time() - max(caudal_database_archive_last_success_timestamp_seconds)',
              legend: 'archive',
            },
          ],
        },
        {
          title: 'Age of the last backup',
          unit: 's',
          queries: [{ expr: 'min(caudal_backup_age_seconds)', legend: 'backup' }],
        },
        {
          title: 'Ids ahead of the clock',
          unit: 's',
          queries: [{ expr: 'max(caudal_id_clock_lead_seconds)', legend: 'lead' }],
        },
      ],
    },
  ],
};
