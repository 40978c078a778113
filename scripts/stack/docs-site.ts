import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCS = fileURLToPath(new URL('../../docs', import.meta.url));
/** Made by a build, or no part of it. */
const NOT_WRITTEN = new Set([
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

/** Whether `npm run docs` has something to do: the site is missing, or older than what it is made of. */
export function docsAreStale(): boolean {
  const built = statSync(join(DOCS, 'dist', 'site.json'), { throwIfNoEntry: false });
  return built === undefined || newestIn(DOCS) > built.mtimeMs;
}

function newestIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !NOT_WRITTEN.has(name))
    .map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? newestIn(path) : statSync(path).mtimeMs;
    })
    .reduce((newest, each) => Math.max(newest, each), 0);
}

export interface DocsBuild {
  readonly done: Promise<'built' | 'failed' | 'stopped'>;
  readonly stop: () => Promise<unknown>;
  readonly kill: () => void;
}

/** Builds the site beside a stack that runs already, and lets everything else go first. */
export function buildDocs(): DocsBuild {
  const child = spawn(process.execPath, [join(DOCS, 'build.ts')], { stdio: 'ignore', detached: true });
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const done = new Promise<'built' | 'failed' | 'stopped'>((resolve) => {
    child.once('error', () => resolve('failed'));
    child.once('exit', (code, signal) => resolve(code === 0 ? 'built' : signal ? 'stopped' : 'failed'));
  });
  // A group of its own: the build starts programs too, and they must end with it.
  const kill = () => {
    try {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  };
  const stop = () => {
    kill();
    return done;
  };
  return { done, kill, stop };
}
