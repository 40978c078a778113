import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../framework/errors.ts';

export interface Profile {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly simulatorUrl?: string;
}

export interface Profiles {
  /** Used when no profile is named. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const NONE: Profiles = { current: null, profiles: {} };

export function readProfiles(file: string): Profiles {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NONE;
    throw new CliError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    const { current, profiles } = JSON.parse(text) as Partial<Profiles>;
    const valid = Object.entries(profiles ?? {}).filter(
      ([, profile]) => typeof profile?.baseUrl === 'string' && typeof profile.apiKey === 'string',
    );
    return { current: typeof current === 'string' ? current : null, profiles: Object.fromEntries(valid) };
  } catch {
    throw new CliError(`${file} is not valid JSON`, ['Repair or delete the file, then run: caudal login']);
  }
}

/** Writes atomically, readable by the owner only: the file contains API keys. */
export function writeProfiles(file: string, profiles: Profiles): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporaryFile = `${file}.${process.pid}`;
  try {
    writeFileSync(temporaryFile, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
    // `mode` applies only to a new file and is reduced by the umask.
    chmodSync(temporaryFile, 0o600);
    renameSync(temporaryFile, file);
  } finally {
    rmSync(temporaryFile, { force: true });
  }
}
