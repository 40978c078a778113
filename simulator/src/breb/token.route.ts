import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { nowMs } from '../clock.ts';
import { matchesBasic } from '../credentials.ts';
import type { Deps } from '../deps.ts';
import type { RailCall, Rejection } from '../rail-call.ts';
import { makeToken, TOKEN_TTL_S } from './access-token.ts';

const tokenBody = z.object({ grant_type: z.string() });

/** OAuth2 client credentials (RFC 6749): error bodies use `error` instead of `code`. */
export const issueToken: RailCall<z.infer<typeof tokenBody>> = {
  rail: 'BRE_B',
  operation: 'token',
  schema: tokenBody,
  authenticate: requireClientCredentials,
  answer: ({ config, state }, body, at) => {
    if (body.grant_type !== 'client_credentials') {
      return { status: 400, code: 'unsupported_grant_type', body: { error: 'unsupported_grant_type' } };
    }
    const expiresAtMs = nowMs(state.clock) + TOKEN_TTL_S * 1000;
    const expiresAt = new Date(expiresAtMs).toISOString();
    return {
      body: { access_token: makeToken(config, expiresAtMs), token_type: 'Bearer', expires_in: TOKEN_TTL_S },
      entry: { at, kind: 'breb.token', clientId: config.breb.clientId, expiresAt },
    };
  },
};

function requireClientCredentials({ config }: Deps, request: FastifyRequest): Rejection | null {
  const expected = { user: config.breb.clientId, password: config.breb.clientSecret };
  if (matchesBasic(request.headers.authorization, expected)) return null;
  return { status: 401, code: 'invalid_client', body: { error: 'invalid_client' } };
}
