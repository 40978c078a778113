import type { AlertGroup } from '../alert.ts';

const API = 'job="caudal-api",instance="a:1"';
const WORKER = 'job="caudal-worker",instance="w:1"';
const calls = (result: string, values: string) => ({
  [`caudal_rail_call_seconds_count{${WORKER},connector="breb",operation="query",result="${result}"}`]: values,
});
const buckets = (le: string, values: string) => ({
  [`caudal_rail_call_seconds_bucket{${WORKER},connector="breb",operation="query",result="yes",le="${le}"}`]:
    values,
});
const payins = (confirmed: string) => ({
  [`caudal_payins_created_total{${API},rail="PSE"}`]: '0+10x300',
  [`caudal_payins_ended_total{${WORKER},rail="PSE",status="CONFIRMED",error_code="none"}`]: confirmed,
});
const CALL = { connector: 'breb', operation: 'query' };

export const RAILS: AlertGroup = {
  name: 'rails',
  alerts: [
    {
      name: 'CaudalConfirmationRateLow',
      severity: 'page',
      for: '10m',
      expr: ({ window }) =>
        'caudal:payins_confirmed:ratio_rate30m < 0.5 * caudal:payins_confirmed:ratio_rate1d\n' +
        `and sum by (rail) (increase(caudal_payins_created_total[${window('30m')}])) > 20`,
      summary: 'Payers cannot complete payments on {{ $labels.rail }}',
      description:
        'During the last 30 minutes less than half as many payins per created payin were confirmed as during the last day.',
      fires: { series: payins('0+8x180 1440x120'), at: '240m', labels: { rail: 'PSE' } },
      quiet: [{ series: payins('0+8x180 1441+6x120'), at: '240m' }],
    },
    {
      name: 'CaudalRailCallsFailing',
      severity: 'page',
      for: '5m',
      expr: () => 'caudal:rail_calls:failed_ratio_rate5m > 0.2 and caudal:rail_calls:rate5m > 0.02',
      summary: 'Calls of {{ $labels.connector }} fail: {{ $labels.operation }}',
      description:
        'More than 20 % of the calls of this operation got no response, or the response that the rail is unavailable.',
      fires: {
        series: { ...calls('yes', '0+6x30'), ...calls('unknown', '0+4x30') },
        at: '20m',
        labels: CALL,
      },
      quiet: [
        {
          series: { ...calls('yes', '0+10x30'), ...calls('unknown', '0+1x30'), ...calls('no', '0+9x30') },
          at: '20m',
        },
      ],
    },
    {
      name: 'CaudalRailCallsSlow',
      severity: 'ticket',
      for: '10m',
      expr: () => 'caudal:rail_call_seconds:p99_5m > 2.5 and caudal:rail_calls:rate5m > 0.02',
      summary: 'Calls of {{ $labels.connector }} are slow: {{ $labels.operation }}',
      description: 'One call in a hundred of this operation takes more than 2.5 seconds.',
      fires: {
        series: {
          ...calls('yes', '0+60x40'),
          ...buckets('2.5', '0+50x40'),
          ...buckets('5', '0+60x40'),
          ...buckets('+Inf', '0+60x40'),
        },
        at: '30m',
        labels: CALL,
      },
      quiet: [
        {
          series: { ...calls('yes', '0+60x40'), ...buckets('2.5', '0+60x40'), ...buckets('+Inf', '0+60x40') },
          at: '30m',
        },
      ],
    },
    {
      name: 'CaudalRailCircuitOpen',
      severity: 'page',
      for: '1m',
      expr: () => 'max by (rail, operation) (caudal_rail_circuit_open) == 1',
      summary: 'No calls to {{ $labels.rail }}: {{ $labels.operation }}',
      description:
        'After consecutive failures the circuit breaker of a process blocks these calls and tests the rail from time to time.',
      fires: {
        series: { [`caudal_rail_circuit_open{${WORKER},rail="BRE_B",operation="pay"}`]: '0x5 1x10' },
        at: '10m',
        labels: { rail: 'BRE_B', operation: 'pay' },
      },
      quiet: [
        {
          series: { [`caudal_rail_circuit_open{${WORKER},rail="BRE_B",operation="pay"}`]: '0x15' },
          at: '10m',
        },
      ],
    },
    {
      name: 'CaudalBrebKeysWaiting',
      severity: 'page',
      for: '2m',
      expr: ({ age }) => `max(caudal_breb_keys_waiting_oldest_seconds) > ${age('1m')}`,
      summary: 'Bre-B keys are not registered',
      description: 'Payins were created whose keys the network does not know yet: their payers cannot pay.',
      fires: {
        series: { [`caudal_breb_keys_waiting_oldest_seconds{${WORKER}}`]: '0+60x20' },
        at: '10m',
        labels: {},
      },
      quiet: [{ series: { [`caudal_breb_keys_waiting_oldest_seconds{${WORKER}}`]: '2x20' }, at: '10m' }],
    },
    {
      name: 'CaudalRailNoticesWaiting',
      severity: 'page',
      for: '2m',
      expr: ({ age }) => `max by (task) (caudal_rail_notices_waiting_oldest_seconds) > ${age('1m')}`,
      summary: 'Notifications of rails are not processed: {{ $labels.task }}',
      description:
        'Rails reported payments that are stored and not applied: payers have paid, merchants do not know it yet.',
      fires: {
        series: { [`caudal_rail_notices_waiting_oldest_seconds{${WORKER},task="apply"}`]: '0+60x20' },
        at: '10m',
        labels: { task: 'apply' },
      },
      quiet: [
        {
          series: { [`caudal_rail_notices_waiting_oldest_seconds{${WORKER},task="apply"}`]: '1x20' },
          at: '10m',
        },
      ],
    },
    {
      name: 'CaudalRailNoticesUnreadable',
      severity: 'ticket',
      for: '0s',
      expr: ({ window }) =>
        `sum by (rail) (increase(caudal_rail_notices_total{update="unreadable"}[${window('1h')}])) > 0`,
      summary: '{{ $labels.rail }} sends notifications that cannot be parsed',
      description:
        'Signed notifications of the rail do not have the agreed form. They are stored; polling finds the payments later.',
      fires: {
        series: { [`caudal_rail_notices_total{${API},rail="PSE",update="unreadable"}`]: '0x5 1x20' },
        at: '15m',
        labels: { rail: 'PSE' },
      },
      quiet: [
        {
          series: {
            [`caudal_rail_notices_total{${API},rail="PSE",update="unreadable"}`]: '3x20',
            [`caudal_rail_notices_total{${API},rail="PSE",update="paid"}`]: '0+9x20',
          },
          at: '15m',
        },
      ],
    },
    {
      name: 'CaudalRailPaused',
      severity: 'ticket',
      for: '1h',
      expr: () => 'max by (rail) (caudal_rail_pauses) > 0',
      summary: '{{ $labels.rail }} is paused',
      description:
        'An operator paused the rail, for one organization or for all, and has not resumed it for an hour.',
      fires: {
        series: { [`caudal_rail_pauses{${WORKER},rail="PSE"}`]: '0x5 1x90' },
        at: '80m',
        labels: { rail: 'PSE' },
      },
      quiet: [{ series: { [`caudal_rail_pauses{${WORKER},rail="PSE"}`]: '0x5 1x30 0x60' }, at: '80m' }],
    },
  ],
};
