import type { Duration, Durations } from './durations.ts';

export interface RecordingRule {
  readonly record: `caudal:${string}`;
  readonly expr: (durations: Durations) => string;
}

/** Connections that stay open on purpose: their duration is no latency. */
const LONG_LIVED = 'route!~".*/(stream|live)"';

/** Windows of the burn rates, from the SRE workbook: a long one and a twelfth of it. */
const BURN_WINDOWS = ['5m', '30m', '1h', '6h'] as const;

const QUANTILES = [
  ['p50', '0.5'],
  ['p95', '0.95'],
  ['p99', '0.99'],
] as const;

export const RECORDING_RULES: readonly RecordingRule[] = [
  ...BURN_WINDOWS.map(
    (range): RecordingRule => ({
      record: `caudal:api_errors:ratio_rate${range}`,
      expr: ({ window }) =>
        `(sum(rate(caudal_http_request_seconds_count{status=~"5.."}[${window(range)}])) or vector(0))\n` +
        `/ sum(rate(caudal_http_request_seconds_count[${window(range)}]))`,
    }),
  ),
  {
    record: 'caudal:api_requests:rate5m',
    expr: ({ window }) => `sum(rate(caudal_http_request_seconds_count[${window('5m')}]))`,
  },
  ...quantiles('caudal:api_request_seconds', 'caudal_http_request_seconds', '5m', '', LONG_LIVED),
  ...['payins', 'payouts'].flatMap((kind) =>
    (['30m', '1d'] as const).map(
      (range): RecordingRule => ({
        record: `caudal:${kind}_confirmed:ratio_rate${range}`,
        expr: ({ window }) =>
          `sum by (rail) (rate(caudal_${kind}_ended_total{status="CONFIRMED"}[${window(range)}]))\n` +
          `/ sum by (rail) (rate(caudal_${kind}_created_total[${window(range)}]))`,
      }),
    ),
  ),
  ...quantiles(
    'caudal:payin_outcome_seconds',
    'caudal_payin_outcome_seconds',
    '30m',
    'rail',
    'status="CONFIRMED"',
  ),
  ...quantiles(
    'caudal:payout_outcome_seconds',
    'caudal_payout_outcome_seconds',
    '30m',
    'rail',
    'status="CONFIRMED"',
  ),
  {
    record: 'caudal:rail_calls:failed_ratio_rate5m',
    expr: ({ window }) =>
      `sum by (connector, operation) (rate(caudal_rail_call_seconds_count{result=~"unknown|not_now"}[${window('5m')}]))\n` +
      `/ sum by (connector, operation) (rate(caudal_rail_call_seconds_count[${window('5m')}]))`,
  },
  {
    record: 'caudal:rail_calls:rate5m',
    expr: ({ window }) =>
      `sum by (connector, operation) (rate(caudal_rail_call_seconds_count[${window('5m')}]))`,
  },
  ...quantiles('caudal:rail_call_seconds', 'caudal_rail_call_seconds', '5m', 'connector, operation', ''),
  {
    record: 'caudal:webhook_lag_seconds',
    expr: () =>
      'max(caudal_webhook_endpoints_waiting_oldest_seconds) > max(caudal_events_undispatched_oldest_seconds)\n' +
      'or max(caudal_events_undispatched_oldest_seconds)',
  },
  {
    record: 'caudal:database_pool:saturation',
    expr: () =>
      'sum by (job, instance, pool) (caudal_database_pool_connections{state="in_use"})\n' +
      '/ sum by (job, instance, pool) (caudal_database_pool_limit)',
  },
  ...quantiles('caudal:database_pool_wait_seconds', 'caudal_database_pool_wait_seconds', '5m', 'pool', ''),
  ...quantiles('caudal:database_statement_seconds', 'caudal_database_statement_seconds', '5m', 'pool', ''),
  {
    record: 'caudal:event_loop_delay_seconds:max',
    expr: () => 'max by (job, instance) (caudal_event_loop_delay_seconds)',
  },
  { record: 'caudal:suspense_balance_pesos', expr: () => 'max(caudal_suspense_balance_pesos)' },
  {
    record: 'caudal:database_standbys',
    expr: () => 'sum(max by (state) (caudal_database_standbys))',
  },
];

function quantiles(
  record: `caudal:${string}`,
  histogram: string,
  range: Duration,
  by: string,
  labels: string,
): RecordingRule[] {
  const selector = labels === '' ? '' : `{${labels}}`;
  return QUANTILES.map(([name, quantile]) => ({
    record: `${record}:${name}_${range}`,
    expr: ({ window }) =>
      `histogram_quantile(${quantile}, sum by (${by === '' ? 'le' : `${by}, le`}) (rate(${histogram}_bucket${selector}[${window(range)}])))`,
  }));
}
