import { type LockedPackage, type Lockfile, registryPackages } from './lockfile.ts';

interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly libc: string;
}

/**
 * Packages without a checksum that could run: every package of production, every package that is not bound to a
 * platform, and those of the given platform. npm installs such a package without verifying what it downloaded.
 */
export function lockfileProblems(lock: Lockfile, platform: Platform): string[] {
  return [...registryPackages(lock)]
    .filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''))
    .filter(([, entry]) => !isForOtherPlatform(entry, platform))
    .map(([path]) => `${path} has no sha512 checksum`);
}

/** A development tool that npm does not install on this platform. */
function isForOtherPlatform(entry: LockedPackage, platform: Platform): boolean {
  const excluded = (['os', 'cpu', 'libc'] as const).some(
    (kind) => entry[kind] !== undefined && !entry[kind].includes(platform[kind]),
  );
  return entry.dev === true && entry.optional === true && excluded;
}
