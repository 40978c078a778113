// Made by `npm run generate`.

import type { CallOptions, Calls } from '../calls.ts';
import type { Balance } from './schemas.ts';

/** The money we hold for you. */
export class BalanceOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Get the balance: `GET /balance`. Needs the scope `balance:read`.
   *
   * What we hold for you now. Money of a payin is pending from its confirmation until it is settled, and available from then.
   *
   * @throws ApiError
   */
  get(options: CallOptions = {}): Promise<Balance> {
    return this.#calls.send('getBalance', {}, options);
  }
}
