/**
 * npm run build -w sdk: writes sdk/dist, which is what is published: JavaScript, declarations, a manifest of its own, the
 * README and the licence. Inside the repository the SDK runs from its source.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('..', import.meta.url));
const TSC = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));

/** @param folder is emptied first */
export function buildPackage(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const run = spawnSync(process.execPath, [TSC, '-p', 'tsconfig.build.json', '--outDir', folder], {
    cwd: HERE,
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`the SDK does not compile:\n${run.stdout}${run.stderr}`);
  for (const name of globSync('**/*.d.ts', { cwd: folder })) renameImports(join(folder, name));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  copyFileSync(join(HERE, 'README.md'), join(folder, 'README.md'));
  copyFileSync(join(HERE, '../LICENSE'), join(folder, 'LICENSE'));
}

/** The compiler rewrites `./x.ts` in what it emits as JavaScript, and leaves it in declarations, where it leads nowhere. */
function renameImports(path: string): void {
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replaceAll(/((?:from|import\() ?['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'));
}

function manifest(): object {
  const { name, version, license } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  return {
    name,
    version,
    description: 'Payins, payouts and payment links on Bre-B and PSE: the client of a Caudal server.',
    keywords: ['caudal', 'payments', 'colombia', 'bre-b', 'pse', 'webhooks'],
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: {
      '.': { types: './index.d.ts', default: './index.js' },
      './package.json': './package.json',
    },
  };
}

if (import.meta.main) {
  buildPackage(join(HERE, 'dist'));
  process.stdout.write('wrote sdk/dist\n');
}
