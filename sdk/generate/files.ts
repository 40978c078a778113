import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ApiDocument } from './document.ts';
import { eventNamesFile, samplesFile } from './events-files.ts';
import { operationsFile, propertyName, queriesFile } from './operations-file.ts';
import { resourceFile } from './resources-file.ts';
import { schemasFile } from './schemas-file.ts';
import { SURFACE } from './surface.ts';

const BIOME = fileURLToPath(import.meta.resolve('@biomejs/biome/bin/biome'));

/** The generated files of the SDK: path from the repository root to content. */
export function sdkFiles(document: ApiDocument): Record<string, string> {
  const texts: Record<string, string> = {
    'event-names.ts': eventNamesFile(document),
    'event-samples.ts': samplesFile(document),
    'operations.ts': operationsFile(document),
    'queries.ts': queriesFile(document),
    'schemas.ts': schemasFile(document),
    'version.ts': versionFile(),
  };
  for (const resource of SURFACE)
    if (Object.keys(resource.methods).length > 0)
      texts[`${fileName(resource.name)}.ts`] = resourceFile(document, resource);
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const path = `sdk/src/generated/${name}`;
      return [path, formatFile(path, `// Made by \`npm run generate\`.\n\n${text}\n`)];
    }),
  );
}

function versionFile(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return `export const VERSION = '${manifest.version}';`;
}

/** `webhook-endpoints` */
function fileName(resource: string): string {
  return propertyName(resource).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Formatted as `npm run check` requires. */
function formatFile(path: string, text: string): string {
  const run = spawnSync(process.execPath, [BIOME, 'check', '--write', `--stdin-file-path=${path}`], {
    input: text,
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  });
  if (run.status !== 0) throw new Error(`biome rejects ${path}:\n${run.stderr}\n${text}`);
  return run.stdout;
}
