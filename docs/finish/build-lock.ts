import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WAIT_MS = 180_000;
const POLL_INTERVAL_MS = 200;

/** Serializes builds: `npm run dev` and tests may build at the same time, but Astro uses shared folders. */
export function withBuildLock(lock: string, work: () => void): void {
  const deadline = performance.now() + WAIT_MS;
  while (!acquire(lock)) {
    if (performance.now() > deadline)
      throw new Error(`another build holds ${lock}: stop it, or remove that folder`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_INTERVAL_MS);
  }
  try {
    work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function acquire(lock: string): boolean {
  try {
    mkdirSync(lock);
    writeFileSync(join(lock, 'pid'), String(process.pid));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (!isAlive(readHolder(lock))) rmSync(lock, { recursive: true, force: true });
  return false;
}

/** Null when the holder has not written its pid yet. */
function readHolder(lock: string): number | null {
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
