/**
 * npm run packages: writes dist/packages, whose tarballs the server offers at /packages: the SDK and the command line of
 * this version. Tarballs of other versions stay, because lockfiles of merchants name them.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPackage as buildCli } from '../cli/scripts/build.ts';
import { buildPackage as buildSdk } from '../sdk/scripts/build.ts';

const TARGET = fileURLToPath(new URL('../dist/packages', import.meta.url));

/** Builds and packs all packages. Returns the names of the tarballs, which are the same for the same sources. */
export async function buildPackages(target = TARGET): Promise<readonly string[]> {
  mkdirSync(target, { recursive: true });
  // In the same file system, so that a server never reads half a tarball.
  const scratch = mkdtempSync(join(target, '.build-'));
  try {
    buildSdk(join(scratch, 'sdk'));
    await buildCli(join(scratch, 'cli'));
    return ['sdk', 'cli'].map((name) => {
      const tarball = pack(join(scratch, name), scratch);
      renameSync(join(scratch, tarball), join(target, tarball));
      return tarball;
    });
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
  for (const name of await buildPackages()) process.stdout.write(`wrote dist/packages/${name}\n`);
}
