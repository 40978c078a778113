import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** One file of the built site, as docs/build.ts wrote it down. */
export interface SiteFile {
  /** Below the site's folder. */
  readonly path: string;
  readonly type: string;
  /** Of its content. */
  readonly hash: string;
  /** Encodings in which it lies beside itself, best first. */
  readonly encodings: readonly ('br' | 'gzip')[];
  /** Its name changes with its content. */
  readonly forever: boolean;
}

export interface Site {
  readonly folder: string;
  /** Content-Security-Policy of its pages, with the hashes of their scripts. */
  readonly policy: string;
  /** By address below /docs, as a reader writes it: `guides/quickstart`, `_astro/x.css`. Nothing else is served. */
  readonly files: ReadonlyMap<string, SiteFile>;
}

const LIST = 'site.json';

/** The built site, read again when it was built again; null while there is none. */
export function siteIn(folder: string): () => Promise<Site | null> {
  let known: { readonly at: number; readonly site: Site } | null = null;
  return async () => {
    const list = join(folder, LIST);
    const at = await stat(list).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    );
    if (at === null) return null;
    if (known?.at !== at) {
      const { policy, files } = JSON.parse(await readFile(list, 'utf8')) as {
        policy: string;
        files: Record<string, SiteFile>;
      };
      known = { at, site: { folder, policy, files: new Map(Object.entries(files)) } };
    }
    return known.site;
  };
}
