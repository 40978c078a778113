// Made by `npm run generate`.

import type { ApiPromise } from '../api-promise.ts';
import type { CallOptions, KeyedCallOptions } from '../call-options.ts';
import type { Calls } from '../calls.ts';
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
   * Collects an amount from a payer. The response is never the final outcome: wait for `payin.confirmed`, `payin.declined` or `payin.canceled`.
   *
   * On `BRE_B`, the response contains the key to pay to. On `PSE`, `sourceData.pseUrl` contains the bank page if the bank responds within three seconds; otherwise it is null, and you can get the payin again shortly after.
   *
   * @throws ApiError, with the specific codes `rail_not_enabled`, `malformed_json`, `organization_suspended`, `reference_taken`, `idempotency_in_flight`, `payload_too_large`, `unsupported_media_type`, `idempotency_mismatch`, `outcome_unknown`, `rail_paused`
   */
  create<R extends Rail>(
    body: CreatePayin & { rail: R },
    options: KeyedCallOptions = {},
  ): ApiPromise<Extract<Payin, { rail: R }>> {
    return this.#calls.send('createPayin', { body }, options);
  }

  /**
   * Get a payin: `GET /payins/{id}`. Needs the scope `payins:read`.
   *
   * The current state of the payin. Prefer events over polling. `anomalies` lists reports from the rail that do not fit the status of the payin, such as a second payment: the status does not change, and the money is held separately until you accept it or the operator returns it.
   *
   * @param id Identifier of the payin.
   * @throws ApiError, with the specific codes `not_found`
   */
  get(id: string, options: CallOptions = {}): ApiPromise<PayinWithAnomalies> {
    return this.#calls.send('getPayin', { path: { id } }, options);
  }

  /**
   * List payins: `GET /payins`. Needs the scope `payins:read`.
   *
   * Newest first. Follow `nextCursor` to older payins and `previousCursor` to newer ones, with the same filters; newly created payins do not shift pages. In this list `inlineCustomer` is a string that contains the customer as JSON.
   *
   * @throws ApiError, with the specific codes `cursor_invalid`
   */
  list(query: ListPayinsQuery = {}, options: CallOptions = {}): List<PayinListItem> {
    return this.#calls.list('listPayins', { query }, options);
  }

  /**
   * Accept the money of an anomaly: `POST /payins/{id}/anomalies/{anomalyId}/accept`. Needs the scope `payins:write`.
   *
   * Accepts money that is held separately, such as the amount of an `UNDERPAID` payin or an excess payment. The money is credited to your available balance within seconds. The status of the payin does not change and no event is sent. If the money is being returned or the anomaly is already resolved, the response is 409 `anomaly_resolved`. To return the money to the payer instead, contact the operator.
   *
   * @param id Identifier of the payin.
   * @param anomalyId Identifier of the anomaly, from `anomalies[].id` of the payin.
   * @throws ApiError, with the specific codes `malformed_json`, `not_found`, `anomaly_resolved`, `anomaly_without_money`, `payload_too_large`, `unsupported_media_type`, `idempotency_mismatch`, `outcome_unknown`
   */
  acceptAnomaly(id: string, anomalyId: string, options: KeyedCallOptions = {}): ApiPromise<PayinAnomaly> {
    return this.#calls.send('acceptPayinAnomaly', { path: { id, anomalyId } }, options);
  }
}
