import type { OperationId } from './generated/operations.ts';

/**
 * Whether a call may be sent again when nobody knows what became of it:
 * - `reads`: it changes nothing.
 * - `keyed`: its Idempotency-Key makes all repeats one.
 * - `same`: done twice is as good as done once.
 * - `never`: a second time would do more than the first. The caller is told that the outcome is unknown.
 */
type Repeat = 'reads' | 'keyed' | 'same' | 'never';

export const REPEATS: Readonly<Record<OperationId, Repeat>> = {
  createPayin: 'keyed',
  createPayout: 'keyed',
  createPaymentLink: 'keyed',
  createWebhookEndpoint: 'keyed',
  acceptPayinAnomaly: 'keyed',

  getPayin: 'reads',
  listPayins: 'reads',
  getPayout: 'reads',
  listPayouts: 'reads',
  getPaymentLink: 'reads',
  listPaymentLinks: 'reads',
  getBalance: 'reads',
  listLedgerEntries: 'reads',
  listPseBanks: 'reads',
  getWebhookEndpoint: 'reads',
  listWebhookEndpoints: 'reads',
  listWebhookDeliveries: 'reads',
  getEvent: 'reads',
  listEvents: 'reads',
  streamEvents: 'reads',
  // It costs a lookup of the organization's allowance, nothing more.
  lookUpBrebKey: 'reads',

  // "Repeating the call is safe" (their descriptions).
  cancelPayout: 'same',
  expirePaymentLink: 'same',
  updateWebhookEndpoint: 'same',
  // The second time it is gone already: calls.ts takes that 404 for what it is.
  deleteWebhookEndpoint: 'same',
  // The same event under the same id: receivers drop what they have, as they must for every delivery.
  replayEvent: 'same',
  // One more token, which ends by itself within the hour.
  issueAccessToken: 'same',

  // A second rotation would end the secret that the merchant's receiver still uses.
  rotateWebhookSecret: 'never',
  // Each is an event of its own.
  testWebhookEndpoint: 'never',
  // Up to 50,000 deliveries: not twice without being asked.
  replayEvents: 'never',
};
