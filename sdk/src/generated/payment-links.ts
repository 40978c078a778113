// Made by `npm run generate`.

import type { ApiPromise } from '../api-promise.ts';
import type { CallOptions, KeyedCallOptions } from '../call-options.ts';
import type { Calls } from '../calls.ts';
import type { List } from '../list.ts';
import type { ListPaymentLinksQuery } from './queries.ts';
import type { CreatePaymentLink, PaymentLink, PaymentLinkWithDetails } from './schemas.ts';

/** Hosted pages where a payer chooses a method and pays. */
export class PaymentLinksOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Create a payment link: `POST /payment-links`. Needs the scope `payment_links:write`.
   *
   * Creates a hosted page where a payer pays one amount with the method of their choice. Send the payer to `paymentLinkUrl`. The link expires after one hour; create a new one after that. `paymentlink.completed` is the only event that reports the payment: the payins of a link emit no events.
   *
   * @throws ApiError, with the specific codes `rail_not_enabled`, `malformed_json`, `organization_suspended`, `reference_taken`, `idempotency_in_flight`, `payload_too_large`, `unsupported_media_type`, `idempotency_mismatch`, `outcome_unknown`
   */
  create(body: CreatePaymentLink, options: KeyedCallOptions = {}): ApiPromise<PaymentLink> {
    return this.#calls.send('createPaymentLink', { body }, options);
  }

  /**
   * Get a payment link: `GET /payment-links/{paymentLinkId}`. Needs the scope `payment_links:read`.
   *
   * The current state of the link. Prefer events over polling. To list its payment attempts, use `GET /payins?paymentLinkId=…`.
   *
   * @param paymentLinkId Identifier of the payment link.
   * @throws ApiError, with the specific codes `not_found`
   */
  get(paymentLinkId: string, options: CallOptions = {}): ApiPromise<PaymentLinkWithDetails> {
    return this.#calls.send('getPaymentLink', { path: { paymentLinkId } }, options);
  }

  /**
   * List payment links: `GET /payment-links`. Needs the scope `payment_links:read`.
   *
   * Newest first. Follow `nextCursor` to older links and `previousCursor` to newer ones, with the same filters; newly created links do not shift pages.
   *
   * @throws ApiError, with the specific codes `cursor_invalid`
   */
  list(query: ListPaymentLinksQuery = {}, options: CallOptions = {}): List<PaymentLinkWithDetails> {
    return this.#calls.list('listPaymentLinks', { query }, options);
  }

  /**
   * Close a payment link: `POST /payment-links/{paymentLinkId}/expire`. Needs the scope `payment_links:write`.
   *
   * Closes a link before it expires: no new payment attempt can start. If an attempt is in progress, the link waits for its outcome so that no payment is lost. Then the link becomes `EXPIRED`, usually within a second, and `paymentlink.expired` is emitted. If the link is already paid, the response is 409 `payment_link_completed`. Retrying is safe.
   *
   * @param paymentLinkId Identifier of the payment link.
   * @throws ApiError, with the specific codes `malformed_json`, `not_found`, `payment_link_completed`, `payload_too_large`, `unsupported_media_type`, `outcome_unknown`
   */
  expire(paymentLinkId: string, options: CallOptions = {}): ApiPromise<PaymentLinkWithDetails> {
    return this.#calls.send('expirePaymentLink', { path: { paymentLinkId } }, options);
  }
}
