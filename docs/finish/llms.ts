import { SIDEBAR } from '../src/sidebar.ts';
import { textAddress } from './page-links.ts';
import type { SourcePage } from './plain-text.ts';

const LEAD = `# Caudal

> Payins, payouts and hosted payment links on Colombia's Bre-B and PSE rails, as software anyone can run. This site describes its API, SDK and command line. Every page is also available as plain Markdown at the URL listed here.

Machine-readable: [openapi.json](/openapi.json). Everything below in one file: [llms-full.txt](/llms-full.txt).`;

/** The page index for language models (llmstxt.org). */
export function llmsText(pages: readonly SourcePage[]): string {
  const bySlug = new Map(pages.map((page) => [page.slug, page]));
  const listed = SIDEBAR.map(({ label, items }) => ({
    label,
    pages: items.flatMap((item) => bySlug.get(item === 'index' ? '' : item) ?? []),
  }));
  const named = new Set(listed.flatMap((group) => group.pages));
  const others = pages.filter((page) => !named.has(page));
  const groups = [
    ...listed,
    { label: 'Problems', pages: others.filter(({ slug }) => slug.startsWith('errors/')) },
    { label: 'Optional', pages: others.filter(({ slug }) => !slug.startsWith('errors/')) },
  ];
  const line = ({ slug, title, description }: SourcePage) =>
    `- [${title}](${textAddress(slug)})${description === '' ? '' : `: ${description}`}`;
  return `${LEAD}\n\n${groups
    .filter((group) => group.pages.length > 0)
    .map((group) => `## ${group.label}\n\n${group.pages.map(line).join('\n')}`)
    .join('\n\n')}\n`;
}
