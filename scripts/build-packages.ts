/**
 * npm run packages: writes dist/packages, whose tarballs the server offers at /packages: the SDK and the command line of
 * this version. Tarballs of other versions stay, and a tarball of this version is not replaced by a different one: lockfiles
 * of merchants contain its checksum. `-- --replace` replaces it, for development.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPackage as buildCli } from '../cli/scripts/build.ts';
import { buildPackage as buildSdk } from '../sdk/scripts/build.ts';

const TARGET = fileURLToPath(new URL('../dist/packages', import.meta.url));

/** Written after the tarballs: newer than the sources when they are up to date. */
const COMPLETE = 'complete';

/** Builds and packs all packages; the same sources give the same bytes. Returns the names of the tarballs. */
export async function buildPackages({ replace }: { readonly replace: boolean }): Promise<readonly string[]> {
  const target = TARGET;
  mkdirSync(target, { recursive: true });
  // In the same file system, so that a server never reads half a tarball.
  const scratch = mkdtempSync(join(target, '.build-'));
  try {
    buildSdk(join(scratch, 'sdk'));
    await buildCli(join(scratch, 'cli'));
    const tarballs = ['sdk', 'cli'].map((name) => {
      const tarball = pack(join(scratch, name), scratch);
      const [made, published] = [join(scratch, tarball), join(target, tarball)];
      if (!replace && existsSync(published) && !readFileSync(published).equals(readFileSync(made)))
        throw new Error(
          `${tarball} exists with other content. Release a new version (npm run release), or run: npm run packages -- --replace`,
        );
      renameSync(made, published);
      return tarball;
    });
    writeFileSync(join(target, COMPLETE), `${tarballs.join('\n')}\n`);
    return tarballs;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function pack(folder: string, destination: string): string {
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--json', '--pack-destination', destination], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`);
  const [packed] = JSON.parse(stdout) as { readonly filename: string }[];
  if (!packed) throw new Error('npm pack printed no file name');
  return packed.filename;
}

if (import.meta.main) {
  const replace = process.argv.includes('--replace');
  for (const name of await buildPackages({ replace })) process.stdout.write(`wrote dist/packages/${name}\n`);
}
