import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { EXAMPLE_ADDRESS, type SiteFile } from '../../server/src/http/docs/site.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
  '.pagefind': 'application/octet-stream',
  '.pf_meta': 'application/octet-stream',
  '.pf_index': 'application/octet-stream',
  '.pf_fragment': 'application/octet-stream',
};

/** Pagefind files and images are already compressed. */
const COMPRESSIBLE = /\.(?:html|md|txt|css|js|json|svg)$/;
const MIN_BYTES = 1024;
/** Pages about a stack on the reader's own machine. */
const LOCAL = /^guides\/quickstart(?:\.md|\/index\.html)$/;

/** Describes every file for the server, and writes compressed versions next to it. */
export function listFiles(folder: string, paths: readonly string[]): Record<string, SiteFile> {
  return Object.fromEntries(paths.map((path) => [pageAddress(path), describeFile(folder, path)]));
}

/** URL path of a file: pages have no suffix, other files keep theirs. */
export function pageAddress(path: string): string {
  return path.replace(/(?:^|\/)index\.html$|\.html$/, '');
}

function describeFile(folder: string, path: string): SiteFile {
  const type = TYPES[extname(path)];
  if (type === undefined) throw new Error(`docs/finish/site-list.ts has no content type for ${path}`);
  const bytes = readFileSync(join(folder, path));
  const encodings: ('br' | 'gzip')[] = [];
  if (COMPRESSIBLE.test(path) && bytes.length >= MIN_BYTES) {
    const quality = { [constants.BROTLI_PARAM_QUALITY]: 6 };
    writeFileSync(join(folder, `${path}.br`), brotliCompressSync(bytes, { params: quality }));
    writeFileSync(join(folder, `${path}.gz`), gzipSync(bytes));
    encodings.push('br', 'gzip');
  }
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return {
    path,
    type,
    hash,
    encodings,
    immutable: /^(?:_astro|pagefind\/(?:fragment|index))\//.test(path),
    hasExampleAddress:
      /\.(?:html|md|txt)$/.test(path) && !LOCAL.test(path) && bytes.includes(EXAMPLE_ADDRESS),
  };
}
