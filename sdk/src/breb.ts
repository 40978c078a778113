import type { ApiPromise } from './api-promise.ts';
import type { CallOptions } from './call-options.ts';
import type { Calls } from './calls.ts';
import type { LookUpBrebKeyQuery } from './generated/queries.ts';
import type { BrebKeyLookup } from './generated/schemas.ts';

/** Look up the holder of a Bre-B key before you pay it. */
export class Breb {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Look up a Bre-B key: `POST /breb/keys/lookup`. Needs the scope `breb_keys:read`.
   *
   * Shows who receives money sent to a key, before you send it. Personal data is masked. With the expected name or
   * document number, `match` tells whether it matches the holder. A payout created before `expiresAt` uses this lookup.
   * @throws ApiError, with the specific codes `breb_key_invalid`, `rail_not_enabled`, `organization_suspended`,
   *   `breb_key_not_found`, `breb_key_suspended`, `too_many_lookups`, `rail_unavailable`
   */
  lookUp(
    keyString: string,
    expected: LookUpBrebKeyQuery = {},
    options: CallOptions = {},
  ): ApiPromise<BrebKeyLookup> {
    return this.#calls.send('createBrebKeyLookup', { body: { ...expected, keyString } }, options);
  }
}
