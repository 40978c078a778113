import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export const BASE_IMAGE = 'localhost/base';
export const IMAGE = 'localhost/caudal';

/** The user of the image. */
export const IMAGE_USER = 10001;

/** Arguments that select the image store in a folder. The vfs driver works inside containers too. */
export function storeArgs(folder: string): string[] {
  return ['--storage-driver=vfs', `--root=${join(folder, 'store')}`, `--runroot=${join(folder, 'run')}`];
}

/** Runs buildah to its end and returns what it printed. */
export function buildah(folder: string, args: readonly string[], cwd?: string): string {
  return execFileSync('buildah', [...storeArgs(folder), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
    ...(cwd === undefined ? {} : { cwd }),
  }).trim();
}
