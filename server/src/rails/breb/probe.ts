import { probe } from '../../kit/http-probe.ts';
import { networkFailure } from '../../kit/network-failure.ts';
import type { RailProbe } from '../contract.ts';

interface BrebAccess {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly keyPrefix: string;
}

/** Fetches a token and asks after a key that nobody minted: nothing changes at the node. */
export async function probeBreb(access: BrebAccess, signal: AbortSignal): Promise<RailProbe> {
  try {
    const basic = Buffer.from(`${access.clientId}:${access.clientSecret}`).toString('base64');
    const granted = await probe({
      url: `${access.url}/oauth/token`,
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body: { grant_type: 'client_credentials' },
      signal,
    });
    const { ahead } = granted;
    if (REFUSALS.has(granted.status)) return { kind: 'unauthorized', status: granted.status, ahead };
    if (granted.status !== 200) return trouble(granted.status, 'the request for a token', ahead);
    const { access_token: token } = JSON.parse(granted.text) as { access_token?: unknown };
    const asked = await probe({
      url: `${access.url}/v1/keys/query`,
      method: 'POST',
      headers: { authorization: `Bearer ${String(token)}` },
      body: { keys: [`${access.keyPrefix}0000000000`] },
      signal,
    });
    if (REFUSALS.has(asked.status)) return { kind: 'unauthorized', status: asked.status, ahead };
    if (asked.status !== 200) return trouble(asked.status, 'a question about a key', ahead);
    return { kind: 'answers', ms: asked.ms, ahead: asked.ahead };
  } catch (error) {
    return { kind: 'unavailable', cause: networkFailure(error), ahead: null };
  }
}

/** What OAuth2 and gateways in front say of wrong credentials. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403]);

function trouble(status: number, question: string, ahead: RailProbe['ahead']): RailProbe {
  return { kind: 'unavailable', cause: `it answered ${status} to ${question}`, ahead };
}
