import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { nowMs } from '../clock.ts';
import type { Config } from '../config.ts';
import { sameText } from '../credentials.ts';
import type { Deps } from '../deps.ts';
import type { Refusal } from '../rail-call.ts';

export const TOKEN_LIFE_S = 3600;

/** The expiry, signed; not stored, so that a restart of the simulator invalidates none. */
export function makeToken(config: Config, expiresAtMs: number): string {
  return `${expiresAtMs}.${sign(config, String(expiresAtMs))}`;
}

/** Judged by the simulator's clock: shifting it by an hour shows whether a client renews its token. */
export function refuseWithoutToken(deps: Deps, request: FastifyRequest): Refusal | null {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token !== undefined && nowMs(deps.state.clock) < expiryMs(deps.config, token)) return null;
  const body = { code: 'UNAUTHORIZED', message: 'a valid bearer token is needed' };
  return { status: 401, code: 'UNAUTHORIZED', body };
}

/** 0, long past, for a token that is not ours. */
function expiryMs(config: Config, token: string): number {
  const [expiry = '', signature = ''] = token.split('.', 2);
  return sameText(signature, sign(config, expiry)) ? Number(expiry) : 0;
}

function sign({ breb }: Config, expiry: string): string {
  const secret = JSON.stringify([breb.clientId, breb.clientSecret]);
  return createHmac('sha256', secret).update(expiry).digest('base64url');
}
