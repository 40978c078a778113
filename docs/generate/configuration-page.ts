import { SETTINGS } from '../../server/src/config.ts';
import { code, parts, prose } from './markdown.ts';
import type { Page } from './page.ts';

type Setting = (typeof SETTINGS)[keyof typeof SETTINGS];

export function configurationPage(): Page {
  const items = Object.entries(SETTINGS).map(([name, setting]) => {
    const missing = setting.safeParse(undefined);
    const fallback = !missing.success
      ? 'required'
      : missing.data === undefined
        ? 'optional'
        : missing.data === ''
          ? 'empty if left out'
          : `${code(String(missing.data))} if left out`;
    return `- **${code(name)}** *${fallback}*<br>${prose(descriptionOf(setting))}`;
  });
  return {
    slug: 'operating/configuration',
    title: 'Configuration',
    description: 'Every setting of the server.',
    body: parts(
      'The server reads its environment once, at the start, and reports every fault of it at once. An unknown `CAUDAL_…`, `BREB_…` or `PSE_…` variable is a fault too, so a misspelt one is noticed.',
      `<div class="fields">\n\n${items.join('\n')}\n\n</div>`,
    ),
  };
}

/** The description may sit on the schema itself or on the one it wraps. */
function descriptionOf(setting: Setting): string {
  if (setting.description) return setting.description;
  const inner: unknown =
    'unwrap' in setting ? (setting.unwrap as () => { description?: string })().description : undefined;
  return typeof inner === 'string' ? inner : '';
}
