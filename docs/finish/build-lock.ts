import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WAIT_MS = 180_000;
const LOOK_EVERY_MS = 200;

/** `npm run dev` builds in the background and so may a test: whoever comes second waits, for Astro shares its folders. */
export function oneAtATime(lock: string, work: () => void): void {
  const deadline = performance.now() + WAIT_MS;
  while (!take(lock)) {
    if (performance.now() > deadline)
      throw new Error(`another build holds ${lock}: end it, or remove that folder`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS);
  }
  try {
    work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function take(lock: string): boolean {
  try {
    mkdirSync(lock);
    writeFileSync(join(lock, 'pid'), String(process.pid));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (!isAlive(holderOf(lock))) rmSync(lock, { recursive: true, force: true });
  return false;
}

/** Null: whoever has just taken it has not said yet who it is. */
function holderOf(lock: string): number | null {
  try {
    return Number(readFileSync(join(lock, 'pid'), 'utf8'));
  } catch {
    return null;
  }
}

function isAlive(pid: number | null): boolean {
  if (pid === null || pid === 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
