import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

/** A response as it arrived. */
export interface Answer {
  readonly status: number;
  /** Status line and headers. */
  readonly head: string;
  readonly body: Buffer;
  readonly ms: number;
}

export function header({ head }: Pick<Answer, 'head'>, name: string): string | null {
  const start = head.toLowerCase().indexOf(`\r\n${name}:`);
  if (start < 0) return null;
  const from = start + name.length + 3;
  const end = head.indexOf('\r\n', from);
  return head.slice(from, end < 0 ? undefined : end).trim();
}

/** All values of a header. */
export function headers({ head }: Pick<Answer, 'head'>, name: string): string[] {
  return head
    .split('\r\n')
    .filter((line) => line.toLowerCase().startsWith(`${name}:`))
    .map((line) => line.slice(name.length + 1).trim());
}

const DECODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gunzipSync(body),
  br: (body) => brotliDecompressSync(body),
  zstd: (body) => zstdDecompressSync(body),
};

/** The body as text. */
export function bodyText(answer: Answer): string {
  const decode = DECODERS[header(answer, 'content-encoding') ?? ''];
  const body = decode && answer.body.length > 0 ? decode(answer.body) : answer.body;
  return body.toString('utf8');
}
