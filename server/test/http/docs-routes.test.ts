import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { registerDocs } from '../../src/http/docs-routes.ts';
import { ERRORS } from '../../src/kit/error-catalogue.ts';

const POLICY = "default-src 'none'; script-src 'self' 'sha256-x'";
const PAGE = `<h1>${'Home '.repeat(400)}</h1>`;

let folder: string;
let app: FastifyInstance;
let address: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'caudal-site-'));
  app = Fastify();
  registerDocs(app, 'https://api.example.com', join(folder, 'dist'));
  await app.listen({ port: 0, host: '127.0.0.1' });
  address = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

interface File {
  readonly text: string;
  readonly type?: string;
  readonly compressed?: boolean;
  readonly hasExampleAddress?: boolean;
}

/** A site as docs/build.ts produces it. */
function build(files: Readonly<Record<string, File>>, at = new Date('2026-11-16T12:00:00Z')): void {
  const dist = join(folder, 'dist');
  const list = Object.entries(files).map(
    ([name, { text, type = 'text/html; charset=utf-8', compressed = false, hasExampleAddress = false }]) => {
      const path = `${name === '' ? 'index' : name}.file`;
      mkdirSync(join(dist, path, '..'), { recursive: true });
      writeFileSync(join(dist, path), text);
      if (compressed) {
        writeFileSync(join(dist, `${path}.br`), brotliCompressSync(text));
        writeFileSync(join(dist, `${path}.gz`), gzipSync(text));
      }
      const encodings = compressed ? ['br', 'gzip'] : [];
      return [
        name,
        {
          path,
          type,
          hash: `hash-${text.length}`,
          encodings,
          immutable: name.startsWith('_astro/'),
          hasExampleAddress,
        },
      ];
    },
  );
  writeFileSync(join(dist, 'site.json'), JSON.stringify({ policy: POLICY, files: Object.fromEntries(list) }));
  utimesSync(join(dist, 'site.json'), at, at);
}

const SITE = {
  '': { text: PAGE, compressed: true },
  '404': { text: 'no such page' },
  'guides/quickstart.md': { text: '# Quickstart', type: 'text/markdown; charset=utf-8' },
  'errors/not_found': { text: 'Not found' },
  'es/errors/not_found': { text: 'No encontrado' },
  '_astro/a.css': { text: 'a{}', type: 'text/css; charset=utf-8' },
  'llms.txt': { text: '# Caudal', type: 'text/plain; charset=utf-8' },
} as const;

/** Sends the path verbatim, because fetch would normalize it. */
function rawGet(path: string, method = 'GET'): Promise<{ status: number; body: string; headers: object }> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    httpRequest({ hostname, port, path, method }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body, headers: response.headers }),
      );
    })
      .on('error', reject)
      .end();
  });
}

describe('the documentation site', () => {
  beforeEach(() => build(SITE));

  it('is served with its policy, type and ETag, with or without a trailing slash', async () => {
    for (const path of ['/docs', '/docs/']) {
      const answer = await fetch(`${address}${path}`);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe(PAGE);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': POLICY,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache',
        vary: 'Accept-Encoding',
      });
    }
  });

  it.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', null],
  ])('is encoded for Accept-Encoding %s', async (accepted, got) => {
    const answer = await fetch(`${address}/docs`, { headers: { 'accept-encoding': accepted } });
    expect(answer.headers.get('content-encoding')).toBe(got);
    expect(await answer.text()).toBe(PAGE);
  });

  it('returns 304 for a matching ETag of the same encoding only', async () => {
    const headers = { 'accept-encoding': 'br' };
    const tag = (await fetch(`${address}/docs`, { headers })).headers.get('etag') ?? '';
    const again = await fetch(`${address}/docs`, { headers: { ...headers, 'if-none-match': tag } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
    const plain = await fetch(`${address}/docs`, {
      headers: { 'accept-encoding': 'identity', 'if-none-match': tag },
    });
    expect(plain.status).toBe(200);
  });

  it('lets clients cache fingerprinted files permanently', async () => {
    const answer = await fetch(`${address}/docs/_astro/a.css`);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('content-type')).toBe('text/css; charset=utf-8');
  });

  it('answers HEAD without a body, and no other method', async () => {
    const head = await fetch(`${address}/docs`, {
      method: 'HEAD',
      headers: { 'accept-encoding': 'identity' },
    });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(PAGE.length)]);
    expect((await fetch(`${address}/docs`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${address}/docs/errors/not_found`, { method: 'DELETE' })).status).toBe(404);
  });

  it('serves only files listed by the build, however the path is written', async () => {
    writeFileSync(join(folder, 'secret.txt'), 'secret');
    for (const path of [
      '/docs/../secret.txt',
      '/docs/%2e%2e/secret.txt',
      '/docs/..%2fsecret.txt',
      '/docs/..%5csecret.txt',
      '/docs/%2e%2e%2fsecret.txt%00.md',
      '/docs//etc/passwd',
      '/docs/site.json',
      '/docs/index.file',
      '/docs/index.file.br',
      '/docs/__proto__',
      '/docs/constructor',
    ]) {
      const { status, body } = await rawGet(path);
      expect({ path, refused: status === 404 || status === 400 }).toEqual({ path, refused: true });
      expect(body).not.toContain('secret');
    }
  });

  it('serves its own 404 page', async () => {
    const answer = await fetch(`${address}/docs/guides/nothing`);
    expect([answer.status, await answer.text()]).toEqual([404, 'no such page']);
  });

  it('serves plain text files, also at the root', async () => {
    const markdown = await fetch(`${address}/docs/guides/quickstart.md`);
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    for (const path of ['/llms.txt', '/docs/llms.txt'])
      expect(await (await fetch(`${address}${path}`)).text()).toBe('# Caudal');
  });

  it('is reloaded after a new build, without a restart', async () => {
    expect(await (await fetch(`${address}/docs/errors/not_found`)).text()).toBe('Not found');
    build(
      { ...SITE, 'errors/not_found': { text: 'Not found, in other words' } },
      new Date('2026-11-16T12:01:00Z'),
    );
    expect(await (await fetch(`${address}/docs/errors/not_found`)).text()).toBe('Not found, in other words');
  });
});

describe('a problem page', () => {
  const fetchPage = async (path: string, language?: string) => {
    const headers: Record<string, string> = language === undefined ? {} : { 'accept-language': language };
    const answer = await fetch(`${address}${path}`, { headers });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };

  it("is in the reader's language; the URL takes precedence", async () => {
    build(SITE);
    expect((await fetchPage('/docs/errors/not_found')).text).toBe('Not found');
    const spanish = await fetchPage('/docs/errors/not_found', 'es-CO,es;q=0.9,en;q=0.5');
    expect(spanish.text).toBe('No encontrado');
    expect(spanish.headers.get('vary')).toBe('Accept-Language');
    expect(spanish.headers.get('content-language')).toBe('es');
    expect((await fetchPage('/docs/errors/not_found?lang=en', 'es')).text).toBe('Not found');
    expect((await fetchPage('/docs/errors/not_found?lang=es', 'en')).text).toBe('No encontrado');
    expect((await fetchPage('/docs/es/errors/not_found', 'en')).text).toBe('No encontrado');
    expect((await fetchPage('/docs/errors/no_such_code')).status).toBe(404);
  });

  it.each(Object.entries(ERRORS))(
    '%s resolves without a built site, in both languages',
    async (code, entry) => {
      const english = await fetchPage(`/docs/errors/${code}`, 'en');
      expect([english.status, english.headers.get('content-type')]).toEqual([
        200,
        'text/plain; charset=utf-8',
      ]);
      expect(english.text).toContain(entry.title.en);
      expect(english.text).toContain(entry.remedy.en.replaceAll('`', ''));
      const spanish = await fetchPage(`/docs/errors/${code}`, 'es');
      expect(spanish.text).toContain(entry.title.es);
      expect(spanish.text).toContain(entry.cause.es.replaceAll('`', ''));
    },
  );

  it('returns 404 for an unknown code, also without a built site', async () => {
    for (const code of ['no_such_code', 'constructor', '__proto__', '%'])
      expect([400, 404]).toContain((await rawGet(`/docs/errors/${code}`)).status);
    expect((await fetchPage('/docs/errors', 'es')).text).toContain('reference_taken');
  });
});

describe('a server without a built site', () => {
  it('explains how to build it', async () => {
    const answer = await fetch(`${address}/docs`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('npm run docs');
    expect((await fetch(`${address}/docs/guides/quickstart`)).status).toBe(404);
    expect((await fetch(`${address}/llms.txt`)).status).toBe(404);
  });

  it('still serves the OpenAPI document', async () => {
    const document = (await (await fetch(`${address}/openapi.json`)).json()) as { servers: unknown };
    expect(document.servers).toEqual([{ url: 'https://api.example.com' }]);
  });

  it('shows its own address in the examples of a page', async () => {
    const text = 'curl http://127.0.0.1:8080/payins && curl http://127.0.0.1:8080/balance';
    build({
      'api/payins': { text, compressed: true, hasExampleAddress: true },
      'guides/quickstart': { text },
    });
    const read = (path: string, headers = {}) => fetch(`${address}/docs/${path}`, { headers });
    const page = await read('api/payins');
    expect(await page.text()).toBe(
      'curl https://api.example.com/payins && curl https://api.example.com/balance',
    );
    expect(page.headers.get('content-security-policy')).toBe(POLICY);
    const etag = page.headers.get('etag') ?? '';
    expect((await read('api/payins', { 'if-none-match': etag })).status).toBe(304);
    expect(await (await read('guides/quickstart')).text()).toBe(text);
  });

  it('compresses the OpenAPI document and answers 304 to its ETag', async () => {
    const read = (headers: Record<string, string>) => fetch(`${address}/openapi.json`, { headers });
    const compressed = await read({ 'accept-encoding': 'gzip' });
    expect(Object.fromEntries(compressed.headers)).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-cache',
      vary: expect.stringContaining('Accept-Encoding') as string,
    });
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(100_000);
    expect(await compressed.json()).toMatchObject({ openapi: expect.stringMatching(/^3\./) as string });
    const etag = compressed.headers.get('etag') ?? '';
    expect((await read({ 'accept-encoding': 'gzip', 'if-none-match': etag })).status).toBe(304);
    expect((await read({ 'accept-encoding': 'identity' })).headers.get('content-encoding')).toBeNull();
  });
});
