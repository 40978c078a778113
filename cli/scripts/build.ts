/**
 * npm run build -w cli: writes cli/dist, which is what is published: the command line with the SDK and commander in one
 * file, so that it installs from a deployment without any registry.
 */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { commonManifest } from '../../scripts/packages/manifest.ts';

const HERE = fileURLToPath(new URL('..', import.meta.url));

/** @param folder is emptied first */
export async function buildPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    metafile: true,
    entryPoints: [join(HERE, 'src', 'main.ts')],
    outfile: join(folder, 'bin', 'caudal.js'),
    bundle: true,
    platform: 'node',
    target: 'node20.18',
    format: 'esm',
    sourcemap: true,
    // Paths in the source map are relative to the clone, so that all machines build the same file.
    absWorkingDir: join(HERE, '..'),
    logLevel: 'error',
  });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  copyFileSync(join(HERE, 'README.md'), join(folder, 'README.md'));
  copyFileSync(join(HERE, '../LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES'), notices(Object.keys(metafile.inputs)));
}

/** The licenses of the packages that the file contains. */
function notices(inputs: readonly string[]): string {
  const packages = inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(packages)]
    .map((path) => `${basename(path)}\n\n${readFileSync(join(HERE, '..', path, 'LICENSE'), 'utf8')}`)
    .join('\n');
}

function manifest(): object {
  return {
    ...commonManifest(HERE),
    description: 'The command line of Caudal: payments, events and webhooks from a terminal.',
    keywords: ['caudal', 'payments', 'colombia', 'bre-b', 'pse', 'webhooks', 'cli'],
    type: 'module',
    bin: { caudal: './bin/caudal.js' },
  };
}

if (import.meta.main) {
  await buildPackage(join(HERE, 'dist'));
  process.stdout.write('wrote cli/dist\n');
}
