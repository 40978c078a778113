// Made by `npm run generate`.

import type { ApiPromise } from '../api-promise.ts';
import type { CallOptions } from '../call-options.ts';
import type { Calls } from '../calls.ts';
import type { Balance } from './schemas.ts';

/** Your balance. */
export class BalanceOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Get the balance: `GET /balance`. Needs the scope `balance:read`.
   *
   * Your current balance. The money of a payin is pending from its confirmation until its settlement, and available after that.
   *
   * @throws ApiError
   */
  get(options: CallOptions = {}): ApiPromise<Balance> {
    return this.#calls.send('getBalance', {}, options);
  }
}
