import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** A byte sequence that must not appear, in one encoding in which unencrypted data could have been stored. */
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

/** The base64 characters of a value that do not depend on its neighbors, for one of three alignments. */
function base64At(bytes: Buffer, shift: number): Buffer {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  const from = Math.ceil((shift * 8) / 6);
  const to = Math.floor(((shift + bytes.length) * 8) / 6);
  return Buffer.from(text.slice(from, to));
}

/** Names of the needles that occur in the haystack. */
export function findNeedles(needles: readonly Needle[], haystack: Buffer | string): string[] {
  const bytes = typeof haystack === 'string' ? Buffer.from(haystack, 'utf8') : haystack;
  return needles.filter((needle) => bytes.includes(needle.bytes)).map((needle) => needle.name);
}

interface NeedleHit {
  readonly file: string;
  readonly name: string;
}

/**
 * Searches the files of a PostgreSQL cluster as bytes. Skips other databases and files last written before
 * the needles existed.
 */
export function findInCluster(
  needles: readonly Needle[],
  cluster: { readonly dataDir: string; readonly databaseOid: string; readonly sinceMs: number },
): NeedleHit[] {
  const hits: NeedleHit[] = [];
  for (const entry of readdirSync(cluster.dataDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const file = relative(cluster.dataDir, path);
    const [top, second] = file.split(sep);
    if (!entry.isFile() || (top === 'base' && second !== cluster.databaseOid)) continue;
    const bytes = readIfModifiedSince(path, cluster.sinceMs);
    if (bytes) hits.push(...findNeedles(needles, bytes).map((name) => ({ file, name })));
  }
  return hits;
}

/** Null for an older file, or one that PostgreSQL removed after it was listed. */
function readIfModifiedSince(path: string, sinceMs: number): Buffer | null {
  try {
    return statSync(path).mtimeMs < sinceMs ? null : readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
