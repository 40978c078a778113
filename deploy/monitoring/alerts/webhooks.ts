import type { AlertGroup } from '../alert.ts';

const WORKER = 'job="caudal-worker",instance="w:1"';
const gauge = (name: string, values: string) => ({ [`${name}{${WORKER}}`]: values });

export const WEBHOOKS: AlertGroup = {
  name: 'webhooks',
  alerts: [
    {
      name: 'CaudalWebhooksDelayed',
      severity: 'page',
      for: '5m',
      expr: ({ age }) => `caudal:webhook_lag_seconds > ${age('1m')}`,
      summary: 'Webhooks are late',
      description: 'Events have waited for {{ $value }} seconds for endpoints that work.',
      fires: {
        series: {
          ...gauge('caudal_webhook_endpoints_waiting_oldest_seconds', '0x5 90x20'),
          ...gauge('caudal_events_undispatched_oldest_seconds', '0x25'),
        },
        at: '15m',
        labels: {},
        value: '90',
      },
      quiet: [
        {
          series: {
            ...gauge('caudal_webhook_endpoints_waiting_oldest_seconds', '2x25'),
            ...gauge('caudal_events_undispatched_oldest_seconds', '1x25'),
          },
          at: '15m',
        },
      ],
    },
    {
      name: 'CaudalWebhookEndpointsFailing',
      severity: 'ticket',
      for: '1h',
      expr: () => 'max(caudal_webhook_endpoints_failing) > 0',
      summary: 'Endpoints of merchants fail',
      description: '{{ $value }} enabled endpoints did not accept their last delivery.',
      fires: {
        series: gauge('caudal_webhook_endpoints_failing', '0x5 1x90'),
        at: '80m',
        labels: {},
        value: '1',
      },
      quiet: [{ series: gauge('caudal_webhook_endpoints_failing', '0x5 1x30 0x60'), at: '80m' }],
    },
    {
      name: 'CaudalWebhookEndpointDisabled',
      severity: 'ticket',
      for: '0s',
      expr: ({ window }) => `sum(increase(caudal_webhook_endpoints_disabled_total[${window('1h')}])) > 0`,
      summary: 'An endpoint was disabled',
      description:
        'The service disabled an endpoint that responded 410 or failed for five days. Its events are held.',
      fires: { series: gauge('caudal_webhook_endpoints_disabled_total', '0x5 1x20'), at: '15m', labels: {} },
      quiet: [{ series: gauge('caudal_webhook_endpoints_disabled_total', '4x25'), at: '15m' }],
    },
  ],
};
