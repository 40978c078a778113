import type { Dashboard, Panel } from './dashboard.ts';

const quantiles = (title: string, record: string, range: string, by: string): Panel => ({
  title,
  unit: 's',
  queries: ['p50', 'p95', 'p99'].map((name) => ({
    expr: `${record}:${name}_${range}`,
    legend: `${name} ${by}`,
  })),
});

export const OVERVIEW: Dashboard = {
  uid: 'caudal-overview',
  title: 'Caudal: overview',
  rows: [
    {
      title: 'Payments',
      panels: [
        {
          title: 'Created',
          unit: 'reqps',
          queries: [
            { expr: 'sum by (rail) (rate(caudal_payins_created_total[5m]))', legend: 'payins {{rail}}' },
            { expr: 'sum by (rail) (rate(caudal_payouts_created_total[5m]))', legend: 'payouts {{rail}}' },
          ],
        },
        {
          title: 'Ended, by status and error code',
          unit: 'reqps',
          queries: [
            {
              expr: 'sum by (rail, status, error_code) (rate(caudal_payins_ended_total[5m]))',
              legend: 'payin {{rail}} {{status}} {{error_code}}',
            },
            {
              expr: 'sum by (rail, status, error_code) (rate(caudal_payouts_ended_total[5m]))',
              legend: 'payout {{rail}} {{status}} {{error_code}}',
            },
          ],
        },
        {
          title: 'Confirmed payins per created payin, 30 minutes and a day',
          unit: 'percentunit',
          queries: [
            { expr: 'caudal:payins_confirmed:ratio_rate30m', legend: '{{rail}}' },
            { expr: 'caudal:payins_confirmed:ratio_rate1d', legend: '{{rail}}, a day' },
          ],
        },
        quantiles('Payin: creation to confirmation', 'caudal:payin_outcome_seconds', '30m', '{{rail}}'),
        quantiles('Payout: creation to confirmation', 'caudal:payout_outcome_seconds', '30m', '{{rail}}'),
        {
          title: 'Error budget burn rate',
          description: '1 uses up the budget of 30 days (0.1 % of requests) in 30 days.',
          queries: ['5m', '1h', '6h'].map((range) => ({
            expr: `caudal:api_errors:ratio_rate${range} / 0.001`,
            legend: range,
          })),
        },
      ],
    },
    {
      title: 'API',
      panels: [
        {
          title: 'Requests by status',
          unit: 'reqps',
          queries: [
            { expr: 'sum by (status) (rate(caudal_http_request_seconds_count[5m]))', legend: '{{status}}' },
          ],
        },
        quantiles('Response time', 'caudal:api_request_seconds', '5m', ''),
        {
          title: 'Requests in flight, and their limit',
          queries: [
            { expr: 'caudal_http_requests_in_flight', legend: '{{instance}}' },
            { expr: 'caudal_http_requests_in_flight_limit', legend: '{{instance}} limit' },
          ],
        },
      ],
    },
    {
      title: 'Processes',
      panels: [
        { title: 'Ready', queries: [{ expr: 'caudal_ready', legend: '{{job}} {{instance}}' }] },
        {
          title: 'Reasons not to be ready',
          queries: [{ expr: 'sum by (code) (caudal_unready_reason)', legend: '{{code}}' }],
        },
        {
          title: 'Versions',
          queries: [
            { expr: 'count by (version, node) (caudal_build_info)', legend: '{{version}} on Node {{node}}' },
          ],
        },
        {
          title: 'CPU',
          unit: 'percentunit',
          queries: [
            { expr: 'rate(process_cpu_seconds_total{job=~"caudal-.+"}[5m])', legend: '{{job}} {{instance}}' },
          ],
        },
        {
          title: 'Memory',
          unit: 'bytes',
          queries: [
            { expr: 'process_resident_memory_bytes{job=~"caudal-.+"}', legend: '{{job}} {{instance}}' },
            { expr: 'nodejs_heap_size_used_bytes{job=~"caudal-.+"}', legend: 'heap {{job}} {{instance}}' },
          ],
        },
        {
          title: 'Event loop delay',
          unit: 's',
          queries: [{ expr: 'caudal:event_loop_delay_seconds:max', legend: '{{job}} {{instance}}' }],
        },
        {
          title: 'Garbage collection, share of time',
          unit: 'percentunit',
          queries: [
            {
              expr: 'sum by (job, instance) (rate(nodejs_gc_duration_seconds_sum[5m]))',
              legend: '{{job}} {{instance}}',
            },
          ],
        },
        {
          title: 'File descriptors',
          queries: [{ expr: 'process_open_fds{job=~"caudal-.+"}', legend: '{{job}} {{instance}}' }],
        },
        {
          title: 'Schedules: time since the last success',
          unit: 's',
          queries: [
            {
              expr: 'time() - max by (schedule) (caudal_schedule_last_success_timestamp_seconds)',
              legend: '{{schedule}}',
            },
          ],
        },
      ],
    },
  ],
};

export const RAILS: Dashboard = {
  uid: 'caudal-rails',
  title: 'Caudal: rails',
  rows: [
    {
      title: 'Calls',
      panels: [
        {
          title: 'Calls by operation and result',
          unit: 'reqps',
          queries: [
            {
              expr: 'sum by (connector, operation, result) (rate(caudal_rail_call_seconds_count[5m]))',
              legend: '{{connector}} {{operation}} {{result}}',
            },
          ],
        },
        {
          title: 'Share of failed calls',
          unit: 'percentunit',
          queries: [{ expr: 'caudal:rail_calls:failed_ratio_rate5m', legend: '{{connector}} {{operation}}' }],
        },
        quantiles('Duration', 'caudal:rail_call_seconds', '5m', '{{connector}} {{operation}}'),
        {
          title: 'Circuits open',
          queries: [
            { expr: 'max by (rail, operation) (caudal_rail_circuit_open)', legend: '{{rail}} {{operation}}' },
          ],
        },
        { title: 'Pauses', queries: [{ expr: 'max by (rail) (caudal_rail_pauses)', legend: '{{rail}}' }] },
        {
          title: 'Bre-B lookups by result',
          unit: 'reqps',
          queries: [{ expr: 'sum by (result) (rate(caudal_breb_lookups_total[5m]))', legend: '{{result}}' }],
        },
      ],
    },
    {
      title: 'Notifications and keys',
      panels: [
        {
          title: 'Notifications received',
          unit: 'reqps',
          queries: [
            {
              expr: 'sum by (rail, update) (rate(caudal_rail_notices_total[5m]))',
              legend: '{{rail}} {{update}}',
            },
          ],
        },
        {
          title: 'Oldest notification not processed',
          unit: 's',
          queries: [
            { expr: 'max by (task) (caudal_rail_notices_waiting_oldest_seconds)', legend: '{{task}}' },
          ],
        },
        {
          title: 'Oldest key not registered',
          unit: 's',
          queries: [{ expr: 'max(caudal_breb_keys_waiting_oldest_seconds)', legend: 'oldest' }],
        },
      ],
    },
  ],
};

export const MONEY: Dashboard = {
  uid: 'caudal-money',
  title: 'Caudal: money',
  rows: [
    {
      title: 'Ledger',
      panels: [
        {
          title: 'Inconsistent rows',
          kind: 'stat',
          queries: [{ expr: 'max(caudal_ledger_verification_inconsistencies)' }],
        },
        {
          title: 'Last verification',
          kind: 'stat',
          unit: 'dateTimeFromNow',
          queries: [{ expr: 'max(caudal_ledger_verification_timestamp_seconds) * 1000' }],
        },
        {
          title: 'Suspense, in pesos',
          unit: 'none',
          queries: [{ expr: 'caudal:suspense_balance_pesos', legend: 'suspense' }],
        },
      ],
    },
    {
      title: 'Waiting for a decision',
      panels: [
        { title: 'Open anomalies', queries: [{ expr: 'max(caudal_anomalies_open)', legend: 'anomalies' }] },
        { title: 'Held payins', queries: [{ expr: 'max(caudal_payins_settlement_held)', legend: 'held' }] },
        { title: 'Unknown payouts', queries: [{ expr: 'max(caudal_payouts_unknown)', legend: 'unknown' }] },
      ],
    },
    {
      title: 'Payouts',
      panels: [
        {
          title: 'Waiting and held',
          queries: [
            { expr: 'max(caudal_payouts_waiting)', legend: 'waiting' },
            { expr: 'max(caudal_payouts_held)', legend: 'held for a new receiver' },
          ],
        },
        {
          title: 'Oldest payout not sent',
          unit: 's',
          queries: [{ expr: 'max(caudal_payouts_waiting_oldest_seconds)', legend: 'oldest' }],
        },
        {
          title: 'Orders by answer',
          unit: 'reqps',
          queries: [
            { expr: 'sum by (answer) (rate(caudal_payout_attempts_total[5m]))', legend: '{{answer}}' },
          ],
        },
      ],
    },
  ],
};
