/** The first complete response in a buffer. */
export interface ReadAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
  /** Bytes read. */
  readonly used: number;
  /** False when the body goes on until the connection closes. */
  readonly complete: boolean;
}

const NO_BODY = Buffer.alloc(0);

/**
 * Reads a response, skipping interim ones. @returns null while the response is not complete
 * @throws when it is not HTTP
 */
export function readAnswer(buffer: Buffer, isHead: boolean): ReadAnswer | null {
  let start = 0;
  for (;;) {
    const end = buffer.indexOf('\r\n\r\n', start);
    if (end < 0) return null;
    const head = buffer.toString('latin1', start, end);
    if (!/^HTTP\/1\.[01] \d{3}/.test(head)) throw new Error('not an HTTP response');
    const status = Number(head.slice(9, 12));
    const from = end + 4;
    if (status >= 200) return readBody(buffer, from, status, head, isHead);
    start = from;
  }
}

function readBody(
  buffer: Buffer,
  from: number,
  status: number,
  head: string,
  isHead: boolean,
): ReadAnswer | null {
  if (isHead || status === 204 || status === 304)
    return { status, head, body: NO_BODY, used: from, complete: true };
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    const used = from + Number(length);
    if (buffer.length < used) return null;
    return { status, head, body: buffer.subarray(from, used), used, complete: true };
  }
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return readChunks(buffer, from, status, head);
  return { status, head, body: buffer.subarray(from), used: buffer.length, complete: false };
}

function readChunks(buffer: Buffer, from: number, status: number, head: string): ReadAnswer | null {
  const isStream = /\r\ncontent-type: *text\/event-stream/i.test(head);
  const pieces: Buffer[] = [];
  let at = from;
  for (;;) {
    const lineEnd = buffer.indexOf('\r\n', at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(buffer.toString('latin1', at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (lineEnd < 0 || buffer.length < next)
      return isStream ? { status, head, body: Buffer.concat(pieces), used: at, complete: false } : null;
    if (size === 0) return { status, head, body: Buffer.concat(pieces), used: next, complete: true };
    pieces.push(buffer.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
}
