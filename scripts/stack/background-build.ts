import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Build output, or not part of what is built. */
const IGNORED = new Set([
  'dist',
  '.build',
  '.generated',
  '.astro',
  '.lock',
  '.run',
  'node_modules',
  'test',
  'decisions',
]);

/** Something that the server serves besides the API and that `npm run dev` builds while the stack is running. */
export interface BuildTarget {
  readonly title: string;
  /** The npm script that builds it, and its program. */
  readonly script: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly sources: readonly string[];
  /** Exists once it is built, and is newer than the sources. */
  readonly output: string;
}

export const DOCS: BuildTarget = {
  title: 'docs',
  script: 'docs',
  program: 'docs/build.ts',
  args: [],
  sources: ['docs'],
  output: 'docs/dist/site.json',
};

export const PACKAGES: BuildTarget = {
  title: 'packages of the SDK and the command line',
  script: 'packages',
  program: 'scripts/build-packages.ts',
  args: ['--replace'],
  sources: ['sdk', 'cli', 'command-tree', 'scripts/packages'],
  output: 'dist/packages/complete',
};

/** Whether the output is missing or older than its sources. */
export function isStale({ sources, output }: BuildTarget): boolean {
  const built = statSync(join(ROOT, output), { throwIfNoEntry: false });
  return built === undefined || sources.some((folder) => newestMtimeMs(join(ROOT, folder)) > built.mtimeMs);
}

function newestMtimeMs(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !IGNORED.has(name))
    .map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? newestMtimeMs(path) : statSync(path).mtimeMs;
    })
    .reduce((newest, each) => Math.max(newest, each), 0);
}

export interface BackgroundBuild {
  readonly done: Promise<'built' | 'failed' | 'stopped'>;
  readonly stop: () => Promise<unknown>;
  readonly kill: () => void;
}

/** Builds at low priority while the stack is running. */
export function buildInBackground({ program, args }: BuildTarget): BackgroundBuild {
  const child = spawn(process.execPath, [join(ROOT, program), ...args], { stdio: 'ignore', detached: true });
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const done = new Promise<'built' | 'failed' | 'stopped'>((resolve) => {
    child.once('error', () => resolve('failed'));
    child.once('exit', (code, signal) => resolve(code === 0 ? 'built' : signal ? 'stopped' : 'failed'));
  });
  // Kills the whole process group: the build starts child processes too.
  const kill = () => {
    try {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The process has already exited.
    }
  };
  const stop = () => {
    kill();
    return done;
  };
  return { done, kill, stop };
}
