// Made by `npm run generate`.

/** Every operation that the SDK calls. `keyed`: takes an Idempotency-Key. `called`: the SDK method. */
export const OPERATIONS = {
  issueAccessToken: { method: 'POST', path: '/oauth/token', called: 'accessTokens.create', keyed: false },
  createPayin: { method: 'POST', path: '/payins', called: 'payins.create', keyed: true },
  listPayins: { method: 'GET', path: '/payins', called: 'payins.list', keyed: false },
  getPayin: { method: 'GET', path: '/payins/{id}', called: 'payins.get', keyed: false },
  acceptPayinAnomaly: {
    method: 'POST',
    path: '/payins/{id}/anomalies/{anomalyId}/accept',
    called: 'payins.acceptAnomaly',
    keyed: true,
  },
  createBrebKeyLookup: { method: 'POST', path: '/breb/keys/lookup', called: 'breb.lookUp', keyed: false },
  createPayout: { method: 'POST', path: '/payouts', called: 'payouts.create', keyed: true },
  listPayouts: { method: 'GET', path: '/payouts', called: 'payouts.list', keyed: false },
  searchPayouts: { method: 'POST', path: '/payouts/search', called: 'payouts.search', keyed: false },
  getPayout: { method: 'GET', path: '/payouts/{id}', called: 'payouts.get', keyed: false },
  cancelPayout: { method: 'POST', path: '/payouts/{id}/cancel', called: 'payouts.cancel', keyed: false },
  createPaymentLink: { method: 'POST', path: '/payment-links', called: 'paymentLinks.create', keyed: true },
  listPaymentLinks: { method: 'GET', path: '/payment-links', called: 'paymentLinks.list', keyed: false },
  getPaymentLink: {
    method: 'GET',
    path: '/payment-links/{paymentLinkId}',
    called: 'paymentLinks.get',
    keyed: false,
  },
  expirePaymentLink: {
    method: 'POST',
    path: '/payment-links/{paymentLinkId}/expire',
    called: 'paymentLinks.expire',
    keyed: false,
  },
  getBalance: { method: 'GET', path: '/balance', called: 'balance.get', keyed: false },
  listLedgerEntries: { method: 'GET', path: '/ledger/entries', called: 'ledger.listEntries', keyed: false },
  listPseBanks: { method: 'GET', path: '/pse/banks', called: 'pse.listBanks', keyed: false },
  createWebhookEndpoint: {
    method: 'POST',
    path: '/webhook-endpoints',
    called: 'webhookEndpoints.create',
    keyed: true,
  },
  listWebhookEndpoints: {
    method: 'GET',
    path: '/webhook-endpoints',
    called: 'webhookEndpoints.list',
    keyed: false,
  },
  getWebhookEndpoint: {
    method: 'GET',
    path: '/webhook-endpoints/{id}',
    called: 'webhookEndpoints.get',
    keyed: false,
  },
  updateWebhookEndpoint: {
    method: 'PATCH',
    path: '/webhook-endpoints/{id}',
    called: 'webhookEndpoints.update',
    keyed: false,
  },
  deleteWebhookEndpoint: {
    method: 'DELETE',
    path: '/webhook-endpoints/{id}',
    called: 'webhookEndpoints.delete',
    keyed: false,
  },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/webhook-endpoints/{id}/rotate-secret',
    called: 'webhookEndpoints.rotateSecret',
    keyed: false,
  },
  testWebhookEndpoint: {
    method: 'POST',
    path: '/webhook-endpoints/{id}/test',
    called: 'webhookEndpoints.test',
    keyed: false,
  },
  listWebhookDeliveries: {
    method: 'GET',
    path: '/webhook-endpoints/{id}/deliveries',
    called: 'webhookEndpoints.listDeliveries',
    keyed: false,
  },
  listEvents: { method: 'GET', path: '/events', called: 'events.list', keyed: false },
  streamEvents: { method: 'GET', path: '/events/stream', called: 'events.stream', keyed: false },
  getEvent: { method: 'GET', path: '/events/{id}', called: 'events.get', keyed: false },
  replayEvent: { method: 'POST', path: '/events/{id}/replay', called: 'events.replay', keyed: false },
  replayEvents: { method: 'POST', path: '/events/replay', called: 'events.replayMany', keyed: false },
} as const;

export type OperationId = keyof typeof OPERATIONS;
