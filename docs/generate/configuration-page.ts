import { rolesWith } from '../../server/src/settings/role-settings.ts';
import { fileSetting, SETTINGS_WITH_FILES } from '../../server/src/settings/secret-files.ts';
import { SETTINGS } from '../../server/src/settings/settings.ts';
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
          ? 'default: empty'
          : `default: ${code(String(missing.data))}`;
    const roles = rolesWith(name);
    const needed = roles === null ? '' : `, needed by ${roles.map(code).join(', ')}`;
    const file = SETTINGS_WITH_FILES.includes(name) ? `; from a file: ${code(fileSetting(name))}` : '';
    return `- **${code(name)}** *${fallback}*${needed}${file}<br>${prose(findDescription(setting))}`;
  });
  return {
    slug: 'operating/configuration',
    title: 'Configuration',
    description: 'Every setting of the server.',
    body: parts(
      'The server reads its environment once, at startup, and reports all errors together. An unknown `CAUDAL_…`, `BREB_…` or `PSE_…` variable is an error too, so that typos are detected.',
      'A secret, or a URL with a password, is also read from the file that `…_FILE` names. One newline at the end of the file is ignored. Setting both is an error, as is a file that is empty or cannot be read.',
      'A setting that names roles is needed only by them: other processes start without it. [Secrets by role](/docs/operating/run-it#secrets-by-role) explains it.',
      `<div class="fields">\n\n${items.join('\n')}\n\n</div>`,
    ),
  };
}

/** The description is on the schema itself or on the schema it wraps. */
function findDescription(setting: Setting): string {
  if (setting.description) return setting.description;
  const inner: unknown =
    'unwrap' in setting ? (setting.unwrap as () => { description?: string })().description : undefined;
  return typeof inner === 'string' ? inner : '';
}
