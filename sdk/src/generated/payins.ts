// Made by `npm run generate`.

import type { CallOptions, Calls, KeyedCallOptions } from '../calls.ts';
import type { List } from '../list.ts';
import type { ListPayinsQuery } from './queries.ts';
import type { CreatePayin, Payin, PayinListItem, PayinWithAnomalies, Rail } from './schemas.ts';

/** Collect money from a payer. */
export class PayinsOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Create a payin: `POST /payins`. Needs the scope `payins:write`.
   *
   * Collects an amount from a payer. The answer is never the final outcome: wait for `payin.confirmed`, `payin.declined` or `payin.canceled`.
   *
   * On `BRE_B` the answer carries the key to pay to. On `PSE` it carries the bank page in `sourceData.pseUrl` if the bank answered within three seconds, else null; read the payin again in a moment.
   *
   * @throws ApiError, of its own with the codes `rail_not_enabled`, `malformed_json`, `reference_taken`, `idempotency_in_flight`, `payload_too_large`, `unsupported_media_type`, `idempotency_mismatch`, `outcome_unknown`, `rail_paused`
   */
  create<R extends Rail>(
    body: CreatePayin & { rail: R },
    options: KeyedCallOptions = {},
  ): Promise<Extract<Payin, { rail: R }>> {
    return this.#calls.send('createPayin', { body }, options);
  }

  /**
   * Get a payin: `GET /payins/{id}`. Needs the scope `payins:read`.
   *
   * The payin as it is now. Prefer events over polling. `anomalies` lists what its rail said that its state could not take up, such as a second payment: the state does not change, and the money waits for an operator.
   *
   * @param id Identifier of the payin.
   * @throws ApiError, of its own with the codes `not_found`
   */
  get(id: string, options: CallOptions = {}): Promise<PayinWithAnomalies> {
    return this.#calls.send('getPayin', { path: { id } }, options);
  }

  /**
   * List payins: `GET /payins`. Needs the scope `payins:read`.
   *
   * Newest first. Follow `nextCursor` to older payins and `previousCursor` to newer ones, with the same filters; payins created meanwhile never shift a page. `inlineCustomer` is a string here: the JSON text of the customer.
   *
   * @throws ApiError, of its own with the codes `cursor_invalid`
   */
  list(query: ListPayinsQuery = {}, options: CallOptions = {}): List<PayinListItem> {
    return this.#calls.list('listPayins', { query }, options);
  }
}
