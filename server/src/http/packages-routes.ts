import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../kit/errors.ts';

/** Where `npm run packages` writes. */
const BUILT = fileURLToPath(new URL('../../../dist/packages', import.meta.url));
const TARBALL = /^caudal-(sdk|cli)-(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)\.tgz$/;

interface Tarball {
  readonly name: string;
  readonly version: string;
  readonly url: string;
  readonly integrity: string;
}

/**
 * Serves the SDK and the command line of this deployment's version as npm tarballs, so that merchants install them
 * without a registry: `npm install https://…/packages/caudal-sdk-0.1.0.tgz`.
 */
export function registerPackages(app: FastifyInstance, baseUrl: string, folder = BUILT): void {
  app.get('/packages', async (_request, reply) => {
    const names = await readdir(folder).catch(() => []);
    const packages = await Promise.all(
      names.filter((name) => TARBALL.test(name)).map((name) => describe(folder, name, baseUrl)),
    );
    return reply.header('cache-control', 'no-cache').send({ packages: packages.sort(byNameAndVersion) });
  });

  app.get<{ Params: { file: string } }>('/packages/:file', async ({ params: { file }, headers }, reply) => {
    const bytes = TARBALL.test(file) ? await readFile(join(folder, file)).catch(() => null) : null;
    if (bytes === null) throw new ApiError('not_found');
    const tag = `"${integrityOf(bytes).slice(-22)}"`;
    reply.headers({
      etag: tag,
      // npm compares the content with the lockfile; a build of the same version in development may differ.
      'cache-control': 'no-cache',
      'content-type': 'application/gzip',
    });
    if (headers['if-none-match'] === tag) return reply.code(304).send();
    return reply.send(bytes);
  });
}

async function describe(folder: string, file: string, baseUrl: string): Promise<Tarball> {
  const [, name = '', version = ''] = TARBALL.exec(file) ?? [];
  return {
    name: `@caudal/${name}`,
    version,
    url: `${baseUrl}/packages/${file}`,
    integrity: integrityOf(await readFile(join(folder, file))),
  };
}

/** As npm prints it and writes it to lockfiles. */
function integrityOf(bytes: Buffer): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}

/** Newest version first. */
function byNameAndVersion(a: Tarball, b: Tarball): number {
  return a.name.localeCompare(b.name) || b.version.localeCompare(a.version, undefined, { numeric: true });
}
