// Made by `npm run generate`.

import type { CallOptions, Calls } from '../calls.ts';
import type { LookUpBrebKeyQuery } from './queries.ts';
import type { BrebKeyLookup } from './schemas.ts';

/** See who receives what is sent to a Bre-B key, before it is sent. */
export class BrebOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Look up a Bre-B key: `GET /breb/keys/{keyString}`. Needs the scope `breb_keys:read`.
   *
   * Who receives what is sent to a key, before it is sent. Personal data is masked; say whom you mean with `name` or `documentNumber` and the answer tells whether it is them.
   *
   * A payout within `expiresAt` goes by this lookup: should the key have changed hands since, it is declined with `RECEIVER_MISMATCH`. Each organization may look up only so much: a key that does not exist, or a holder who is not whom you named, counts most; a lookup that a payout follows does not count.
   *
   * @param keyString The key. Write `@` as it is or as `%40`.
   * @throws ApiError, of its own with the codes `breb_key_invalid`, `rail_not_enabled`, `organization_suspended`, `breb_key_not_found`, `breb_key_suspended`, `too_many_lookups`, `rail_unavailable`
   */
  lookUp(
    keyString: string,
    query: LookUpBrebKeyQuery = {},
    options: CallOptions = {},
  ): Promise<BrebKeyLookup> {
    return this.#calls.send('lookUpBrebKey', { path: { keyString }, query }, options);
  }
}
