import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** Every file below a folder, as paths from it with forward slashes. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}
