import type { Operation } from '../operation.ts';
import { acceptPayinAnomaly } from './accept-payin-anomaly.route.ts';
import { cancelPayout } from './cancel-payout.route.ts';
import { createKeyLookup } from './create-key-lookup.route.ts';
import { createPayin } from './create-payin.route.ts';
import { createPaymentLink } from './create-payment-link.route.ts';
import { createPayout } from './create-payout.route.ts';
import { createWebhookEndpoint } from './create-webhook-endpoint.route.ts';
import { deleteWebhookEndpoint } from './delete-webhook-endpoint.route.ts';
import { expirePaymentLink } from './expire-payment-link.route.ts';
import { getBalance } from './get-balance.route.ts';
import { getEvent } from './get-event.route.ts';
import { getPayin } from './get-payin.route.ts';
import { getPaymentLink } from './get-payment-link.route.ts';
import { getPayout } from './get-payout.route.ts';
import { getWebhookEndpoint } from './get-webhook-endpoint.route.ts';
import { issueAccessToken } from './issue-token.route.ts';
import { listBanks } from './list-banks.route.ts';
import { listEvents } from './list-events.route.ts';
import { listLedgerEntries } from './list-ledger-entries.route.ts';
import { listPayins } from './list-payins.route.ts';
import { listPaymentLinks } from './list-payment-links.route.ts';
import { listPayouts } from './list-payouts.route.ts';
import { listWebhookDeliveries } from './list-webhook-deliveries.route.ts';
import { listWebhookEndpoints } from './list-webhook-endpoints.route.ts';
import { lookUpKey } from './look-up-key.route.ts';
import { replayEvent } from './replay-event.route.ts';
import { replayEvents } from './replay-events.route.ts';
import { rotateWebhookSecret } from './rotate-webhook-secret.route.ts';
import { searchPayouts } from './search-payouts.route.ts';
import { streamEvents } from './stream-events.route.ts';
import { testWebhookEndpoint } from './test-webhook-endpoint.route.ts';
import { updateWebhookEndpoint } from './update-webhook-endpoint.route.ts';

/** Every operation of the API. The router, OpenAPI and the docs are generated from this list. */
export const OPERATIONS: readonly Operation[] = [
  issueAccessToken,
  createPayin,
  listPayins,
  getPayin,
  acceptPayinAnomaly,
  createKeyLookup,
  lookUpKey,
  createPayout,
  listPayouts,
  searchPayouts,
  getPayout,
  cancelPayout,
  createPaymentLink,
  listPaymentLinks,
  getPaymentLink,
  expirePaymentLink,
  getBalance,
  listLedgerEntries,
  listBanks,
  createWebhookEndpoint,
  listWebhookEndpoints,
  getWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  testWebhookEndpoint,
  listWebhookDeliveries,
  listEvents,
  streamEvents,
  getEvent,
  replayEvent,
  replayEvents,
];
