// Made by `npm run generate`.

import type { CallOptions, Calls, KeyedCallOptions } from '../calls.ts';
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

/** Where your events are sent, and what came of it. */
export class WebhookEndpointsOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Create a webhook endpoint: `POST /webhook-endpoints`. Needs the scope `webhooks:write`.
   *
   * From now on events are delivered to it, signed as Standard Webhooks says (`webhook-id`, `webhook-timestamp`, `webhook-signature`). Any 2xx acknowledges; 410 disables the endpoint; anything else is tried again for thirty days. `webhook-id` is the event’s id: the same event may come more than once.
   *
   * @throws ApiError, of its own with the codes `malformed_json`, `too_many_endpoints`, `payload_too_large`, `unsupported_media_type`, `idempotency_mismatch`, `outcome_unknown`
   */
  create(body: CreateWebhookEndpoint, options: KeyedCallOptions = {}): Promise<WebhookEndpointWithSecret> {
    return this.#calls.send('createWebhookEndpoint', { body }, options);
  }

  /**
   * Get a webhook endpoint: `GET /webhook-endpoints/{id}`. Needs the scope `webhooks:read`.
   *
   * As it is now. Its secret is never shown again; rotate it if it is lost.
   *
   * @param id Identifier of the endpoint.
   * @throws ApiError, of its own with the codes `not_found`
   */
  get(id: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#calls.send('getWebhookEndpoint', { path: { id } }, options);
  }

  /**
   * List webhook endpoints: `GET /webhook-endpoints`. Needs the scope `webhooks:read`.
   *
   * All of them, newest first: there are fifty at most.
   *
   * @throws ApiError
   */
  list(options: CallOptions = {}): List<WebhookEndpoint> {
    return this.#calls.list('listWebhookEndpoints', {}, options);
  }

  /**
   * Change a webhook endpoint: `PATCH /webhook-endpoints/{id}`. Needs the scope `webhooks:write`.
   *
   * Only what is sent is changed.
   *
   * @param id Identifier of the endpoint.
   * @throws ApiError, of its own with the codes `malformed_json`, `not_found`, `payload_too_large`, `unsupported_media_type`, `outcome_unknown`
   */
  update(id: string, body: UpdateWebhookEndpoint, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#calls.send('updateWebhookEndpoint', { path: { id }, body }, options);
  }

  /**
   * Delete a webhook endpoint: `DELETE /webhook-endpoints/{id}`. Needs the scope `webhooks:write`.
   *
   * Nothing is sent to it any more, what was under way within ten seconds excepted.
   *
   * @param id Identifier of the endpoint.
   * @throws ApiError, of its own with the codes `not_found`, `outcome_unknown`
   */
  delete(id: string, options: CallOptions = {}): Promise<DeletedWebhookEndpoint> {
    return this.#calls.send('deleteWebhookEndpoint', { path: { id } }, options);
  }

  /**
   * Rotate the secret of a webhook endpoint: `POST /webhook-endpoints/{id}/rotate-secret`. Needs the scope `webhooks:write`.
   *
   * Makes a new secret. For 24 hours deliveries are signed with both, so that nothing is refused while you change it on your side.
   *
   * @param id Identifier of the endpoint.
   * @throws ApiError, of its own with the codes `not_found`, `outcome_unknown`
   */
  rotateSecret(id: string, options: CallOptions = {}): Promise<WebhookEndpointWithSecret> {
    return this.#calls.send('rotateWebhookSecret', { path: { id } }, options);
  }

  /**
   * Send a test event: `POST /webhook-endpoints/{id}/test`. Needs the scope `webhooks:write`.
   *
   * Sends `webhook.test` to this endpoint, signed like every event. What is not acknowledged is tried again for an hour, not for thirty days. `GET /events/{eventId}` shows what came of it.
   *
   * @param id Identifier of the endpoint.
   * @throws ApiError, of its own with the codes `not_found`, `endpoint_disabled`, `outcome_unknown`
   */
  test(id: string, options: CallOptions = {}): Promise<TestEvent> {
    return this.#calls.send('testWebhookEndpoint', { path: { id } }, options);
  }

  /**
   * List the deliveries of a webhook endpoint: `GET /webhook-endpoints/{id}/deliveries`. Needs the scope `webhooks:read`.
   *
   * Newest event first, with every attempt.
   *
   * @param id Identifier of the endpoint.
   * @throws ApiError, of its own with the codes `cursor_invalid`, `not_found`
   */
  listDeliveries(
    id: string,
    query: ListWebhookDeliveriesQuery = {},
    options: CallOptions = {},
  ): List<Delivery> {
    return this.#calls.list('listWebhookDeliveries', { path: { id }, query }, options);
  }
}
