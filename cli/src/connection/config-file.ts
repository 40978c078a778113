import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Fault } from './errors.ts';

export interface Profile {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly simulatorUrl?: string;
}

export interface Profiles {
  /** The one that is used when none is named. */
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
    throw new Fault(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    const { current, profiles } = JSON.parse(text) as Partial<Profiles>;
    const kept = Object.entries(profiles ?? {}).filter(
      ([, profile]) => typeof profile?.baseUrl === 'string' && typeof profile.apiKey === 'string',
    );
    return { current: typeof current === 'string' ? current : null, profiles: Object.fromEntries(kept) };
  } catch {
    throw new Fault(`${file} is not JSON`, ['Mend or delete it, then: caudal login']);
  }
}

/** Whole or not at all, and for the owner's eyes: it holds keys. */
export function writeProfiles(file: string, profiles: Profiles): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const beside = `${file}.${process.pid}`;
  try {
    writeFileSync(beside, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
    // The mode above is only for a new file, and less what the umask takes.
    chmodSync(beside, 0o600);
    renameSync(beside, file);
  } finally {
    rmSync(beside, { force: true });
  }
}
