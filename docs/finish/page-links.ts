import { posix } from 'node:path';

/**
 * Pages link to each other by file, so that links work in the repository too. On the site a page has no `.md`; its
 * plain-text twin has.
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
