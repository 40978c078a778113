/**
 * npm run docs: builds the site that the server serves at /docs. Generates pages from code, runs Astro, then adds what
 * the server needs: Markdown versions, llms.txt, compressed files and the content security policy. A broken link fails it.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brokenLinks } from './finish/broken-links.ts';
import { withBuildLock } from './finish/build-lock.ts';
import { filesBelow } from './finish/files.ts';
import { finishHtml } from './finish/html.ts';
import { llmsText } from './finish/llms.ts';
import { plainText, type SourcePage, sourcePage } from './finish/plain-text.ts';
import { contentSecurityPolicy } from './finish/policy.ts';
import { listFiles, pageAddress } from './finish/site-list.ts';
import { allPages } from './generate/all-pages.ts';
import { pageText } from './generate/page.ts';
import { SIDEBAR } from './src/sidebar.ts';

const ROOT = fileURLToPath(new URL('.', import.meta.url));
const GENERATED = join(ROOT, '.generated');
const BUILD = join(ROOT, '.build');
const DIST = join(ROOT, 'dist');

function main(): void {
  const startedAt = performance.now();
  rmSync(GENERATED, { recursive: true, force: true });
  for (const page of allPages()) write(join(GENERATED, `${page.slug}.md`), pageText(page));
  const sources = sourcePages();
  buildPages();
  const pages = finishPages();
  for (const source of sources) write(join(BUILD, textPath(source.slug)), plainText(source));
  write(join(BUILD, 'llms.txt'), llmsText(sources));
  write(
    join(BUILD, 'llms-full.txt'),
    sources
      .filter(({ slug }) => !slug.startsWith('es/'))
      .map(plainText)
      .join('\n\n'),
  );
  const files = listFiles(BUILD, filesBelow(BUILD));
  failIfAny('pages are missing in docs/src/sidebar.ts', unlistedPages(sources));
  failIfAny('links are broken', brokenLinks(pages, new Set(Object.keys(files))));
  const policy = contentSecurityPolicy([...pages.values()]);
  write(join(BUILD, 'site.json'), JSON.stringify({ policy, files }));
  rmSync(DIST, { recursive: true, force: true });
  renameSync(BUILD, DIST);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(
    `${pages.size} pages in docs/dist, ${seconds} s. A running server serves them at /docs.\n`,
  );
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function textPath(slug: string): string {
  return `${slug === '' ? 'index' : slug}.md`;
}

/** The Markdown source of every page, in the order of the sidebar folders. */
function sourcePages(): readonly SourcePage[] {
  const written = [
    'index.md',
    ...['guides', 'concepts', 'operating', 'security'].flatMap((folder) => markdownFiles(folder)),
  ];
  const all = [...written, ...markdownFiles('.generated')];
  return all.map((path) => {
    const slug = path.replace(/^\.generated\//, '').replace(/\.md$/, '');
    return sourcePage(slug === 'index' ? '' : slug, readFileSync(join(ROOT, path), 'utf8'));
  });
}

function markdownFiles(folder: string): readonly string[] {
  return filesBelow(join(ROOT, folder))
    .filter((path) => path.endsWith('.md'))
    .map((path) => `${folder}/${path}`);
}

function buildPages(): void {
  rmSync(BUILD, { recursive: true, force: true });
  const astro = fileURLToPath(new URL('../node_modules/astro/bin/astro.mjs', import.meta.url));
  const run = spawnSync(process.execPath, [astro, 'build', '--force', '--root', ROOT], {
    encoding: 'utf8',
    // A minimal environment: Vite would use the caller's BASE_URL or NODE_ENV.
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_ENV: 'production',
      ASTRO_TELEMETRY_DISABLED: '1',
      NO_COLOR: '1',
    },
  });
  if (run.status !== 0) throw new Error(`astro build failed:\n${run.stdout}${run.stderr}`);
}

function finishPages(): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  for (const path of filesBelow(BUILD).filter((each) => each.endsWith('.html'))) {
    const slug = pageAddress(path);
    const html = finishHtml(slug, readFileSync(join(BUILD, path), 'utf8'));
    write(join(BUILD, path), html);
    pages.set(slug, html);
  }
  return pages;
}

function unlistedPages(sources: readonly SourcePage[]): readonly string[] {
  const listed = new Set<string>(SIDEBAR.flatMap(({ items }) => items));
  return sources
    .map(({ slug }) => slug)
    .filter((slug) => slug !== '' && !listed.has(slug) && !/^(?:es\/)?errors(?:\/|$)/.test(slug));
}

function failIfAny(what: string, found: readonly string[]): void {
  if (found.length > 0) throw new Error(`${found.length} ${what}:\n  ${found.slice(0, 40).join('\n  ')}`);
}

try {
  withBuildLock(join(ROOT, '.lock'), main);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
