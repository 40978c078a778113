/**
 * npm run generate: generates docs/reference, sdk/src/generated, and the rules and dashboards of deploy/ from the code. `npm run check` runs it with --check,
 * which fails when a generated file is out of date.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { monitoringFiles } from '../deploy/monitoring/generated-files.ts';
import type { ApiDocument } from '../sdk/generate/document.ts';
import { sdkFiles } from '../sdk/generate/files.ts';
import { openApiDocument } from '../server/src/http/openapi.ts';
import { ERRORS, type ErrorEntry } from '../server/src/kit/error-catalogue.ts';
import { rolesWith } from '../server/src/settings/role-settings.ts';
import { fileSetting, SETTINGS_WITH_FILES } from '../server/src/settings/secret-files.ts';
import { SETTINGS } from '../server/src/settings/settings.ts';

const ROOT = new URL('../', import.meta.url);

const document = openApiDocument('https://api.example.com');
const files: Record<string, string> = {
  'docs/reference/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
  'docs/reference/errors.md': errorsPage(),
  'docs/reference/configuration.md': configurationPage(),
  // Through JSON: the SDK is generated from the published document, not from server objects.
  ...sdkFiles(JSON.parse(JSON.stringify(document)) as ApiDocument),
  ...monitoringFiles(),
};

const stale: string[] = [];
for (const [name, text] of Object.entries(files)) {
  const path = fileURLToPath(new URL(name, ROOT));
  if (process.argv.includes('--check')) {
    if (currentText(path) !== text) stale.push(name);
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`wrote ${name}`);
  }
}
if (stale.length > 0) {
  console.error(`out of date: ${stale.join(', ')}. Run: npm run generate`);
  process.exitCode = 1;
}

function currentText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, entry]: [string, ErrorEntry]) =>
      `| \`${code}\` | ${entry.status} | ${entry.cause.en} | ${entry.remedy.en} |`,
  );
  return `# Problems\n\nEvery problem a client can meet. Branch on \`code\` alone. A running server explains each at \`/docs/errors/{code}\`, in English and Spanish.\n\n| Code | Status | What happened | What to do |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

function configurationPage(): string {
  const rows = Object.entries(SETTINGS).map(([name, setting]) => {
    const missing = setting.safeParse(undefined);
    const defaultValue = missing.success
      ? missing.data === undefined
        ? 'optional'
        : `\`${String(missing.data)}\``
      : '**required**';
    const roles = rolesWith(name)?.join(', ') ?? 'every';
    const names = SETTINGS_WITH_FILES.includes(name)
      ? `\`${name}\` or \`${fileSetting(name)}\``
      : `\`${name}\``;
    return `| ${names} | ${defaultValue} | ${roles} | ${describeSetting(setting)} |`;
  });
  return `# Configuration\n\nThe server reads environment variables once, at startup, and reports all configuration problems at once. An unknown \`CAUDAL_…\`, \`BREB_…\` or \`PSE_…\` variable is also a problem.\n\nA secret, or a URL with a password, is also read from the file that \`…_FILE\` names, for secrets that the platform mounts as files. One newline at its end is ignored. Setting both is a problem, as is a file that is empty or cannot be read.\n\nThe column "Roles" names the roles that need the setting: the others start without it (\`operator\`: operator commands; some commands need more, see [Secrets by role](../operating/run-it.md#secrets-by-role)).\n\n| Variable | Default | Roles | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** The description is on the schema itself or on the schema it wraps. */
function describeSetting(setting: (typeof SETTINGS)[keyof typeof SETTINGS]): string {
  if (setting.description) return setting.description;
  const inner: unknown =
    'unwrap' in setting ? (setting.unwrap as () => { description?: string })().description : undefined;
  return typeof inner === 'string' ? inner : '';
}
