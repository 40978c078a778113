import type { AlertGroup } from '../alert.ts';

const WORKER = 'job="caudal-worker",instance="w:1"';
const gauge = (name: string, values: string) => ({ [`${name}{${WORKER}}`]: values });

export const MONEY: AlertGroup = {
  name: 'money',
  alerts: [
    {
      name: 'CaudalLedgerInconsistent',
      severity: 'page',
      for: '0s',
      expr: () => 'max(caudal_ledger_verification_inconsistencies) > 0',
      summary: 'The ledger is inconsistent',
      description: 'The last verification of the ledger found {{ $value }} inconsistent rows.',
      fires: {
        series: gauge('caudal_ledger_verification_inconsistencies', '0x5 2x5'),
        at: '8m',
        labels: {},
        value: '2',
      },
      quiet: [{ series: gauge('caudal_ledger_verification_inconsistencies', '0x10'), at: '8m' }],
    },
    {
      name: 'CaudalLedgerNotVerified',
      severity: 'ticket',
      for: '1d',
      expr: () => 'time() - max(caudal_ledger_verification_timestamp_seconds) > 86400 + 3600',
      summary: 'The ledger has not been verified for two days',
      description: 'The nightly verification of the ledger did not run or did not end.',
      fires: {
        series: gauge('caudal_ledger_verification_timestamp_seconds', '0x3200'),
        at: '3100m',
        labels: {},
      },
      quiet: [
        { series: gauge('caudal_ledger_verification_timestamp_seconds', '0+60x3200'), at: '3100m' },
        { series: gauge('caudal_ledger_verification_timestamp_seconds', '0x1600'), at: '1550m' },
      ],
    },
    {
      name: 'CaudalSuspenseNotZero',
      severity: 'ticket',
      for: '1d',
      expr: () => 'caudal:suspense_balance_pesos != 0',
      summary: 'Money has been in suspense for a day',
      description:
        '{{ $value }} pesos arrived or left without a payin or payout that explains them and wait for a decision.',
      fires: {
        series: gauge('caudal_suspense_balance_pesos', '0x5 50000x1600'),
        at: '1500m',
        labels: {},
        value: '50000',
      },
      quiet: [{ series: gauge('caudal_suspense_balance_pesos', '0x5 50000x1000 0x600'), at: '1500m' }],
    },
    {
      name: 'CaudalSuspenseGrowing',
      severity: 'page',
      for: '0s',
      expr: ({ window }) =>
        `caudal:suspense_balance_pesos - min_over_time(caudal:suspense_balance_pesos[${window('1h')}]) > 10e6`,
      summary: 'Suspense grew by more than 10 million pesos within an hour',
      description: 'A rail or its connector probably reports wrong amounts or references.',
      fires: { series: gauge('caudal_suspense_balance_pesos', '0+1000000x30'), at: '20m', labels: {} },
      quiet: [{ series: gauge('caudal_suspense_balance_pesos', '50000000+100000x30'), at: '20m' }],
    },
    {
      name: 'CaudalAnomaliesOpen',
      severity: 'ticket',
      for: '1h',
      expr: () => 'max(caudal_anomalies_open) > 0',
      summary: 'Anomalies wait for a decision',
      description: '{{ $value }} reports of rails fit no payin or payout and wait for an operator.',
      fires: { series: gauge('caudal_anomalies_open', '0x5 3x90'), at: '80m', labels: {}, value: '3' },
      quiet: [{ series: gauge('caudal_anomalies_open', '0x5 3x30 0x60'), at: '80m' }],
    },
    {
      name: 'CaudalPayoutsUnknown',
      severity: 'page',
      for: '10m',
      expr: () => 'max(caudal_payouts_unknown) > 0',
      summary: 'Payouts have no known outcome',
      description:
        'The rail does not say what happened to {{ $value }} payouts. They are polled, and no order is executed twice.',
      fires: { series: gauge('caudal_payouts_unknown', '0x5 2x20'), at: '20m', labels: {}, value: '2' },
      quiet: [{ series: gauge('caudal_payouts_unknown', '0x5 2x5 0x20'), at: '20m' }],
    },
    {
      name: 'CaudalPayoutsWaiting',
      severity: 'page',
      for: '5m',
      expr: ({ age }) => `max(caudal_payouts_waiting_oldest_seconds) > ${age('1m')}`,
      summary: 'Payouts are not sent',
      description: 'Payouts have been due for {{ $value }} seconds and were not sent to the rail.',
      fires: {
        series: gauge('caudal_payouts_waiting_oldest_seconds', '0x5 300x20'),
        at: '15m',
        labels: {},
        value: '300',
      },
      quiet: [{ series: gauge('caudal_payouts_waiting_oldest_seconds', '3x30'), at: '15m' }],
    },
    {
      name: 'CaudalPayinsHeld',
      severity: 'page',
      for: '5m',
      expr: () => 'max(caudal_payins_settlement_held) > 0',
      summary: 'A rail does not list payments that it reported',
      description: 'The settlement of {{ $value }} payins is held. A notification may be forged.',
      fires: {
        series: gauge('caudal_payins_settlement_held', '0x5 1x20'),
        at: '15m',
        labels: {},
        value: '1',
      },
      quiet: [{ series: gauge('caudal_payins_settlement_held', '0x20'), at: '15m' }],
    },
  ],
};
