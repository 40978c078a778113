import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Site, SiteFile } from './site.ts';

const SUFFIX = { br: '.br', gzip: '.gz' } as const;

/** Sends a file in the best encoding the client accepts, or 304 if the client has it already. */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  site: Site,
  file: SiteFile,
): Promise<FastifyReply> {
  const encoding = file.encodings.find((each) => accepts(request.headers['accept-encoding'], each));
  const tag = `"${file.hash}${encoding ? `-${encoding}` : ''}"`;
  reply.headers({
    'content-type': file.type,
    etag: tag,
    'cache-control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  });
  if (file.encodings.length > 0) vary(reply, 'Accept-Encoding');
  if (file.type.startsWith('text/html')) reply.header('content-security-policy', site.policy);
  if (reply.statusCode === 200 && matchesEtag(request.headers['if-none-match'], tag))
    return reply.code(304).send();
  if (encoding) reply.header('content-encoding', encoding);
  return reply.send(await readFile(join(site.folder, `${file.path}${encoding ? SUFFIX[encoding] : ''}`)));
}

/** Appends a header name to `Vary`. */
export function vary(reply: FastifyReply, header: string): void {
  const before = reply.getHeader('vary');
  reply.header('vary', before === undefined ? header : `${String(before)}, ${header}`);
}

function accepts(header: string | string[] | undefined, encoding: string): boolean {
  return String(header ?? '')
    .split(',')
    .map((part) =>
      part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/),
    )
    .some(([name, quality]) => name === encoding && !/^q=0(?:\.0*)?$/.test(quality ?? ''));
}

function matchesEtag(header: string | undefined, tag: string): boolean {
  const tags = (header ?? '').split(',').map((part) => part.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}
