import { type AlertGroup, JOBS } from '../alert.ts';
import type { Durations } from '../durations.ts';

const API = 'job="caudal-api",instance="a:1"';

/** SLO: 99.9 % of requests without a 5xx over 30 days. */
const ERROR_BUDGET = 0.001;

function burns({ window }: Durations, rate: number, long: '1h' | '6h', short: '5m' | '30m'): string {
  const limit = `${rate} * ${ERROR_BUDGET}`;
  return (
    `caudal:api_errors:ratio_rate${long} > ${limit}\n` +
    `and caudal:api_errors:ratio_rate${short} > ${limit}\n` +
    // One failed request of a quiet night is no incident.
    `and sum(increase(caudal_http_request_seconds_count{status=~"5.."}[${window(long)}])) > 10`
  );
}

const requests = (status: number, values: string) => ({
  [`caudal_http_request_seconds_count{${API},method="GET",route="/payins",status="${status}"}`]: values,
});

export const PROCESSES: AlertGroup = {
  name: 'processes',
  alerts: [
    {
      name: 'CaudalApiErrorBudgetBurnFast',
      severity: 'page',
      for: '2m',
      expr: (d) => burns(d, 14.4, '1h', '5m'),
      summary: 'The API fails more than 1.4 % of requests',
      description:
        'Over the last hour and the last five minutes the API responded 5xx so often that the error budget of 30 days (0.1 % of requests) is used up in two days.',
      fires: { series: { ...requests(200, '0+600x60'), ...requests(500, '0+20x60') }, at: '30m' },
      quiet: [
        { series: { ...requests(200, '0+600x60'), ...requests(500, '0+5x60') }, at: '30m' },
        { series: { ...requests(200, '0+1x60'), ...requests(500, '0x20 1x39') }, at: '22m' },
      ],
    },
    {
      name: 'CaudalApiErrorBudgetBurnSlow',
      severity: 'ticket',
      for: '15m',
      expr: (d) => burns(d, 6, '6h', '30m'),
      summary: 'The API fails more than 0.6 % of requests',
      description:
        'Over the last six hours and the last 30 minutes the API responded 5xx so often that the error budget of 30 days (0.1 % of requests) is used up in five days.',
      fires: { series: { ...requests(200, '0+600x90'), ...requests(500, '0+5x90') }, at: '80m' },
      quiet: [
        { series: { ...requests(200, '0+600x90'), ...requests(500, '0+2x90') }, at: '80m' },
        { series: { ...requests(200, '0+600x180'), ...requests(500, '0+60x20 1200x160') }, at: '120m' },
      ],
    },
    {
      name: 'CaudalApiLatencyHigh',
      severity: 'ticket',
      for: '10m',
      expr: () => 'caudal:api_request_seconds:p95_5m > 1 and caudal:api_requests:rate5m > 0.1',
      summary: 'One request in twenty takes more than a second',
      description: 'The 95th percentile of the response time of the API is above one second.',
      fires: {
        series: {
          ...requests(200, '0+60x40'),
          [`caudal_http_request_seconds_bucket{${API},route="/payins",le="1"}`]: '0+30x40',
          [`caudal_http_request_seconds_bucket{${API},route="/payins",le="2.5"}`]: '0+60x40',
          [`caudal_http_request_seconds_bucket{${API},route="/payins",le="+Inf"}`]: '0+60x40',
        },
        at: '30m',
      },
      quiet: [
        {
          series: {
            ...requests(200, '0+60x40'),
            [`caudal_http_request_seconds_bucket{${API},route="/payins",le="1"}`]: '0+60x40',
            [`caudal_http_request_seconds_bucket{${API},route="/payins",le="+Inf"}`]: '0+60x40',
            [`caudal_http_request_seconds_bucket{${API},route="/events/stream",le="1"}`]: '0x40',
            [`caudal_http_request_seconds_bucket{${API},route="/events/stream",le="+Inf"}`]: '0+60x40',
          },
          at: '30m',
        },
      ],
    },
    {
      name: 'CaudalProcessDown',
      severity: 'ticket',
      for: '2m',
      expr: () => `up{${JOBS}} == 0`,
      summary: '{{ $labels.instance }} ({{ $labels.job }}) does not respond',
      description:
        'Prometheus cannot read the metrics of this process. Other processes of the role continue its work.',
      fires: {
        series: { [`up{${API}}`]: '1x5 0x10', 'up{job="caudal-api",instance="b:1"}': '1x15' },
        at: '10m',
        labels: { job: 'caudal-api', instance: 'a:1' },
      },
      quiet: [
        { series: { [`up{${API}}`]: '1x5 0 1x10', 'up{job="other",instance="c:1"}': '0x15' }, at: '10m' },
      ],
    },
    {
      name: 'CaudalRoleDown',
      severity: 'page',
      for: '1m',
      expr: () =>
        `sum by (job) (up{${JOBS}}) == 0\n` +
        'or absent(up{job="caudal-api"})\nor absent(up{job="caudal-worker"})',
      summary: 'No process of {{ $labels.job }} responds',
      description:
        'The whole role is down. Without api no request is served; without worker no payment ends, no payout is sent and no webhook leaves.',
      fires: {
        series: { [`up{${API}}`]: '1x15', 'up{job="caudal-worker",instance="w:1"}': '1x5 0x10' },
        at: '10m',
        labels: { job: 'caudal-worker' },
      },
      quiet: [
        {
          series: {
            [`up{${API}}`]: '1x15',
            'up{job="caudal-worker",instance="w:1"}': '1x5 0x10',
            'up{job="caudal-worker",instance="w:2"}': '1x15',
          },
          at: '10m',
        },
      ],
    },
    {
      name: 'CaudalNotReady',
      severity: 'page',
      for: '1m',
      expr: () => 'caudal_unready_reason{code!~"shutting_down|database_silent|commits_pending"} == 1',
      summary: '{{ $labels.instance }} ({{ $labels.job }}) is not ready: {{ $labels.code }}',
      description: 'The process responds 503 to /readyz for this reason and receives no traffic.',
      fires: {
        series: { [`caudal_unready_reason{${API},code="write_failed"}`]: '0x5 1x10' },
        at: '10m',
        labels: { job: 'caudal-api', instance: 'a:1', code: 'write_failed' },
      },
      quiet: [
        {
          series: {
            [`caudal_unready_reason{${API},code="write_failed"}`]: '0x15',
            [`caudal_unready_reason{${API},code="shutting_down"}`]: '1x15',
          },
          at: '10m',
        },
      ],
    },
    {
      name: 'CaudalEventLoopBlocked',
      severity: 'ticket',
      for: '5m',
      expr: () => 'caudal:event_loop_delay_seconds:max > 0.5',
      summary: '{{ $labels.instance }} ({{ $labels.job }}) is saturated',
      description:
        'The event loop of the process is delayed by more than half a second: everything it does is that late.',
      fires: {
        series: { [`caudal_event_loop_delay_seconds{${API}}`]: '0.01x5 0.8x20' },
        at: '15m',
        labels: { job: 'caudal-api', instance: 'a:1' },
      },
      quiet: [{ series: { [`caudal_event_loop_delay_seconds{${API}}`]: '0.01x5 0.8x2 0.1x20' }, at: '15m' }],
    },
    {
      name: 'CaudalMemoryHigh',
      severity: 'ticket',
      for: '15m',
      expr: () => `process_resident_memory_bytes{${JOBS}} > 1024 ^ 3`,
      summary: '{{ $labels.instance }} ({{ $labels.job }}) uses more than 1 GiB of memory',
      description:
        'A process usually needs 150 to 300 MiB. It may be killed when the host runs out of memory.',
      fires: {
        series: { [`process_resident_memory_bytes{${API}}`]: '2e9x30' },
        at: '20m',
        labels: { job: 'caudal-api', instance: 'a:1' },
      },
      quiet: [
        {
          series: {
            [`process_resident_memory_bytes{${API}}`]: '3e8x30',
            'process_resident_memory_bytes{job="node",instance="n:1"}': '2e9x30',
          },
          at: '20m',
        },
      ],
    },
    {
      name: 'CaudalFileDescriptorsHigh',
      severity: 'ticket',
      for: '5m',
      expr: () => `process_open_fds{${JOBS}} / process_max_fds{${JOBS}} > 0.8`,
      summary: '{{ $labels.instance }} ({{ $labels.job }}) uses more than 80 % of its file descriptors',
      description: 'Without free file descriptors the process accepts no connection and opens none.',
      fires: {
        series: { [`process_open_fds{${API}}`]: '900x15', [`process_max_fds{${API}}`]: '1024x15' },
        at: '10m',
        labels: { job: 'caudal-api', instance: 'a:1' },
      },
      quiet: [
        {
          series: { [`process_open_fds{${API}}`]: '60x15', [`process_max_fds{${API}}`]: '1024x15' },
          at: '10m',
        },
      ],
    },
    {
      name: 'CaudalVersionMismatch',
      severity: 'ticket',
      for: '1h',
      expr: () => 'count(count by (version) (caudal_build_info)) > 1',
      summary: 'Processes of different versions run',
      description: 'An upgrade or a rollback was not completed: see caudal_build_info.',
      fires: {
        series: {
          [`caudal_build_info{${API},version="1.0.0",node="24"}`]: '1x90',
          'caudal_build_info{job="caudal-worker",instance="w:1",version="1.1.0",node="24"}': '1x90',
        },
        at: '80m',
        labels: {},
      },
      quiet: [
        {
          series: {
            [`caudal_build_info{${API},version="1.0.0",node="24"}`]: '1x90',
            'caudal_build_info{job="caudal-worker",instance="w:1",version="1.0.0",node="24"}': '1x90',
          },
          at: '80m',
        },
      ],
    },
    {
      name: 'CaudalCertificateExpiring',
      severity: 'ticket',
      for: '1h',
      expr: () => 'min by (setting) (caudal_tls_certificate_expiry_timestamp_seconds) - time() < 30 * 86400',
      summary: 'The certificate of {{ $labels.setting }} expires within 30 days',
      description: 'Connections that use the certificate fail when it has expired.',
      fires: {
        series: {
          [`caudal_tls_certificate_expiry_timestamp_seconds{${API},setting="BREB_TLS_CERT_FILE"}`]:
            '864000x90',
        },
        at: '80m',
        labels: { setting: 'BREB_TLS_CERT_FILE' },
      },
      quiet: [
        {
          series: {
            [`caudal_tls_certificate_expiry_timestamp_seconds{${API},setting="BREB_TLS_CERT_FILE"}`]:
              '8640000x90',
          },
          at: '80m',
        },
      ],
    },
    {
      name: 'CaudalScheduleFailing',
      severity: 'ticket',
      for: '0s',
      expr: ({ window }) =>
        `sum by (schedule) (increase(caudal_schedule_failures_total[${window('30m')}])) > 2`,
      summary: 'The schedule {{ $labels.schedule }} fails repeatedly',
      description: 'More than two runs failed in 30 minutes.',
      fires: {
        series: {
          'caudal_schedule_failures_total{job="caudal-worker",instance="w:1",schedule="housekeeping"}':
            '0x5 1+1x30',
        },
        at: '20m',
        labels: { schedule: 'housekeeping' },
      },
      quiet: [
        {
          series: {
            'caudal_schedule_failures_total{job="caudal-worker",instance="w:1",schedule="housekeeping"}':
              '0x5 1x30',
          },
          at: '20m',
        },
      ],
    },
    {
      name: 'CaudalScheduleNotRun',
      severity: 'ticket',
      for: '10m',
      expr: () => scheduleOverdue(),
      summary: 'The schedule {{ $labels.schedule }} has not run',
      description: 'Its last success is older than two of its periods and ten minutes.',
      fires: {
        series: {
          'caudal_schedule_last_success_timestamp_seconds{job="caudal-worker",instance="w:1",schedule="housekeeping"}':
            '1x90',
        },
        at: '80m',
        labels: { schedule: 'housekeeping' },
      },
      quiet: [
        {
          series: {
            'caudal_schedule_last_success_timestamp_seconds{job="caudal-worker",instance="w:1",schedule="housekeeping"}':
              '0+60x90',
            'caudal_schedule_last_success_timestamp_seconds{job="caudal-worker",instance="w:1",schedule="ledger-verify"}':
              '0x90',
          },
          at: '80m',
        },
      ],
    },
    {
      name: 'CaudalClockSteppedBack',
      severity: 'ticket',
      for: '5m',
      expr: () => 'max(caudal_id_clock_lead_seconds) > 2',
      summary: 'The clock of the database host went back',
      description:
        'Ids run ahead of the clock of PostgreSQL. Nothing is lost; the host needs time synchronization.',
      fires: { series: { [`caudal_id_clock_lead_seconds{${API}}`]: '0x5 60x20' }, at: '15m', labels: {} },
      quiet: [{ series: { [`caudal_id_clock_lead_seconds{${API}}`]: '0.2x20' }, at: '15m' }],
    },
  ],
};

/** Two periods of the schedule and ten minutes, in seconds (server/src/jobs/schedule-catalogue.ts). */
const OVERDUE_AFTER: readonly (readonly [schedules: string, seconds: number])[] = [
  ['settlement|data-keys', 720],
  ['housekeeping', 1800],
  ['subtotals', 7800],
  ['bank-list|ledger-verify', 173_400],
];

function scheduleOverdue(): string {
  // A schedule that never succeeded counts from the start of the oldest worker.
  const started = 'scalar(min(process_start_time_seconds{job="caudal-worker"}))';
  return OVERDUE_AFTER.map(([schedules, seconds]) => {
    const success = `caudal_schedule_last_success_timestamp_seconds{schedule=~"${schedules}"}`;
    return `time() - (max by (schedule) (${success} > 0) or 0 * max by (schedule) (${success}) + ${started}) > ${seconds}`;
  }).join('\nor ');
}
