import { z } from 'zod';
import { ApiError } from '../../kit/errors.ts';
import type { ApiDeps } from '../api-deps.ts';
import { requireAllowedAddress } from '../auth.ts';
import { publicOperation, type Reply } from '../operation.ts';

const body = z.strictObject({
  grant_type: z.string().describe('`client_credentials`.').meta({ example: 'client_credentials' }),
  client_id: z.string().max(100).optional().describe("The API key's id, if not sent by HTTP Basic."),
  client_secret: z.string().max(200).optional().describe('The full API key, if not sent by HTTP Basic.'),
  scope: z
    .string()
    .max(1000)
    .optional()
    .describe('Scopes separated by spaces. If omitted, all scopes of the API key.'),
});

const token = z
  .strictObject({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int(),
    scope: z.string(),
  })
  .meta({ id: 'AccessToken' });

export const issueAccessToken = publicOperation({
  method: 'POST',
  path: '/oauth/token',
  operationId: 'issueAccessToken',
  tag: 'Authentication',
  summary: 'Get an access token',
  description:
    "OAuth 2.0 client credentials grant. The client id is the API key's id and the client secret is the full API key, sent by HTTP Basic or in the form. The token is valid for one hour, or until its API key is revoked. Send it as `Authorization: Bearer` to any operation; `x-api-key` with the API key works as well.",
  body,
  bodyType: 'application/x-www-form-urlencoded',
  bodyExamples: {
    clientCredentials: { summary: 'Client credentials', value: { grant_type: 'client_credentials' } },
  },
  responses: {
    200: {
      description: 'The access token.',
      schema: token,
      example: {
        access_token: 'cdl_test_at_…',
        token_type: 'Bearer',
        expires_in: 3600,
        scope: 'payins:read payins:write',
      },
    },
  },
  problems: [
    'invalid_client',
    'address_not_allowed',
    'unsupported_grant_type',
    'invalid_scope',
    'rate_limited',
  ],

  async handle(deps, { body: form, headers, clientAddress }) {
    if (form.grant_type !== 'client_credentials') throw oauthError('unsupported_grant_type');
    const suspect = deps.invalidCredentials.isSuspect(clientAddress);
    const principal = await authenticateClient(deps, clientCredentials(form, headers.authorization), suspect);
    requireAllowedAddress(deps.keyNetworks, principal, clientAddress);
    deps.gate.charge(principal);
    const requested = new Set(form.scope?.split(' ').filter((scope) => scope !== ''));
    const scopes = requested.size > 0 ? [...requested] : [...principal.scopes];
    if (scopes.some((scope) => !principal.scopes.has(scope))) throw oauthError('invalid_scope');
    const issued = await deps.issueToken(principal, scopes);
    const reply: Reply = {
      status: 200,
      body: {
        access_token: issued.text,
        token_type: 'Bearer',
        expires_in: issued.lifetimeSeconds,
        scope: issued.scopes.join(' '),
      },
      headers: { 'cache-control': 'no-store' },
    };
    return reply;
  },
});

interface ClientCredentials {
  readonly id: string | undefined;
  readonly secret: string | undefined;
}

/** @throws ApiError when the client authenticates in two ways, which RFC 6749 forbids (section 2.3) */
function clientCredentials(
  form: z.output<typeof body>,
  authorization: string | undefined,
): ClientCredentials {
  const basic = basicCredentials(authorization);
  if (basic === null) return { id: form.client_id, secret: form.client_secret };
  // Some clients repeat their id in the form, which contradicts nothing.
  const contradicts = form.client_id !== undefined && form.client_id !== basic.id;
  if (form.client_secret !== undefined || contradicts) throw oauthError('invalid_request');
  return basic;
}

async function authenticateClient(deps: ApiDeps, { id, secret }: ClientCredentials, suspect: boolean) {
  try {
    const principal = await deps.authenticator.authenticate(secret ?? '', ['key'], suspect);
    if (principal.keyId === id) return principal;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'unauthorized') throw error;
  }
  throw oauthError('invalid_client');
}

/** Adds `error` (RFC 6749) for OAuth clients, next to our own `code`. */
function oauthError(
  code: 'invalid_request' | 'invalid_client' | 'unsupported_grant_type' | 'invalid_scope',
): ApiError {
  return new ApiError(code, { members: { error: code } });
}

function basicCredentials(authorization: string | undefined): { id: string; secret: string } | null {
  const encoded = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return null;
  const [id = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  return { id, secret: rest.join(':') };
}
