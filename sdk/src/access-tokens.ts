import type { ApiPromise } from './api-promise.ts';
import type { CallOptions } from './call-options.ts';
import type { Calls } from './calls.ts';
import type { AccessToken } from './generated/schemas.ts';

/** Short-lived credentials, issued for an API key. */
export class AccessTokens {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Get an access token: `POST /oauth/token`.
   *
   * Issued for the client's API key; expires after one hour, or when the key is revoked. Use it in a part of your system
   * that must not have the key: `new Caudal({ accessToken })`.
   * @throws ApiError, with the specific codes `invalid_client`, `invalid_scope`
   */
  create(
    {
      scope,
    }: {
      /** Scopes separated by spaces; by default all scopes of the key. */ scope?: string | undefined;
    } = {},
    options: CallOptions = {},
  ): ApiPromise<AccessToken> {
    return this.#calls.send('issueAccessToken', () => ({ form: this.#form(scope) }), options);
  }

  #form(scope: string | undefined): Record<string, string> {
    const [header, apiKey] = this.#calls.defaults.credential;
    if (header !== 'x-api-key')
      throw new TypeError('accessTokens.create needs a client with an apiKey, not an accessToken');
    return {
      grant_type: 'client_credentials',
      client_id: /^cdl_[a-z]+_([^_]+)_/.exec(apiKey)?.[1] ?? '',
      client_secret: apiKey,
      ...(scope === undefined ? {} : { scope }),
    };
  }
}
