import { probe } from '../../kit/http-probe.ts';
import { describeNetworkFailure } from '../../kit/network-failure.ts';
import type { RailProbe } from '../contract.ts';
import type { BrebAccess } from './client.ts';

/** Fetches a token and queries a key that does not exist: read-only at the node. */
export async function probeBreb(
  access: BrebAccess & { readonly keyPrefix: string },
  signal: AbortSignal,
): Promise<RailProbe> {
  try {
    const basic = Buffer.from(`${access.clientId}:${access.clientSecret}`).toString('base64');
    const granted = await probe({
      url: `${access.url}/oauth/token`,
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body: { grant_type: 'client_credentials' },
      tls: access.tls,
      signal,
    });
    const { ahead } = granted;
    if (UNAUTHORIZED_STATUSES.has(granted.status))
      return { kind: 'unauthorized', status: granted.status, ahead };
    if (granted.status !== 200) return unavailable(granted.status, 'the token request', ahead);
    const { access_token: token } = JSON.parse(granted.text) as { access_token?: unknown };
    const queried = await probe({
      url: `${access.url}/v1/keys/query`,
      method: 'POST',
      headers: { authorization: `Bearer ${String(token)}` },
      body: { keys: [`${access.keyPrefix}0000000000`] },
      tls: access.tls,
      signal,
    });
    if (UNAUTHORIZED_STATUSES.has(queried.status))
      return { kind: 'unauthorized', status: queried.status, ahead };
    if (queried.status !== 200) return unavailable(queried.status, 'a key query', ahead);
    return { kind: 'answers', ms: queried.ms, ahead: queried.ahead };
  } catch (error) {
    return { kind: 'unavailable', cause: describeNetworkFailure(error), ahead: null };
  }
}

/** The statuses of OAuth2 servers and gateways for wrong credentials. */
const UNAUTHORIZED_STATUSES: ReadonlySet<number> = new Set([401, 403]);

function unavailable(status: number, request: string, ahead: RailProbe['ahead']): RailProbe {
  return { kind: 'unavailable', cause: `it answered ${status} to ${request}`, ahead };
}
