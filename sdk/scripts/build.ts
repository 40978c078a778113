/**
 * npm run build -w sdk: writes sdk/dist, which is what is published: ES modules and CommonJS with their declarations and
 * source maps, a manifest of its own, the README and the license. Inside the repository the SDK runs from its source.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commonManifest } from '../../scripts/packages/manifest.ts';

const HERE = fileURLToPath(new URL('..', import.meta.url));
const TSC = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));

/** The folder of each module system, its `type` and the compiler options that differ. */
const FORMATS = [
  ['esm', 'module', []],
  [
    'cjs',
    'commonjs',
    ['--module', 'commonjs', '--moduleResolution', 'bundler', '--verbatimModuleSyntax', 'false'],
  ],
] as const;

/** @param folder is emptied first */
export function buildPackage(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const [format, type, options] of FORMATS) {
    const target = join(folder, format);
    compile(target, options);
    for (const name of globSync('**/*.d.ts', { cwd: target })) renameImports(join(target, name));
    for (const name of globSync('**/*.js.map', { cwd: target })) nameSource(join(target, name));
    // Bundlers read the nearest manifest.
    writeJson(join(target, 'package.json'), { type, sideEffects: false });
  }
  writeJson(join(folder, 'package.json'), manifest());
  copyFileSync(join(HERE, 'README.md'), join(folder, 'README.md'));
  copyFileSync(join(HERE, '../LICENSE'), join(folder, 'LICENSE'));
}

function compile(target: string, options: readonly string[]): void {
  mkdirSync(target, { recursive: true });
  const run = spawnSync(
    process.execPath,
    [TSC, '-p', 'tsconfig.build.json', '--outDir', target, ...options],
    { cwd: HERE, encoding: 'utf8' },
  );
  if (run.status !== 0) throw new Error(`the SDK does not compile:\n${run.stdout}${run.stderr}`);
}

/** The compiler rewrites `./x.ts` in what it emits as JavaScript, and leaves it in declarations, where it leads nowhere. */
function renameImports(path: string): void {
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replaceAll(/((?:from|import\() ?['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'));
}

/** The compiler writes paths relative to the clone. The content of the source is in the map. */
function nameSource(path: string): void {
  const map = JSON.parse(readFileSync(path, 'utf8')) as { readonly sources: readonly string[] };
  const sources = map.sources.map((source) => source.replace(/^.*sdk\/src\//, '@caudal/sdk/src/'));
  writeFileSync(path, JSON.stringify({ ...map, sources }));
}

function manifest(): object {
  return {
    ...commonManifest(HERE),
    description: 'Payins, payouts and payment links on Bre-B and PSE: the client of a Caudal server.',
    keywords: ['caudal', 'payments', 'colombia', 'bre-b', 'pse', 'webhooks'],
    type: 'module',
    sideEffects: false,
    // For tools that do not read `exports`.
    main: './cjs/index.js',
    module: './esm/index.js',
    types: './cjs/index.d.ts',
    exports: {
      '.': {
        import: { types: './esm/index.d.ts', default: './esm/index.js' },
        require: { types: './cjs/index.d.ts', default: './cjs/index.js' },
      },
      './package.json': './package.json',
    },
  };
}

function writeJson(path: string, value: object): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

if (import.meta.main) {
  buildPackage(join(HERE, 'dist'));
  process.stdout.write('wrote sdk/dist\n');
}
