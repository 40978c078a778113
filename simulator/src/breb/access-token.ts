import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { nowMs } from '../clock.ts';
import type { Config } from '../config.ts';
import { equalInConstantTime } from '../credentials.ts';
import type { Deps } from '../deps.ts';
import type { Rejection } from '../rail-call.ts';

export const TOKEN_TTL_S = 3600;

/** A signed expiry. Tokens are not stored, so a restart of the simulator invalidates none. */
export function makeToken(config: Config, expiresAtMs: number): string {
  return `${expiresAtMs}.${sign(config, String(expiresAtMs))}`;
}

/** Uses the simulator's clock: a test shifts it by an hour to check that a client renews its token. */
export function requireToken(deps: Deps, request: FastifyRequest): Rejection | null {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token !== undefined && nowMs(deps.state.clock) < expiryMs(deps.config, token)) return null;
  const body = { code: 'UNAUTHORIZED', message: 'a valid bearer token is required' };
  return { status: 401, code: 'UNAUTHORIZED', body };
}

/** Returns 0 (expired) for a token with an invalid signature. */
function expiryMs(config: Config, token: string): number {
  const [expiry = '', signature = ''] = token.split('.', 2);
  return equalInConstantTime(signature, sign(config, expiry)) ? Number(expiry) : 0;
}

function sign({ breb }: Config, expiry: string): string {
  const secret = JSON.stringify([breb.clientId, breb.clientSecret]);
  return createHmac('sha256', secret).update(expiry).digest('base64url');
}
