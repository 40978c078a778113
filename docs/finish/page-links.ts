import { posix } from 'node:path';

/**
 * Resolves a link between pages. Pages link to each other by file name, so that links work in the repository too. On the
 * site the HTML page has no `.md` suffix; its Markdown version has.
 */
export function resolveLink(
  slug: string,
  link: string,
): { readonly slug: string; readonly rest: string } | null {
  const absolute = /^\/docs\/?([^?#]*)(.*)$/.exec(link);
  if (absolute) return { slug: absolute[1] ?? '', rest: absolute[2] ?? '' };
  const relative = /^(?![a-z]+:|\/|#)([^?#]*)\.md(.*)$/.exec(link);
  if (!relative) return null;
  const target = posix.normalize(posix.join(posix.dirname(slug === '' ? 'index' : slug), relative[1] ?? ''));
  return { slug: target === 'index' ? '' : target.replace(/\/index$/, ''), rest: relative[2] ?? '' };
}

export function siteAddress(slug: string): string {
  return slug === '' ? '/docs' : `/docs/${slug}`;
}

export function textAddress(slug: string): string {
  return `/docs/${slug === '' ? 'index' : slug}.md`;
}
