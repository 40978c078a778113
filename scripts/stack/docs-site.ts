import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCS = fileURLToPath(new URL('../../docs', import.meta.url));
/** Build output, or not part of the site. */
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

/** Whether the built site is missing or older than its sources. */
export function docsAreStale(): boolean {
  const built = statSync(join(DOCS, 'dist', 'site.json'), { throwIfNoEntry: false });
  return built === undefined || newestMtimeMs(DOCS) > built.mtimeMs;
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

export interface DocsBuild {
  readonly done: Promise<'built' | 'failed' | 'stopped'>;
  readonly stop: () => Promise<unknown>;
  readonly kill: () => void;
}

/** Builds the site at low priority while the stack is running. */
export function buildDocs(): DocsBuild {
  const child = spawn(process.execPath, [join(DOCS, 'build.ts')], { stdio: 'ignore', detached: true });
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
