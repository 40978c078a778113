import { probe } from '../../kit/http-probe.ts';
import { describeNetworkFailure } from '../../kit/network-failure.ts';
import type { RailProbe } from '../contract.ts';
import type { PseAccess } from './connector.ts';

/** Fetches the list of banks: read-only at PSE. */
export async function probePse(access: PseAccess, signal: AbortSignal): Promise<RailProbe> {
  const authorization = `Basic ${Buffer.from(`${access.entity}:${access.secret}`).toString('base64')}`;
  try {
    const { status, ms, ahead } = await probe({
      url: `${access.url}/v1/banks`,
      headers: { authorization },
      tls: access.tls,
      signal,
    });
    if (status === 401 || status === 403) return { kind: 'unauthorized', status, ahead };
    if (status !== 200)
      return { kind: 'unavailable', cause: `it answered ${status} to a bank list request`, ahead };
    return { kind: 'answers', ms, ahead };
  } catch (error) {
    return { kind: 'unavailable', cause: describeNetworkFailure(error), ahead: null };
  }
}
