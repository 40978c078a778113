import type { FastifyRequest } from 'fastify';
import { Fault } from '../kit/errors.ts';
import type { Authority } from '../organizations/authority.ts';
import type { Principal, Scope } from '../organizations/organization.ts';

/**
 * Either scheme names the organization: `x-api-key` with a key, `Authorization: Bearer` with a token. Both at once is
 * refused, because it would not be clear whose payment this is.
 */
export function authenticate(authority: Authority, request: FastifyRequest): Principal | Promise<Principal> {
  const key = request.headers['x-api-key'];
  const { authorization } = request.headers;
  if (key !== undefined && authorization !== undefined)
    throw new Fault('unauthorized', { reason: 'two credentials' });
  if (typeof key === 'string') return authority.authenticate(key, ['key']);
  const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (bearer === undefined) throw new Fault('unauthorized', { reason: 'no credential' });
  return authority.authenticate(bearer, ['token']);
}

export function requireScope(principal: Principal, scope: Scope): void {
  if (!principal.scopes.has(scope))
    throw new Fault('insufficient_scope', { members: { requiredScope: scope } });
}
