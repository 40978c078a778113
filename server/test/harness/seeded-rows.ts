import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

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
  const foreign = (folder: string) =>
    dirname(folder) === join(cluster.dataDir, 'base') && basename(folder) !== cluster.databaseOid;
  for (const path of filesBelow(cluster.dataDir, foreign)) {
    const file = relative(cluster.dataDir, path);
    const bytes = readIfModifiedSince(path, cluster.sinceMs);
    if (bytes) hits.push(...findNeedles(needles, bytes).map((name) => ({ file, name })));
  }
  return hits;
}

/** Other tests drop their databases meanwhile: a folder may disappear after it was listed. */
function filesBelow(folder: string, isSkipped: (folder: string) => boolean): string[] {
  return (unlessRemoved(() => readdirSync(folder, { withFileTypes: true })) ?? []).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return [path];
    return entry.isDirectory() && !isSkipped(path) ? filesBelow(path, isSkipped) : [];
  });
}

/** Null for an older file, or one that PostgreSQL removed after it was listed. */
function readIfModifiedSince(path: string, sinceMs: number): Buffer | null {
  return unlessRemoved(() => (statSync(path).mtimeMs < sinceMs ? null : readFileSync(path)));
}

function unlessRemoved<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
