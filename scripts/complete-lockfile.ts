/**
 * npm omits a platform-specific package from the lockfile when the configured registry does not have it, and `npm ci`
 * then rejects the lockfile on every machine. This script adds missing packages, and the checksum of every package that
 * has none, from the metadata of the registry.
 *
 * `--check` (part of npm run check) fails when a package is missing, and when a package has no checksum that production
 * or this machine would install. The packages that remain are development tools for other platforms which the registry
 * of the last run did not have: run the script with a registry that has them before you develop on such a platform.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type LockedPackage, type Lockfile, packageName, registryPackages } from './stack/lockfile.ts';
import { lockfileProblems } from './stack/lockfile-problems.ts';

const FILE = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const PROCESSORS = [
  'arm64',
  'arm',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
];

const REGISTRY = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
const lock = JSON.parse(readFileSync(FILE, 'utf8')) as Lockfile;
const missing = Object.entries(lock.packages).flatMap(([path, parent]) =>
  Object.entries(parent.optionalDependencies ?? {})
    .filter(
      ([name]) => !lock.packages[`${path}/node_modules/${name}`] && !lock.packages[`node_modules/${name}`],
    )
    .map(([name, range]) => ({ name, entry: entryFor(name, range, parent.dev === true) })),
);

if (process.argv.includes('--check')) {
  const problems = [
    ...missing.map(({ name }) => `${name} is missing`),
    ...lockfileProblems(lock, {
      os: process.platform,
      cpu: process.arch,
      libc: existsSync('/etc/alpine-release') ? 'musl' : 'glibc',
    }),
  ];
  if (problems.length > 0) {
    console.error(`package-lock.json:\n${problems.join('\n')}\nRun: node scripts/complete-lockfile.ts`);
    process.exitCode = 1;
  }
} else {
  for (const { name, entry } of missing) lock.packages[`node_modules/${name}`] = entry;
  const without = [...registryPackages(lock)].filter(([, { integrity }]) => integrity === undefined);
  const found = await Promise.all(without.map(([path, entry]) => addChecksum(path, entry)));
  const sorted = Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(FILE, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
  const added = found.filter(Boolean).length;
  console.log(
    `added ${missing.length} packages for other platforms and ${added} checksums; the registry has no checksum of ${without.length - added}`,
  );
}

/** @returns whether the registry has the version and its checksum */
async function addChecksum(path: string, entry: LockedPackage): Promise<boolean> {
  const name = packageName(path).replace('/', '%2f');
  const response = await fetch(new URL(name, REGISTRY), { signal: AbortSignal.timeout(30_000) });
  if (!response.ok) return false;
  const { versions } = (await response.json()) as {
    versions?: Record<string, { dist?: { integrity?: string } }>;
  };
  const integrity = versions?.[entry.version ?? '']?.dist?.integrity;
  if (integrity === undefined) return false;
  entry.integrity = integrity;
  return true;
}

/** Derives the platform from the package name, for example `@biomejs/cli-linux-arm64-musl`. */
function entryFor(name: string, range: string, dev: boolean): LockedPackage {
  const parts = name.replace('windows', 'win32').split(/[-/.]/);
  const os = SYSTEMS.filter((system) => parts.includes(system));
  const cpu = PROCESSORS.filter((processor) => parts.includes(processor));
  const libc = parts.includes('musl') ? ['musl'] : parts.includes('gnu') ? ['glibc'] : [];
  return {
    version: range.replace(/^[~^]/, ''),
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(dev ? { dev } : {}),
    ...(libc.length > 0 ? { libc } : {}),
    optional: true,
    ...(os.length > 0 ? { os } : {}),
  };
}
