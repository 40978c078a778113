import { readFileSync } from 'node:fs';
import { type RawSettings, SECRETS } from './settings.ts';

/** Settings with a secret value: the secrets, and the URLs that contain a password. */
export const SETTINGS_WITH_FILES: readonly string[] = [
  ...SECRETS,
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'DATABASE_BATCH_URL',
  'DATABASE_SYSTEM_URL',
  'DATABASE_BACKUP_URL',
  'CAUDAL_SMTP_URL',
];

/** Name of the setting that holds the path of the file, such as CAUDAL_TOKEN_KEY_FILE. */
export function fileSetting(name: string): string {
  return `${name}_FILE`;
}

export interface ResolvedSecretFiles {
  /** The settings with the values from the files, without the paths. */
  readonly raw: RawSettings;
  readonly problems: readonly string[];
  /** Settings whose file could not be used. */
  readonly failed: readonly string[];
}

/** Sets each secret whose file is given, so that the same checks apply to values from both sources. */
export function resolveSecretFiles(raw: RawSettings): ResolvedSecretFiles {
  const resolved: Record<string, string | undefined> = { ...raw };
  const problems: string[] = [];
  const failed: string[] = [];
  for (const name of SETTINGS_WITH_FILES) {
    const setting = fileSetting(name);
    const path = raw[setting];
    if (path === undefined) continue;
    delete resolved[setting];
    if (raw[name] !== undefined) {
      problems.push(`${name} and ${setting} are set: set only one`);
      continue;
    }
    const read = readSecret(path);
    if ('value' in read) resolved[name] = read.value;
    else {
      problems.push(`${setting} ${read.problem}`);
      failed.push(name);
    }
  }
  return { raw: resolved, problems, failed };
}

/** The problem contains neither the path, which may be a secret set by mistake, nor the contents. */
function readSecret(path: string): { value: string } | { problem: string } {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { problem: `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})` };
  }
  // Editors and `echo` end a file with a newline that is not part of the secret.
  const value = text.replace(/\r?\n$/, '');
  if (value.trim() === '') return { problem: 'names an empty file' };
  if (value !== value.trim())
    return {
      problem: 'names a file that starts or ends with white space: only one newline at the end is ignored',
    };
  return { value };
}

/** Whether a problem only says that a setting is missing whose file has been reported already. */
export function isConsequence(problem: string, failed: readonly string[]): boolean {
  return failed.some((name) => problem.startsWith(`${name} is not set`) || problem.endsWith(`, nor ${name}`));
}
