// Made by `npm run generate`.

import type { CallOptions } from '../call-options.ts';
import type { Calls } from '../calls.ts';
import type { List } from '../list.ts';
import type { Bank } from './schemas.ts';

/** Data of the PSE rail. */
export class PseOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * List PSE banks: `GET /pse/banks`. Needs the scope `payins:read`.
   *
   * The banks a payer can choose, the most used first.
   *
   * @throws ApiError
   */
  listBanks(options: CallOptions = {}): List<Bank> {
    return this.#calls.list('listPseBanks', {}, options);
  }
}
