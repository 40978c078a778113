import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../kit/errors.ts';
import type { Authenticator } from '../organizations/authenticator.ts';
import type { Credential } from '../organizations/credential.ts';
import type { Principal, Scope } from '../organizations/organization.ts';

/**
 * Either scheme names the organization: `x-api-key` with a key, `Authorization: Bearer` with a token. Both at once is
 * refused, because it would not be clear whose payment this is.
 */
export function credentialIn(headers: IncomingHttpHeaders): {
  readonly text: string;
  readonly kinds: readonly Credential['kind'][];
} {
  const key = headers['x-api-key'];
  const { authorization } = headers;
  if (key !== undefined && authorization !== undefined)
    throw new ApiError('unauthorized', { reason: 'two credentials' });
  if (typeof key === 'string') return { text: key, kinds: ['key'] };
  const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (bearer === undefined) throw new ApiError('unauthorized', { reason: 'no credential' });
  return { text: bearer, kinds: ['token'] };
}

export function authenticate(
  authenticator: Authenticator,
  headers: IncomingHttpHeaders,
): Principal | Promise<Principal> {
  const { text, kinds } = credentialIn(headers);
  return authenticator.authenticate(text, kinds);
}

export function requireScope(principal: Principal, scope: Scope): void {
  if (!principal.scopes.has(scope))
    throw new ApiError('insufficient_scope', { members: { requiredScope: scope } });
}
