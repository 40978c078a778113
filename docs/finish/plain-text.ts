import { resolveLink, textAddress } from './page-links.ts';

export interface SourcePage {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  /** Markdown without its front matter. */
  readonly body: string;
}

/** Front matter has one line per name. */
export function sourcePage(slug: string, text: string): SourcePage {
  const [, front = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  const value = (name: string): string => {
    const found = new RegExp(`^${name}: (.*)$`, 'm').exec(front)?.[1] ?? '';
    return found.startsWith('"') ? (JSON.parse(found) as string) : found.replace(/^'(.*)'$/, '$1');
  };
  if (value('title') === '') throw new Error(`the page ${slug} has no title`);
  return { slug, title: value('title'), description: value('description'), body: body.trim() };
}

/** The page as plain Markdown: without HTML and diagrams, with links to other Markdown versions. */
export function plainText({ slug, title, body }: SourcePage): string {
  const text = body
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part) => (part.startsWith('```') ? withoutMarks(part) : withoutMarkup(slug, part)))
    .join('');
  return `# ${title}\n\n${text.replaceAll(/\n{3,}/g, '\n\n').trim()}\n`;
}

/** Removes the marks after the language, which are for the tests. */
function withoutMarks(fence: string): string {
  return fence.replace(/^(```\w*)[^\n]*/, '$1');
}

function withoutMarkup(slug: string, text: string): string {
  return text
    .replaceAll(/<figure class="diagram">[\s\S]*?<\/figure>/g, '')
    .replaceAll(/<\/?(?:div|p|span)\b[^>]*>/g, '')
    .replaceAll(/<\/?strong>/g, '**')
    .replaceAll(/^(\s*)- (.*?)<br>/gm, '$1- $2: ')
    .replaceAll('<br>', '  \n')
    .replaceAll(/^:::(\w+)(?:\[(.*?)\])?$/gm, (_, kind: string, title?: string) => `**${title ?? kind}**`)
    .replaceAll(/^:::$/gm, '')
    .replaceAll('&lt;', '<')
    .replaceAll(/!\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\]\(([^)\s]+)\)/g, (whole, link: string) => {
      const target = resolveLink(slug, link);
      return target ? `](${textAddress(target.slug)}${target.rest})` : whole;
    });
}
