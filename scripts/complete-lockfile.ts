/**
 * npm omits a platform-specific package from the lockfile when the configured registry does not have it, and `npm ci`
 * then rejects the lockfile on every machine. This script adds missing packages without a checksum: npm downloads them
 * only on their platform. `--check` (part of npm run check) fails when a package is missing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface LockedPackage {
  version?: string;
  optional?: boolean;
  dev?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

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

const lock = JSON.parse(readFileSync(FILE, 'utf8')) as { packages: Record<string, LockedPackage> };
const missing = Object.entries(lock.packages).flatMap(([path, parent]) =>
  Object.entries(parent.optionalDependencies ?? {})
    .filter(
      ([name]) => !lock.packages[`${path}/node_modules/${name}`] && !lock.packages[`node_modules/${name}`],
    )
    .map(([name, range]) => ({ name, entry: entryFor(name, range, parent.dev === true) })),
);

if (process.argv.includes('--check')) {
  if (missing.length > 0) {
    console.error(
      `package-lock.json lacks ${missing.map(({ name }) => name).join(', ')}.\nRun: node scripts/complete-lockfile.ts`,
    );
    process.exitCode = 1;
  }
} else {
  for (const { name, entry } of missing) lock.packages[`node_modules/${name}`] = entry;
  const sorted = Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(FILE, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
  console.log(`added ${missing.length} packages for other platforms`);
}

/** Derives the platform from the package name, for example `@biomejs/cli-linux-arm64-musl`. */
function entryFor(name: string, range: string, dev: boolean): LockedPackage {
  const parts = name.split(/[-/.]/);
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
