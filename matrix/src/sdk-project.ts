import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installProject } from './npm.ts';
import type { MatrixContext } from './row.ts';

const projects = new Map<string, Promise<string>>();

/** A project with the packed SDK and other packages; rows with the same name share it. Returns its folder. */
export function sdkProject(
  { scratch, packages }: MatrixContext,
  name: string,
  others: readonly string[] = [],
  type: 'module' | 'commonjs' = 'commonjs',
): Promise<string> {
  const folder = join(scratch, name);
  const known =
    projects.get(folder) ?? installProject(folder, [packages.sdk, ...others], type).then(() => folder);
  projects.set(folder, known);
  return known;
}

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** What the scenario reads. */
export function scenarioEnvironment({ baseUrl, apiKey, deliveries }: MatrixContext): Record<string, string> {
  return { CAUDAL_BASE_URL: baseUrl, CAUDAL_API_KEY: apiKey, DELIVERIES_URL: deliveries.url };
}
