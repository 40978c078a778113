// Made by `npm run generate`.

import type { CallOptions, Calls } from '../calls.ts';
import type { LookUpBrebKeyQuery } from './queries.ts';
import type { BrebKeyLookup } from './schemas.ts';

/** Look up the holder of a Bre-B key before you pay it. */
export class BrebOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Look up a Bre-B key: `GET /breb/keys/{keyString}`. Needs the scope `breb_keys:read`.
   *
   * Shows who receives money sent to a key, before you send it. Personal data is masked. Send the expected `name` or `documentNumber`, and `match` in the response tells whether it matches the holder.
   *
   * A payout created before `expiresAt` uses this lookup: if the key has a different holder by then, the payout is declined with `RECEIVER_MISMATCH`. Lookups are limited per organization: keys that do not exist and holders that do not match count most; a lookup followed by a payout does not count.
   *
   * @param keyString The key. `@` may be sent literally or as `%40`.
   * @throws ApiError, with the specific codes `breb_key_invalid`, `rail_not_enabled`, `organization_suspended`, `breb_key_not_found`, `not_found`, `breb_key_suspended`, `too_many_lookups`, `rail_unavailable`
   */
  lookUp(
    keyString: string,
    query: LookUpBrebKeyQuery = {},
    options: CallOptions = {},
  ): Promise<BrebKeyLookup> {
    return this.#calls.send('lookUpBrebKey', { path: { keyString }, query }, options);
  }
}
