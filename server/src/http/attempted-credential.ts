import type { FastifyRequest } from 'fastify';

const CREDENTIAL = /^cdl_(?:test|live)_(at_)?([0-9A-HJKMNP-TV-Z]{16})_/;
const KEY_ID = /^[0-9A-HJKMNP-TV-Z]{16}$/;

/** The public id of a credential, for logs. */
export interface AttemptedCredential {
  readonly keyId?: string;
  readonly tokenId?: string;
}

/**
 * The id of the credential that a request sent which has no principal, if it has the form of one: it tells which API key leaked. The id is
 * public and unverified; the secret never leaves this function.
 */
export function attemptedCredential({
  headers,
  body,
}: Pick<FastifyRequest, 'headers' | 'body'>): AttemptedCredential {
  const { authorization = '' } = headers;
  const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  const basic = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(authorization)?.[1];
  const [clientId = ''] = Buffer.from(basic ?? '', 'base64')
    .toString('utf8')
    .split(':');
  const form = typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
  for (const text of [headers['x-api-key'], bearer, clientId, form['client_id'], form['client_secret']]) {
    const found = typeof text === 'string' ? readId(text) : null;
    if (found) return found;
  }
  return {};
}

function readId(text: string): AttemptedCredential | null {
  if (KEY_ID.test(text)) return { keyId: text };
  const [, tokenMark, id] = CREDENTIAL.exec(text) ?? [];
  if (id === undefined) return null;
  return tokenMark === undefined ? { keyId: id } : { tokenId: id };
}
