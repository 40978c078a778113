import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** One file of the built site, as listed by docs/build.ts. */
export interface SiteFile {
  /** Relative to the site's folder. */
  readonly path: string;
  readonly type: string;
  /** Hash of the content. */
  readonly hash: string;
  /** Precompressed variants next to the file, best first. */
  readonly encodings: readonly ('br' | 'gzip')[];
  /** The name contains a hash of the content. */
  readonly immutable: boolean;
  /** The text contains `EXAMPLE_ADDRESS`, which the server replaces with its own address. */
  readonly hasExampleAddress: boolean;
}

/** The address of the server in the sources of the site: where `npm run dev` listens. */
export const EXAMPLE_ADDRESS = 'http://127.0.0.1:8080';

export interface Site {
  readonly folder: string;
  /** Content-Security-Policy of the pages, with the hashes of their scripts. */
  readonly policy: string;
  /** By path below /docs: `guides/quickstart`, `_astro/x.css`. No other file is served. */
  readonly files: ReadonlyMap<string, SiteFile>;
}

const MANIFEST = 'site.json';

/** Loads the built site, again after each build; null while it is not built. */
export function siteLoader(folder: string): () => Promise<Site | null> {
  let cached: { readonly mtimeMs: number; readonly site: Site } | null = null;
  return async () => {
    const manifest = join(folder, MANIFEST);
    const mtimeMs = await stat(manifest).then(
      (stats) => stats.mtimeMs,
      () => null,
    );
    if (mtimeMs === null) return null;
    if (cached?.mtimeMs !== mtimeMs) {
      const { policy, files } = JSON.parse(await readFile(manifest, 'utf8')) as {
        policy: string;
        files: Record<string, SiteFile>;
      };
      cached = { mtimeMs, site: { folder, policy, files: new Map(Object.entries(files)) } };
    }
    return cached.site;
  };
}
