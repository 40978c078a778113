import { chmodSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** A complete run needs less than half of it. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * Creates a folder for the data directory of a test's PostgreSQL: in memory where there is room, otherwise on the disk.
 * The server does not start on a PostgreSQL without `fsync`, and the waits for the disk add up: creating and dropping a
 * database syncs a thousand files. A process that is killed loses nothing in memory that it would keep on a disk.
 */
export function makeDatabaseFolder(prefix: string): string {
  const folder = mkdtempSync(join(hasRoom() ? MEMORY : tmpdir(), prefix));
  // PostgreSQL runs as another user when this process is root, and must be able to enter the folder.
  chmodSync(folder, 0o755);
  return folder;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= NEEDED_BYTES;
  } catch {
    return false;
  }
}
