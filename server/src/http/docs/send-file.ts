import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EXAMPLE_ADDRESS, type Site, type SiteFile } from './site.ts';

type Encoding = SiteFile['encodings'][number];

const SUFFIX = { br: '.br', gzip: '.gz' } as const;

/** Sends a file in the best encoding the client accepts, or 304 if the client has it already. */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  site: Site,
  file: SiteFile,
  baseUrl: string,
): Promise<FastifyReply> {
  reply.headers({ 'referrer-policy': 'no-referrer', 'cross-origin-opener-policy': 'same-origin' });
  if (file.type.startsWith('text/html')) reply.header('content-security-policy', site.policy);
  if (file.hasExampleAddress && baseUrl !== EXAMPLE_ADDRESS) {
    const text = await textWithOwnAddress(site, file, baseUrl);
    return sendText(request, reply, text, file.type);
  }
  return sendEncoded(request, reply, file, (encoding) =>
    readFile(join(site.folder, `${file.path}${encoding ? SUFFIX[encoding] : ''}`)),
  );
}

export interface CompressedText {
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly hash: string;
}

export async function compressText(text: string): Promise<CompressedText> {
  const plain = Buffer.from(text);
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  return { plain, gzip: await promisify(gzip)(plain), hash };
}

/** Sends a text, or 304 if the client has it already. */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  { plain, gzip: compressed, hash }: CompressedText,
  type: string,
): Promise<FastifyReply> {
  const content = { type, hash, encodings: ['gzip'], immutable: false } as const;
  return sendEncoded(request, reply, content, (encoding) => Promise.resolve(encoding ? compressed : plain));
}

/** By site, which is loaded again after a build. */
const textsWithOwnAddress = new WeakMap<Site, Map<string, Promise<CompressedText>>>();

/** A page with the address of this server in its examples, made on the first request. */
function textWithOwnAddress(site: Site, file: SiteFile, baseUrl: string): Promise<CompressedText> {
  const texts = textsWithOwnAddress.get(site) ?? new Map<string, Promise<CompressedText>>();
  textsWithOwnAddress.set(site, texts);
  const known = texts.get(file.path);
  if (known) return known;
  const made = readFile(join(site.folder, file.path), 'utf8').then((text) =>
    compressText(text.replaceAll(EXAMPLE_ADDRESS, baseUrl)),
  );
  texts.set(file.path, made);
  made.catch(() => texts.delete(file.path));
  return made;
}

async function sendEncoded(
  request: FastifyRequest,
  reply: FastifyReply,
  content: Omit<SiteFile, 'path' | 'hasExampleAddress'>,
  read: (encoding: Encoding | undefined) => Promise<Buffer>,
): Promise<FastifyReply> {
  const encoding = content.encodings.find((each) => accepts(request.headers['accept-encoding'], each));
  const tag = `"${content.hash}${encoding ? `-${encoding}` : ''}"`;
  reply.headers({
    'content-type': content.type,
    etag: tag,
    'cache-control': content.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    'x-content-type-options': 'nosniff',
  });
  if (content.encodings.length > 0) vary(reply, 'Accept-Encoding');
  if (reply.statusCode === 200 && matchesEtag(request.headers['if-none-match'], tag))
    return reply.code(304).send();
  if (encoding) reply.header('content-encoding', encoding);
  return reply.send(await read(encoding));
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

export function matchesEtag(header: string | undefined, tag: string): boolean {
  const tags = (header ?? '').split(',').map((part) => part.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}
