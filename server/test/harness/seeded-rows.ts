import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** Something that must not be found, in every shape in which it could have been kept without being encrypted. */
export interface Needle {
  readonly name: string;
  readonly bytes: Buffer;
}

export function needlesFor(name: string, value: string | Buffer): Needle[] {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(value, 'utf8');
  const shapes: [string, Buffer][] = [
    ['plain', bytes],
    ['hex', Buffer.from(bytes.toString('hex'))],
    ['HEX', Buffer.from(bytes.toString('hex').toUpperCase())],
    ...[0, 1, 2].map((shift): [string, Buffer] => [`base64+${shift}`, base64At(bytes, shift)]),
  ];
  if (typeof value === 'string') shapes.push(['utf16', Buffer.from(value, 'utf16le')]);
  const seen = new Set<string>();
  return shapes
    .filter(([, shape]) => {
      const text = shape.toString('latin1');
      return seen.has(text) ? false : seen.add(text);
    })
    .map(([shape, shaped]) => ({ name: `${name} (${shape})`, bytes: shaped }));
}

/** The characters that a value always has in base64, wherever in a longer text it stands: one of three ways. */
function base64At(bytes: Buffer, shift: number): Buffer {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  const from = Math.ceil((shift * 8) / 6);
  const to = Math.floor(((shift + bytes.length) * 8) / 6);
  return Buffer.from(text.slice(from, to));
}

/** Names of the needles that are in it. */
export function found(needles: readonly Needle[], haystack: Buffer | string): string[] {
  const bytes = typeof haystack === 'string' ? Buffer.from(haystack, 'utf8') : haystack;
  return needles.filter((needle) => bytes.includes(needle.bytes)).map((needle) => needle.name);
}

interface FoundInFile {
  readonly file: string;
  readonly name: string;
}

/**
 * Reads the files of a PostgreSQL cluster as bytes. Those of other databases, and those not written since a moment
 * before the needles existed, cannot hold them and are left out.
 */
export function foundInCluster(
  needles: readonly Needle[],
  cluster: { readonly dataDir: string; readonly databaseOid: string; readonly sinceMs: number },
): FoundInFile[] {
  const hits: FoundInFile[] = [];
  for (const entry of readdirSync(cluster.dataDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const file = relative(cluster.dataDir, path);
    const [top, second] = file.split(sep);
    if (!entry.isFile() || (top === 'base' && second !== cluster.databaseOid)) continue;
    const bytes = contentsSince(path, cluster.sinceMs);
    if (bytes) hits.push(...found(needles, bytes).map((name) => ({ file, name })));
  }
  return hits;
}

/** Null for a file that is older, or that PostgreSQL has removed since it was listed. */
function contentsSince(path: string, sinceMs: number): Buffer | null {
  try {
    return statSync(path).mtimeMs < sinceMs ? null : readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
