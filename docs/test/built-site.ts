import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SiteFile } from '../../server/src/http/docs/site.ts';

const DOCS = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(DOCS, 'dist');

/** The site as built by `npm run docs`. */
export interface BuiltSite {
  readonly policy: string;
  readonly files: ReadonlyMap<string, SiteFile>;
  /** HTML by URL path. */
  readonly pages: ReadonlyMap<string, string>;
  /** Content of a file. */
  text(address: string): string;
}

export function buildSite(): BuiltSite {
  const run = spawnSync(process.execPath, [join(DOCS, 'build.ts')], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`npm run docs failed:\n${run.stdout}${run.stderr}`);
  const list = JSON.parse(readFileSync(join(DIST, 'site.json'), 'utf8')) as {
    policy: string;
    files: Record<string, SiteFile>;
  };
  const files = new Map(Object.entries(list.files));
  const text = (address: string): string => {
    const file = files.get(address);
    if (!file) throw new Error(`the site has no ${address}`);
    return readFileSync(join(DIST, file.path), 'utf8');
  };
  const html = [...files].filter(([, { type }]) => type.startsWith('text/html')).map(([address]) => address);
  return {
    policy: list.policy,
    files,
    pages: new Map(html.map((address) => [address, text(address)])),
    text,
  };
}

/** The content of a page between header and footer. */
export function pageContent(html: string): string {
  const from = html.indexOf('sl-markdown-content');
  const to = html.indexOf('<footer', from);
  return html.slice(from, to < 0 ? undefined : to);
}

function unescaped(text: string): string {
  return text
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&');
}

/** Field names in the field lists of a page. */
export function fieldNames(html: string): ReadonlySet<string> {
  const names = [
    ...pageContent(html).matchAll(/<li>\s*(?:<p>)?<strong><code[^>]*>([\s\S]*?)<\/code><\/strong>/g),
  ];
  return new Set(names.map((match) => unescaped(match[1] ?? '')));
}

export function headings(html: string, level: number): readonly string[] {
  const found = pageContent(html).matchAll(new RegExp(`<h${level}\\b[^>]*>([\\s\\S]*?)</h${level}>`, 'g'));
  return [...found].map((match) => unescaped(match[1] ?? '').trim());
}

/** The first cell of each table row of a page. */
export function firstCells(html: string): readonly string[] {
  return [...pageContent(html).matchAll(/<tr>\s*<td[^>]*>([\s\S]*?)<\/td>/g)].map((match) =>
    unescaped(match[1] ?? ''),
  );
}
