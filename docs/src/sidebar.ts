/** What stands where. A page that is in none of these groups fails the build (docs/build.ts). */
export const SIDEBAR = [
  {
    label: 'Start',
    items: ['index', 'guides/quickstart', 'guides/testing', 'guides/going-live'],
  },
  {
    label: 'Guides',
    items: [
      'guides/collect-with-breb',
      'guides/collect-with-pse',
      'guides/payment-links',
      'guides/payouts',
      'guides/webhooks',
      'guides/reconciliation',
      'guides/errors-and-retries',
    ],
  },
  {
    label: 'Concepts',
    items: [
      'concepts/idempotency',
      'concepts/unknown-outcomes',
      'concepts/states',
      'concepts/events',
      'concepts/money',
      'concepts/ledger',
      'concepts/credentials',
    ],
  },
  {
    label: 'API reference',
    items: [
      'api',
      'api/payins',
      'api/payouts',
      'api/breb-keys',
      'api/payment-links',
      'api/balance',
      'api/pse-banks',
      'api/events',
      'api/webhook-endpoints',
      'api/tokens',
    ],
  },
  {
    label: 'Tables',
    items: [
      'reference/events',
      'reference/error-codes',
      'reference/test-values',
      'reference/commands',
      'errors',
    ],
  },
  {
    label: 'Operating',
    items: [
      'operating/run-it',
      'operating/configuration',
      'operating/merchants',
      'operating/audit',
      'operating/payins',
      'operating/payouts',
      'operating/payment-links',
      'operating/webhooks',
      'operating/capacity',
      'operating/scale',
      'operating/overload',
      'operating/growth',
    ],
  },
] as const;
