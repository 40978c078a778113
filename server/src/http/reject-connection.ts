import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import { ApiError } from '../kit/errors.ts';
import { problemBody } from './problem.ts';
import { newRequestId } from './request-id.ts';
import { securityHeaders } from './security-headers.ts';

/** Time for the client to read the answer. Then the descriptor is freed, even if the client never closes its side. */
const CLOSE_TIMEOUT_MS = 1000;

/** Answers invalid HTTP, too large headers and late requests, for which Node creates no request and no response object. */
export function rejectConnection(baseUrl: string, error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const requestId = newRequestId();
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const body = JSON.stringify({
    ...problemBody(new ApiError('malformed_request'), { baseUrl, requestId, instance: '/', language: 'en' }),
    status: tooLarge ? 431 : 400,
  });
  const head = [
    `HTTP/1.1 ${tooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request'}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    ...Object.entries(securityHeaders(baseUrl)).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  const timeout = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS).unref();
  socket.once('close', () => clearTimeout(timeout));
}
