// Made by `npm run generate`.

import type { ApiPromise } from '../api-promise.ts';
import type { CallOptions, KeyedCallOptions } from '../call-options.ts';
import type { Calls } from '../calls.ts';
import type { List } from '../list.ts';
import type { ListPayoutsQuery } from './queries.ts';
import type { CreatePayout, Payout, PayoutWithAnomalies, SearchPayouts } from './schemas.ts';

/** Send money to a Bre-B key. */
export class PayoutsOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Create a payout: `POST /payouts`. Needs the scope `payouts:write`.
   *
   * Sends an amount to a Bre-B key. The response is never the final outcome: wait for `payout.confirmed`, `payout.declined` or `payout.canceled`.
   *
   * Look up the key first to see who receives the money. The amount is held from the available balance immediately; if the balance is too low, the payout is `DECLINED` with `INSUFFICIENT_FUNDS`, and above a payout limit that the operator set for your organization with `ORGANIZATION_LIMIT_EXCEEDED`. A payout is sent only once: if the response of the network is lost, it stays `PROCESSING` until the network reports the outcome.
   *
   * A payout that is declined because of its key counts like a lookup without a match. After too many of them, payouts to keys that you did not look up return 429 `too_many_lookups`.
   *
   * @throws ApiError, with the specific codes `rail_not_enabled`, `lookup_invalid`, `malformed_json`, `organization_suspended`, `reference_taken`, `idempotency_in_flight`, `payload_too_large`, `unsupported_media_type`, `idempotency_mismatch`, `too_many_lookups`, `outcome_unknown`
   */
  create(body: CreatePayout, options: KeyedCallOptions = {}): ApiPromise<Payout> {
    return this.#calls.send('createPayout', { body }, options);
  }

  /**
   * Get a payout: `GET /payouts/{id}`. Needs the scope `payouts:read`.
   *
   * The current state of the payout. Prefer events over polling. `anomalies` lists reports from the rail that do not fit the status of the payout: the status does not change, and an operator investigates.
   *
   * @param id Identifier of the payout.
   * @throws ApiError, with the specific codes `not_found`
   */
  get(id: string, options: CallOptions = {}): ApiPromise<PayoutWithAnomalies> {
    return this.#calls.send('getPayout', { path: { id } }, options);
  }

  /**
   * List payouts: `GET /payouts`. Needs the scope `payouts:read`.
   *
   * Newest first. Follow `nextCursor` to older payouts and `previousCursor` to newer ones, with the same filters; newly created payouts do not shift pages. To filter by `keyString`, prefer `POST /payouts/search`: URLs reach the access logs of proxies.
   *
   * @throws ApiError, with the specific codes `cursor_invalid`
   */
  list(query: ListPayoutsQuery = {}, options: CallOptions = {}): List<Payout> {
    return this.#calls.list('listPayouts', { query }, options);
  }

  /**
   * Search payouts: `POST /payouts/search`. Needs the scope `payouts:read`.
   *
   * The list of payouts with its filters in the body, where a phone or document number in `keyString` does not reach the access logs of proxies. It changes nothing and counts as a read. To get another page, repeat the request with its `cursor`.
   *
   * @throws ApiError, with the specific codes `cursor_invalid`, `malformed_json`, `payload_too_large`, `unsupported_media_type`
   */
  search(body: SearchPayouts, options: CallOptions = {}): List<Payout> {
    return this.#calls.list('searchPayouts', { body }, options);
  }

  /**
   * Cancel a payout: `POST /payouts/{id}/cancel`. Needs the scope `payouts:write`.
   *
   * Cancels a payout whose order the rail certainly does not have. Its amount is available again immediately, and `payout.canceled` is emitted. If the rail may have the order, the response is 409 `payout_already_sent`, and its final event reports the outcome. Retrying is safe.
   *
   * @param id Identifier of the payout.
   * @throws ApiError, with the specific codes `malformed_json`, `not_found`, `payout_already_sent`, `payout_ended`, `payload_too_large`, `unsupported_media_type`, `outcome_unknown`
   */
  cancel(id: string, options: CallOptions = {}): ApiPromise<Payout> {
    return this.#calls.send('cancelPayout', { path: { id } }, options);
  }
}
