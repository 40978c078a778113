import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../kit/errors.ts';
import type { Authenticator } from '../organizations/authenticator.ts';
import type { Credential } from '../organizations/credential.ts';
import type { KeyNetworks } from '../organizations/key-networks.ts';
import type { Principal, Scope } from '../organizations/organization.ts';

/**
 * Reads the credential: `x-api-key` with an API key, or `Authorization: Bearer` with an access token. Rejects requests
 * with both, because the two could name different organizations.
 */
export function readCredential(headers: IncomingHttpHeaders): {
  readonly text: string;
  readonly kinds: readonly Credential['kind'][];
} {
  const apiKey = headers['x-api-key'];
  const { authorization } = headers;
  if (apiKey !== undefined && authorization !== undefined)
    throw new ApiError('unauthorized', { reason: 'more than one credential sent' });
  if (typeof apiKey === 'string') return { text: apiKey, kinds: ['key'] };
  const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (bearer === undefined) throw new ApiError('unauthorized', { reason: 'no credential sent' });
  return { text: bearer, kinds: ['token'] };
}

/** @param suspect whether the client's address sent many invalid credentials lately */
export function authenticate(
  authenticator: Authenticator,
  headers: IncomingHttpHeaders,
  suspect = false,
): Principal | Promise<Principal> {
  const { text, kinds } = readCredential(headers);
  return authenticator.authenticate(text, kinds, suspect);
}

/**
 * Notes the network of the client, also of a rejected one: a secret that is sent from elsewhere is stolen.
 * @throws ApiError `address_not_allowed` when the API key may not be used from this address
 */
export function requireAllowedAddress(
  keyNetworks: KeyNetworks,
  { keyId, allowedAddresses }: Principal,
  address: string,
): void {
  const allowed = allowedAddresses === null || allowedAddresses.includes(address);
  keyNetworks.note(keyId, address, allowed);
  if (!allowed) throw new ApiError('address_not_allowed');
}

export function requireScope(principal: Principal, scope: Scope): void {
  if (!principal.scopes.has(scope))
    throw new ApiError('insufficient_scope', { members: { requiredScope: scope } });
}
