/** An entry of package-lock.json. */
export interface LockedPackage {
  version?: string;
  integrity?: string;
  license?: string;
  link?: boolean;
  optional?: boolean;
  dev?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

export interface Lockfile {
  readonly version: string;
  packages: Record<string, LockedPackage>;
}

/** The name in a path such as `node_modules/a/node_modules/@scope/b`. */
export function packageName(path: string): string {
  return path.split('node_modules/').at(-1) ?? path;
}

/** Packages of the registry; the others are the workspaces. */
export function registryPackages({ packages }: Lockfile): Map<string, LockedPackage> {
  return new Map(
    Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && link !== true),
  );
}

/** Packages that `npm ci --omit=dev` installs, for all platforms. */
export function productionPackages(lock: Lockfile): Map<string, LockedPackage> {
  return new Map([...registryPackages(lock)].filter(([, { dev }]) => dev !== true));
}
