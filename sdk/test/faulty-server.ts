import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { Caudal, type CaudalOptions } from '../src/index.ts';

export const API_KEY = 'cdl_test_0123456789ABCDEF_kept-secret-by-everything-that-prints';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Responder = (response: ServerResponse, request: ReceivedRequest) => void;

export interface FaultyServer {
  readonly url: string;
  /** Complete requests in order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  client(options?: CaudalOptions): Caudal;
}

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A real HTTP server with scripted responses: one per request, and the last one for all further requests. */
export async function faultyServer(
  ...responders: readonly [Responder, ...Responder[]]
): Promise<FaultyServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const got = { method, path, headers, body };
      requests.push(got);
      responders[Math.min(requests.length, responders.length) - 1]?.(response, got);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    client: (options = {}) => new Caudal({ apiKey: API_KEY, baseUrl: url, ...options }),
  };
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Responder {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_1', ...headers });
    response.end(JSON.stringify(body));
  };
}

export function problem(
  status: number,
  code: string,
  headers: Record<string, string> = {},
  members: object = {},
): Responder {
  return json(
    {
      type: `https://api.example.com/docs/errors/${code}`,
      title: `Title of ${code}`,
      status,
      detail: `Detail of ${code}.`,
      instance: '/somewhere',
      code,
      requestId: 'req_1',
      ...members,
    },
    status,
    { 'content-type': 'application/problem+json', ...headers },
  );
}

/** Reads the request, then closes the connection without a response. */
export const cut: Responder = (response) => void response.destroy();
export const hang: Responder = () => undefined;

export const PAYIN = {
  amountInCents: 4_980_000,
  currency: 'COP',
  rail: 'BRE_B',
  reference: 'order-1001',
  breb: { keyType: 'SINGLE_USE' },
} as const;

/** The error that a call throws. */
export async function thrownBy(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
