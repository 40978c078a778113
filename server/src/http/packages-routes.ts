import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../kit/errors.ts';
import { matchesEtag } from './docs/send-file.ts';

/** Where `npm run packages` writes. */
const BUILT = fileURLToPath(new URL('../../../dist/packages', import.meta.url));
const TARBALL = /^caudal-(sdk|cli)-(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)\.tgz$/;

interface Tarball {
  readonly bytes: Buffer;
  /** As npm prints it and writes it to lockfiles. */
  readonly integrity: string;
  readonly mtimeMs: number;
}

/**
 * Serves the SDK and the command line of this deployment's version as npm tarballs, so that merchants install them
 * without a registry: `npm install https://…/packages/caudal-sdk-0.1.0.tgz`.
 */
export function registerPackages(app: FastifyInstance, baseUrl: string, folder = BUILT): void {
  const load = tarballLoader(folder);

  app.get('/packages', async (_request, reply) => {
    const names = (await readdir(folder).catch(() => [])).filter((name) => TARBALL.test(name));
    const packages = await Promise.all(
      names.sort(byNameAndVersion).map(async (name) => {
        const [, part = '', version = ''] = TARBALL.exec(name) ?? [];
        const url = `${baseUrl}/packages/${name}`;
        return { name: `@caudal/${part}`, version, url, integrity: (await load(name))?.integrity ?? null };
      }),
    );
    return reply.header('cache-control', 'no-cache').send({ packages });
  });

  app.get<{ Params: { file: string } }>('/packages/:file', async ({ params: { file }, headers }, reply) => {
    const tarball = TARBALL.test(file) ? await load(file) : null;
    if (tarball === null) throw new ApiError('not_found');
    const tag = `"${tarball.integrity.slice(-22)}"`;
    reply.headers({
      etag: tag,
      // npm compares the content with the lockfile; a build of the same version in development may differ.
      'cache-control': 'no-cache',
      'content-type': 'application/gzip',
    });
    if (matchesEtag(headers['if-none-match'], tag)) return reply.code(304).send();
    return reply.send(tarball.bytes);
  });
}

/** Reads and hashes a tarball once, and again when it changes; null when it does not exist. */
function tarballLoader(folder: string): (name: string) => Promise<Tarball | null> {
  const known = new Map<string, Tarball>();
  return async (name) => {
    const path = join(folder, name);
    const mtimeMs = await stat(path).then(
      (stats) => stats.mtimeMs,
      () => null,
    );
    if (mtimeMs === null) return null;
    const cached = known.get(name);
    if (cached?.mtimeMs === mtimeMs) return cached;
    const bytes = await readFile(path);
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    const tarball = { bytes, integrity, mtimeMs };
    known.set(name, tarball);
    return tarball;
  };
}

/** By name, then the newest version first. */
function byNameAndVersion(a: string, b: string): number {
  const [, nameA = '', versionA = ''] = TARBALL.exec(a) ?? [];
  const [, nameB = '', versionB = ''] = TARBALL.exec(b) ?? [];
  return nameA.localeCompare(nameB) || versionB.localeCompare(versionA, undefined, { numeric: true });
}
