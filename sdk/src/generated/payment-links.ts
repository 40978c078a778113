// Made by `npm run generate`.

import type { CallOptions, Calls, KeyedCallOptions } from '../calls.ts';
import type { List } from '../list.ts';
import type { ListPaymentLinksQuery } from './queries.ts';
import type { CreatePaymentLink, PaymentLink, PaymentLinkWithDetails } from './schemas.ts';

/** A page on which a payer pays, by the method of their choice. */
export class PaymentLinksOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Create a payment link: `POST /payment-links`. Needs the scope `payment_links:write`.
   *
   * A page on which a payer pays one amount, by the method of their choice. Send the payer to `paymentLinkUrl`. It lives for an hour; an expired link is not used again, make a new one. `paymentlink.completed` is the only signal that it was paid: its payins have no events of their own.
   *
   * @throws ApiError, of its own with the codes `rail_not_enabled`, `malformed_json`, `organization_suspended`, `reference_taken`, `idempotency_in_flight`, `payload_too_large`, `unsupported_media_type`, `idempotency_mismatch`, `outcome_unknown`
   */
  create(body: CreatePaymentLink, options: KeyedCallOptions = {}): Promise<PaymentLink> {
    return this.#calls.send('createPaymentLink', { body }, options);
  }

  /**
   * Get a payment link: `GET /payment-links/{paymentLinkId}`. Needs the scope `payment_links:read`.
   *
   * The link as it is now. Prefer events over polling. Its attempts: `GET /payins?paymentLinkId=…`.
   *
   * @param paymentLinkId Identifier of the payment link.
   * @throws ApiError, of its own with the codes `not_found`
   */
  get(paymentLinkId: string, options: CallOptions = {}): Promise<PaymentLinkWithDetails> {
    return this.#calls.send('getPaymentLink', { path: { paymentLinkId } }, options);
  }

  /**
   * List payment links: `GET /payment-links`. Needs the scope `payment_links:read`.
   *
   * Newest first. Follow `nextCursor` to older links and `previousCursor` to newer ones, with the same filters; links created meanwhile never shift a page.
   *
   * @throws ApiError, of its own with the codes `cursor_invalid`
   */
  list(query: ListPaymentLinksQuery = {}, options: CallOptions = {}): List<PaymentLinkWithDetails> {
    return this.#calls.list('listPaymentLinks', { query }, options);
  }

  /**
   * Close a payment link: `POST /payment-links/{paymentLinkId}/expire`. Needs the scope `payment_links:write`.
   *
   * Before its time: no new attempt is begun. A payment that is under way is awaited, so that none is lost; then the link is `EXPIRED`, usually within a second, and `paymentlink.expired` tells of it. Paid already: 409 `payment_link_completed`. Repeating the call is safe.
   *
   * @param paymentLinkId Identifier of the payment link.
   * @throws ApiError, of its own with the codes `not_found`, `payment_link_completed`, `outcome_unknown`
   */
  expire(paymentLinkId: string, options: CallOptions = {}): Promise<PaymentLinkWithDetails> {
    return this.#calls.send('expirePaymentLink', { path: { paymentLinkId } }, options);
  }
}
