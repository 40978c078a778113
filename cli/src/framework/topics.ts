/** What each first word is about, where several commands begin with it. */
export const TOPICS: Readonly<Record<string, string>> = {
  profiles: 'credentials you keep',
  payins: 'collect money',
  payouts: 'send money',
  links: 'payment links, pages where the payer chooses how to pay',
  breb: 'who is behind a Bre-B key',
  events: 'what happened',
  endpoints: 'where webhooks are sent',
  simulate: 'what payers, banks and networks do',
  org: 'organizations',
  keys: 'API keys',
  ledger: 'the books',
  anomalies: 'what fits no payment, and its money',
  audit: 'what operators decided',
  notices: 'messages of the rails',
  rails: 'the brake on a rail',
  schedules: 'what runs by the clock',
  secrets: 'the keys that data is sealed by',
  failpoints: 'where a process can be made to die, for tests',
  config: 'the configuration',
};

/** Where operators have commands under a word that merchants use too. */
export const OPERATOR_TOPICS: Readonly<Record<string, string>> = {
  payouts: 'payouts whose outcome nobody knows yet',
};
