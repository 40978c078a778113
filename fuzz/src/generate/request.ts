import type { TenantName } from '../tenants/tenant.ts';

/** A request to send, with what the oracle needs to check its response. */
export interface FuzzRequest {
  readonly index: number;
  /** What is being tested: an operation, pages, notices, and so on. Results are counted by it. */
  readonly subject: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | null;
  /** The organization whose data the response may contain; `any` when the request carries credentials of both. */
  readonly tenant: TenantName | 'any' | null;
  /** Bytes that replace everything above: not valid HTTP, or more than one request. */
  readonly raw?: Buffer;
}

/** Lone surrogates and other characters above 255 go out as UTF-8, as a hostile client would send them. */
export function toBytes(request: FuzzRequest): Buffer {
  if (request.raw) return request.raw;
  const { method, target, body } = request;
  let head = `${method} ${target} HTTP/1.1\r\n`;
  for (const [name, value] of request.headers) head += `${name}: ${value}\r\n`;
  if (body !== null) head += `content-length: ${body.length}\r\n`;
  const bytes = Buffer.from(`${head}\r\n`, 'utf8');
  return body === null ? bytes : Buffer.concat([bytes, body]);
}

const SHOWN_BYTES = 6000;

/** A shell command that repeats the request byte by byte. */
export function toCommand(request: FuzzRequest, port: number): string {
  const bytes = toBytes(request);
  const text = bytes
    .subarray(0, SHOWN_BYTES)
    .toString('latin1')
    .replace(/[^ -~]|['\\%]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
  const cut = bytes.length > SHOWN_BYTES ? ` # the first ${SHOWN_BYTES} of ${bytes.length} bytes` : '';
  return `printf '${text}' | nc -q 5 127.0.0.1 ${port}${cut}`;
}
