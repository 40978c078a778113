// Made by `npm run generate`.

import type { CallOptions, Calls, KeyedCallOptions } from '../calls.ts';
import type { List } from '../list.ts';
import type { ListPayoutsQuery } from './queries.ts';
import type { CreatePayout, Payout, PayoutWithAnomalies } from './schemas.ts';

/** Send money to a Bre-B key. */
export class PayoutsOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Create a payout: `POST /payouts`. Needs the scope `payouts:write`.
   *
   * Sends an amount to a Bre-B key. The answer is never the final outcome: wait for `payout.confirmed`, `payout.declined` or `payout.canceled`.
   *
   * Look the key up first, to see who receives. The amount is set aside from the available balance at once; a balance that does not cover it is an outcome too (`DECLINED`, `INSUFFICIENT_FUNDS`). A payout is sent once: where the answer of the network is lost it stays `PROCESSING` until the network has said what became of it.
   *
   * @throws ApiError, of its own with the codes `rail_not_enabled`, `lookup_invalid`, `malformed_json`, `organization_suspended`, `reference_taken`, `idempotency_in_flight`, `payload_too_large`, `unsupported_media_type`, `idempotency_mismatch`, `outcome_unknown`
   */
  create(body: CreatePayout, options: KeyedCallOptions = {}): Promise<Payout> {
    return this.#calls.send('createPayout', { body }, options);
  }

  /**
   * Get a payout: `GET /payouts/{id}`. Needs the scope `payouts:read`.
   *
   * The payout as it is now. Prefer events over polling. `anomalies` lists what its rail said that its state could not take up: the state does not change, and an operator looks into it.
   *
   * @param id Identifier of the payout.
   * @throws ApiError, of its own with the codes `not_found`
   */
  get(id: string, options: CallOptions = {}): Promise<PayoutWithAnomalies> {
    return this.#calls.send('getPayout', { path: { id } }, options);
  }

  /**
   * List payouts: `GET /payouts`. Needs the scope `payouts:read`.
   *
   * Newest first. Follow `nextCursor` to older payouts and `previousCursor` to newer ones, with the same filters; payouts created meanwhile never shift a page.
   *
   * @throws ApiError, of its own with the codes `cursor_invalid`
   */
  list(query: ListPayoutsQuery = {}, options: CallOptions = {}): List<Payout> {
    return this.#calls.list('listPayouts', { query }, options);
  }

  /**
   * Cancel a payout: `POST /payouts/{id}/cancel`. Needs the scope `payouts:write`.
   *
   * While it has not been sent. Its amount is available again at once, and `payout.canceled` tells of it. Sent, or about to be: 409 `payout_already_sent`, and its event tells what became of it. Repeating the call is safe.
   *
   * @param id Identifier of the payout.
   * @throws ApiError, of its own with the codes `not_found`, `payout_already_sent`, `payout_ended`, `outcome_unknown`
   */
  cancel(id: string, options: CallOptions = {}): Promise<Payout> {
    return this.#calls.send('cancelPayout', { path: { id } }, options);
  }
}
