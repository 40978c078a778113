import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { Simulator } from './harness.ts';

export type Reply = { readonly status: number; readonly body: unknown };

const BREB_BASIC = basic('caudal-dev', 'dev-breb-secret');
const PSE_BASIC = basic('caudal-dev', 'dev-pse-secret');

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

export async function call(
  { url }: Pick<Simulator, 'url'>,
  method: string,
  path: string,
  options: { body?: unknown; authorization?: string; signal?: AbortSignal } = {},
): Promise<Reply> {
  const { body, authorization, signal } = options;
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(authorization === undefined ? {} : { authorization }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  return { status: response.status, body: await response.json() };
}

export async function fetchToken(simulator: Pick<Simulator, 'url'>): Promise<string> {
  const body = { grant_type: 'client_credentials' };
  const reply = await call(simulator, 'POST', '/breb/oauth/token', { authorization: BREB_BASIC, body });
  return `Bearer ${(reply.body as { access_token: string }).access_token}`;
}

export type BrebClient = (operation: string, body: unknown, signal?: AbortSignal) => Promise<Reply>;

/** `operation` is the path after /breb/v1/. The client gets a new token when a time shift expired its token. */
export async function brebClient(simulator: Pick<Simulator, 'url'>): Promise<BrebClient> {
  let authorization = await fetchToken(simulator);
  return async (operation, body, signal) => {
    const send = () =>
      call(simulator, 'POST', `/breb/v1/${operation}`, {
        body,
        authorization,
        ...(signal === undefined ? {} : { signal }),
      });
    const reply = await send();
    if (reply.status !== 401) return reply;
    authorization = await fetchToken(simulator);
    return send();
  };
}

/** Sends a Bre-B call and disconnects at once, without reading its answer. */
export async function callAndLeave(
  simulator: Pick<Simulator, 'url'>,
  operation: string,
  body: object,
): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: await fetchToken(simulator) };
  const request = httpRequest(`${simulator.url}/breb/v1/${operation}`, { method: 'POST', headers });
  // Leaving reports an error.
  request.on('error', () => undefined);
  const closed = new Promise((resolve) => request.once('close', resolve));
  request.end(JSON.stringify(body), () => request.destroy());
  await closed;
}

export function pseCall(simulator: Pick<Simulator, 'url'>, path: string, body?: unknown): Promise<Reply> {
  const method = body === undefined ? 'GET' : 'POST';
  return call(simulator, method, `/pse/v1/${path}`, { body, authorization: PSE_BASIC });
}

let lastNumber = 0;

/** A key that no other test of the file uses. */
export function freshKey(): string {
  lastNumber += 1;
  return `@CDLTEST${String(lastNumber).padStart(8, '0')}`;
}

export function registration(key: string, changes: object = {}) {
  return {
    key,
    internalId: randomUUID(),
    amount: '49800.00',
    currency: 'COP',
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    payer: { documentType: 'CC', documentNumber: '1020304050', name: 'Ana Peña' },
    ...changes,
  };
}

export function pseOrder(reference: string, changes: object = {}) {
  return {
    reference,
    bankCode: '1007',
    personType: 0,
    returnUrl: 'http://127.0.0.1:3000/return',
    description: 'Pedido 1',
    amount: '49800.00',
    currency: 'COP',
    payer: {
      documentType: 'CC',
      documentNumber: '1020304050',
      name: 'Ana Peña',
      email: 'ana@example.com',
      phone: '+573001234567',
    },
    ...changes,
  };
}
