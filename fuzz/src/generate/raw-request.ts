import type { Context } from './context.ts';
import { commonHeaders, operationRequest } from './operation-request.ts';
import { type FuzzRequest, toBytes } from './request.ts';

/** Bytes that no HTTP client sends: ambiguous lengths, broken request lines and headers, several requests in one write. */
export function rawRequest(context: Context): FuzzRequest {
  const { random, index, tenant, operations } = context;
  const key = `x-api-key: ${tenant.apiKey}\r\n`;
  const start = `POST /payins HTTP/1.1\r\nhost: x\r\n${key}content-type: application/json\r\n`;
  const operation = operations[random.integer(0, operations.length - 1)];
  const usual = operation ? toBytes(operationRequest(context, operation)) : Buffer.alloc(0);
  const smuggled = `GET /balance HTTP/1.1\r\nhost: x\r\n${key}\r\n`;
  const variants: readonly (() => string | Buffer)[] = [
    () => `${start}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    () => `${start}content-length: 2\r\ncontent-length: 3\r\n\r\n{}x`,
    () => `${start}content-length: -1\r\n\r\n{}`,
    () => `${start}content-length: 99999999999999999999\r\n\r\n{}`,
    () => `${start}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    () => `${start}transfer-encoding: chunked\r\n\r\n2;ext="x\r\n{}\r\n0\r\n\r\n`,
    () => `${start}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx-api-key: y\r\n\r\n`,
    () => `${start}transfer-encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    () => `${start}transfer-encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    () => `GET /balance HTTP/1.1\nhost: x\n${key}\n`,
    () => `GET /balance HTTP/1.1\r\nhost: x\r\n${key}x: a\r\n b\r\n\r\n`,
    () => `GET /balance HTTP/1.1\r\nhost: x\r\n${key}x\u0000y: 1\r\n\r\n`,
    () => `GET /balance HTTP/1.1\r\nhost: x\r\n${key}x: a\u0000b\r\n\r\n`,
    () => `GET /bal\u0000ance HTTP/1.1\r\nhost: x\r\n\r\n`,
    () => `GET  /balance  HTTP/1.1\r\nhost: x\r\n\r\n`,
    () => `GET /balance\r\n`,
    () => `GET http://evil.example/balance HTTP/1.1\r\nhost: x\r\n${key}\r\n`,
    () => `GET //evil.example/balance HTTP/1.1\r\nhost: x\r\n${key}\r\n`,
    () => `GET /./payins/../balance HTTP/1.1\r\nhost: x\r\n${key}\r\n`,
    () => `GET * HTTP/1.1\r\nhost: x\r\n${key}\r\n`,
    () => `CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: x\r\n\r\n`,
    () => `TRACE /balance HTTP/1.1\r\nhost: x\r\n${key}\r\n`,
    () => `FROB /balance HTTP/1.1\r\nhost: x\r\n${key}\r\n`,
    () => `GET /balance HTTP/9.9\r\nhost: x\r\n${key}\r\n`,
    () => `GET /balance HTTP/1.0\r\n${key}\r\n`,
    () => `GET /balance HTTP/1.1\r\n${key}\r\n`,
    () => `GET /balance HTTP/1.1\r\nhost: x\r\nhost: y\r\n${key}\r\n`,
    () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    () => Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]),
    () => `GET /balance HTTP/1.1\r\nhost: x\r\n${key}x: ${'y'.repeat(20_000)}\r\n\r\n`,
    () => `GET /balance HTTP/1.1\r\nhost: x\r\n${key}${'a: b\r\n'.repeat(3000)}\r\n`,
    () => `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
    () => `GET /balance HTTP/1.1\r\nhost: x\r\n${key}connection: upgrade\r\nupgrade: websocket\r\n\r\n`,
    () =>
      `GET /balance HTTP/1.1\r\nhost: x\r\n${key}connection: upgrade, http2-settings\r\nupgrade: h2c\r\n\r\n`,
    () => smuggled + smuggled + smuggled,
    () => usual.subarray(0, random.integer(1, usual.length)),
    () => flipByte(usual, random.integer(0, usual.length - 1), random.integer(0, 255)),
  ];
  const bytes = variants[random.integer(0, variants.length - 1)]?.() ?? '';
  return {
    index,
    subject: 'raw bytes',
    method: 'RAW',
    target: '',
    headers: commonHeaders(context),
    body: null,
    // A flipped byte may change the credential or the path, but it cannot name another organization.
    tenant: 'any',
    raw: Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes, 'latin1'),
  };
}

function flipByte(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = value;
  return copy;
}
