// Made by `npm run generate`.

import type { ApiPromise } from '../api-promise.ts';
import type { CallOptions, KeyedCallOptions } from '../call-options.ts';
import type { Calls } from '../calls.ts';
import type { List } from '../list.ts';
import type { ListWebhookDeliveriesQuery } from './queries.ts';
import type {
  CreateWebhookEndpoint,
  DeletedWebhookEndpoint,
  Delivery,
  TestEvent,
  UpdateWebhookEndpoint,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from './schemas.ts';

/** Webhook endpoints and their deliveries. */
export class WebhookEndpointsOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Create a webhook endpoint: `POST /webhook-endpoints`. Needs the scope `webhooks:write`.
   *
   * New events are delivered to the endpoint, signed according to Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`). Any 2xx acknowledges a delivery; 410 disables the endpoint; after any other result the delivery is retried for thirty days. `webhook-id` is the id of the event: use it to detect duplicates, because an event may be delivered more than once.
   *
   * @throws ApiError, with the specific codes `malformed_json`, `too_many_endpoints`, `payload_too_large`, `unsupported_media_type`, `idempotency_mismatch`, `outcome_unknown`
   */
  create(body: CreateWebhookEndpoint, options: KeyedCallOptions = {}): ApiPromise<WebhookEndpointWithSecret> {
    return this.#calls.send('createWebhookEndpoint', { body }, options);
  }

  /**
   * Get a webhook endpoint: `GET /webhook-endpoints/{id}`. Needs the scope `webhooks:read`.
   *
   * The current state of the endpoint. The secret is not included; rotate it if you lost it.
   *
   * @param id Identifier of the endpoint.
   * @throws ApiError, with the specific codes `not_found`
   */
  get(id: string, options: CallOptions = {}): ApiPromise<WebhookEndpoint> {
    return this.#calls.send('getWebhookEndpoint', { path: { id } }, options);
  }

  /**
   * List webhook endpoints: `GET /webhook-endpoints`. Needs the scope `webhooks:read`.
   *
   * All endpoints, newest first. An organization has at most fifty.
   *
   * @throws ApiError
   */
  list(options: CallOptions = {}): List<WebhookEndpoint> {
    return this.#calls.list('listWebhookEndpoints', {}, options);
  }

  /**
   * Update a webhook endpoint: `PATCH /webhook-endpoints/{id}`. Needs the scope `webhooks:write`.
   *
   * Changes only the fields that are sent.
   *
   * @param id Identifier of the endpoint.
   * @throws ApiError, with the specific codes `malformed_json`, `not_found`, `payload_too_large`, `unsupported_media_type`, `outcome_unknown`
   */
  update(id: string, body: UpdateWebhookEndpoint, options: CallOptions = {}): ApiPromise<WebhookEndpoint> {
    return this.#calls.send('updateWebhookEndpoint', { path: { id }, body }, options);
  }

  /**
   * Delete a webhook endpoint: `DELETE /webhook-endpoints/{id}`. Needs the scope `webhooks:write`.
   *
   * Stops all deliveries to the endpoint. Deliveries in progress may still arrive for up to ten seconds.
   *
   * @param id Identifier of the endpoint.
   * @throws ApiError, with the specific codes `malformed_json`, `not_found`, `payload_too_large`, `unsupported_media_type`, `outcome_unknown`
   */
  delete(id: string, options: CallOptions = {}): ApiPromise<DeletedWebhookEndpoint> {
    return this.#calls.send('deleteWebhookEndpoint', { path: { id } }, options);
  }

  /**
   * Rotate the secret of a webhook endpoint: `POST /webhook-endpoints/{id}/rotate-secret`. Needs the scope `webhooks:write`.
   *
   * Creates a new secret. For 24 hours, deliveries are signed with both secrets, so that you can switch without rejecting any.
   *
   * @param id Identifier of the endpoint.
   * @throws ApiError, with the specific codes `malformed_json`, `not_found`, `payload_too_large`, `unsupported_media_type`, `outcome_unknown`
   */
  rotateSecret(id: string, options: CallOptions = {}): ApiPromise<WebhookEndpointWithSecret> {
    return this.#calls.send('rotateWebhookSecret', { path: { id } }, options);
  }

  /**
   * Send a test event: `POST /webhook-endpoints/{id}/test`. Needs the scope `webhooks:write`.
   *
   * Sends `webhook.test` to this endpoint, signed like every event. Failed deliveries are retried for one hour instead of thirty days. `GET /events/{eventId}` shows the result.
   *
   * @param id Identifier of the endpoint.
   * @throws ApiError, with the specific codes `malformed_json`, `not_found`, `endpoint_disabled`, `payload_too_large`, `unsupported_media_type`, `outcome_unknown`
   */
  test(id: string, options: CallOptions = {}): ApiPromise<TestEvent> {
    return this.#calls.send('testWebhookEndpoint', { path: { id } }, options);
  }

  /**
   * List the deliveries of a webhook endpoint: `GET /webhook-endpoints/{id}/deliveries`. Needs the scope `webhooks:read`.
   *
   * Newest event first, with all attempts.
   *
   * @param id Identifier of the endpoint.
   * @throws ApiError, with the specific codes `cursor_invalid`, `not_found`
   */
  listDeliveries(
    id: string,
    query: ListWebhookDeliveriesQuery = {},
    options: CallOptions = {},
  ): List<Delivery> {
    return this.#calls.list('listWebhookDeliveries', { path: { id }, query }, options);
  }
}
