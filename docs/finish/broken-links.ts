/** Links of the site to a missing page, file or anchor. */
export function brokenLinks(
  pages: ReadonlyMap<string, string>,
  files: { has(address: string): boolean },
): readonly string[] {
  const anchors = new Map(
    [...pages].map(([slug, html]) => [
      slug,
      new Set([...html.matchAll(/\sid="([^"]+)"/g)].map((match) => decode(match[1] ?? ''))),
    ]),
  );
  return [...pages].flatMap(([slug, html]) =>
    [...new Set([...html.matchAll(/\s(?:href|src)="([^"]+)"/g)].map((match) => decode(match[1] ?? '')))]
      .filter((link) => !resolves(link, slug, files, anchors))
      .map((link) => `/docs/${slug} links to ${link}`),
  );
}

/** Served by the server, not part of the site. */
const SERVED_BY_SERVER = ['/openapi.json', '/packages', '/llms.txt', '/llms-full.txt'];

function resolves(
  link: string,
  slug: string,
  files: { has(address: string): boolean },
  anchors: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  if (/^(?:https:|mailto:|data:|http:\/\/127\.0\.0\.1:4010)/.test(link) || SERVED_BY_SERVER.includes(link))
    return true;
  const [, path = '', hash] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/.exec(link) ?? [];
  const target =
    path === '' ? slug : /^\/docs(?:\/(.*))?$/.exec(path) ? path.replace(/^\/docs\/?/, '') : null;
  if (target === null || !files.has(target)) return false;
  return hash === undefined || hash === '' || anchors.get(target)?.has(decodeURIComponent(hash)) === true;
}

function decode(text: string): string {
  return text
    .replaceAll('&amp;', '&')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#x27;', "'");
}
