import type { CallOptions, Calls } from './calls.ts';
import type { AccessToken } from './generated/schemas.ts';

/** Short-lived credentials, made from an API key. */
export class AccessTokens {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Get an access token: `POST /oauth/token`.
   *
   * Made from the client's API key; lasts an hour and ends with its key. Give it to a part of your system that must not
   * hold the key, as `new Caudal({ accessToken })`.
   * @throws ApiError, of its own with the codes `invalid_client`, `invalid_scope`
   */
  async create(
    {
      scope,
    }: { /** Scopes separated by spaces; left out, all of the key's. */ scope?: string | undefined } = {},
    options: CallOptions = {},
  ): Promise<AccessToken> {
    const [header, key] = this.#calls.defaults.credential;
    if (header !== 'x-api-key') throw new TypeError('accessTokens.create needs a client made with an apiKey');
    const form = {
      grant_type: 'client_credentials',
      client_id: /^cdl_[a-z]+_([^_]+)_/.exec(key)?.[1] ?? '',
      client_secret: key,
      ...(scope === undefined ? {} : { scope }),
    };
    return this.#calls.send('issueAccessToken', { form }, options);
  }
}
