// Made by `npm run generate`.

import type { CallOptions, Calls, KeyedCallOptions } from '../calls.ts';
import type { List } from '../list.ts';
import type { ListPayinsQuery } from './queries.ts';
import type { CreatePayin, Payin, PayinAnomaly, PayinListItem, PayinWithAnomalies, Rail } from './schemas.ts';

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
   * @throws ApiError, of its own with the codes `rail_not_enabled`, `malformed_json`, `organization_suspended`, `reference_taken`, `idempotency_in_flight`, `payload_too_large`, `unsupported_media_type`, `idempotency_mismatch`, `outcome_unknown`, `rail_paused`
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
   * The payin as it is now. Prefer events over polling. `anomalies` lists what its rail said that its state could not take up, such as a second payment: the state does not change, and the money is held apart until you accept it or the operator returns it.
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

  /**
   * Accept the money of an anomaly: `POST /payins/{id}/anomalies/{anomalyId}/accept`. Needs the scope `payins:write`.
   *
   * Takes money that is held apart, such as what arrived for an `UNDERPAID` payin or beyond its amount: it is credited to your available balance within seconds. The state of the payin does not change and there is no event. Money that is being returned, or that was decided about before, is 409 `anomaly_resolved`. To have it returned to the payer instead, ask the operator.
   *
   * @param id Identifier of the payin.
   * @param anomalyId Identifier of the anomaly: `anomalies[].id` of the payin.
   * @throws ApiError, of its own with the codes `not_found`, `anomaly_resolved`, `anomaly_without_money`, `idempotency_mismatch`, `outcome_unknown`
   */
  acceptAnomaly(id: string, anomalyId: string, options: KeyedCallOptions = {}): Promise<PayinAnomaly> {
    return this.#calls.send('acceptPayinAnomaly', { path: { id, anomalyId } }, options);
  }
}
