import type { OperationId } from './generated/operations.ts';

/**
 * Whether a call may be retried when its outcome is unknown:
 * - `read_only`: changes nothing.
 * - `idempotency_key`: the Idempotency-Key makes all retries one operation.
 * - `idempotent`: a repeated call has the same effect as one call.
 * - `never`: a repeated call would have another effect. The error reports the unknown outcome.
 */
type RetryPolicy = 'read_only' | 'idempotency_key' | 'idempotent' | 'never';

export const RETRY_POLICY: Readonly<Record<OperationId, RetryPolicy>> = {
  createPayin: 'idempotency_key',
  createPayout: 'idempotency_key',
  createPaymentLink: 'idempotency_key',
  createWebhookEndpoint: 'idempotency_key',
  acceptPayinAnomaly: 'idempotency_key',

  getPayin: 'read_only',
  listPayins: 'read_only',
  getPayout: 'read_only',
  listPayouts: 'read_only',
  searchPayouts: 'read_only',
  getPaymentLink: 'read_only',
  listPaymentLinks: 'read_only',
  getBalance: 'read_only',
  listLedgerEntries: 'read_only',
  listPseBanks: 'read_only',
  getWebhookEndpoint: 'read_only',
  listWebhookEndpoints: 'read_only',
  listWebhookDeliveries: 'read_only',
  getEvent: 'read_only',
  listEvents: 'read_only',
  streamEvents: 'read_only',
  // Only uses up one lookup of the organization's allowance.
  createBrebKeyLookup: 'read_only',

  // The API documents these as safe to repeat.
  cancelPayout: 'idempotent',
  expirePaymentLink: 'idempotent',
  updateWebhookEndpoint: 'idempotent',
  // A retry may get 404 because the resource is already deleted: calls.ts treats it as success.
  deleteWebhookEndpoint: 'idempotent',
  // Sends the same event with the same id, which receivers must deduplicate anyway.
  replayEvent: 'idempotent',
  // Issues one more token, which expires within an hour.
  issueAccessToken: 'idempotent',

  // A second rotation would invalidate the secret that the merchant's receiver still uses.
  rotateWebhookSecret: 'never',
  // Each call creates another event.
  testWebhookEndpoint: 'never',
  // Up to 50,000 deliveries: must not be repeated without the caller's decision.
  replayEvents: 'never',
};
