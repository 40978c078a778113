/** Descriptions of first words that several commands share. */
export const TOPICS: Readonly<Record<string, string>> = {
  profiles: 'stored credentials',
  payins: 'collect payments',
  payouts: 'send money',
  links: 'payment links: hosted pages where the payer chooses a method',
  breb: 'the holder of a Bre-B key',
  events: 'events and their deliveries',
  endpoints: 'webhook endpoints',
  simulate: 'simulate payers, banks and networks',
  org: 'organizations',
  keys: 'API keys',
  ledger: 'the ledger',
  anomalies: 'money and messages that match no payment',
  audit: 'the audit log of operator actions',
  notices: 'notifications from the rails',
  rails: 'pause and resume rails',
  schedules: 'scheduled jobs',
  months: 'monthly partitions',
  secrets: 'data encryption keys',
  failpoints: 'points where a process can be killed, for tests',
  config: 'the configuration',
};

/** Operator descriptions of first words that merchant commands use too. */
export const OPERATOR_TOPICS: Readonly<Record<string, string>> = {
  payouts: 'payouts with an unknown outcome',
};
