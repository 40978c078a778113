import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { RawSettings } from './settings.ts';

const COMMAND_TIMEOUT_MS = 30_000;

/** Outputs of commands, read once per process: a command may ask a person or a service. */
const outputs = new Map<string, string>();

export interface ResolvedMasterKey {
  readonly raw: RawSettings;
  readonly problems: readonly string[];
}

/** Sets CAUDAL_MASTER_KEY from CAUDAL_MASTER_KEY_FILE or CAUDAL_MASTER_KEY_COMMAND, so that the same checks apply to it. */
export function resolveMasterKey(raw: RawSettings): ResolvedMasterKey {
  const sources = ['CAUDAL_MASTER_KEY', 'CAUDAL_MASTER_KEY_FILE', 'CAUDAL_MASTER_KEY_COMMAND'].filter(
    (name) => raw[name] !== undefined,
  );
  if (sources.length > 1) return { raw, problems: [`${sources.join(' and ')} are set: set only one`] };
  const file = raw['CAUDAL_MASTER_KEY_FILE'];
  const command = raw['CAUDAL_MASTER_KEY_COMMAND'];
  if (file !== undefined)
    return withKey(raw, () => readFileSync(file, 'utf8'), 'CAUDAL_MASTER_KEY_FILE cannot be read');
  if (command !== undefined)
    return withKey(raw, () => readOutput(command), 'CAUDAL_MASTER_KEY_COMMAND failed');
  return { raw, problems: findMissingMasterKey(raw) };
}

function findMissingMasterKey(raw: RawSettings): string[] {
  const missing = (...names: string[]) => names.filter((name) => raw[name] === undefined);
  if (raw['CAUDAL_KMS_URL'] === undefined)
    return missing('CAUDAL_MASTER_KEY').map((name) => `${name} is not set`);
  const needed = ['CAUDAL_KMS_KEY_ID', 'CAUDAL_KMS_TOKEN'];
  // Without a master key, no password can be derived from it.
  if (raw['CAUDAL_MASTER_KEY'] === undefined)
    needed.push('DATABASE_READ_URL', 'DATABASE_BATCH_URL', 'DATABASE_SYSTEM_URL');
  return missing(...needed).map((name) => `${name} is not set: CAUDAL_KMS_URL needs it`);
}

function withKey(raw: RawSettings, read: () => string, problem: string): ResolvedMasterKey {
  try {
    const completed = { ...raw, CAUDAL_MASTER_KEY: read().trim() };
    return { raw: completed, problems: findMissingMasterKey(completed) };
  } catch (error) {
    // Only the code: the message of a failed command contains its output.
    const { code, status } = error as { code?: string; status?: number };
    return { raw, problems: [`${problem} (${code ?? `exit code ${String(status)}`})`] };
  }
}

/** Runs the program without a shell: arguments are separated by spaces and cannot be quoted. */
function readOutput(command: string): string {
  const known = outputs.get(command);
  if (known !== undefined) return known;
  const [program = '', ...args] = command.trim().split(/\s+/);
  const output = execFileSync(program, args, {
    encoding: 'utf8',
    timeout: COMMAND_TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024,
  });
  outputs.set(command, output);
  return output;
}
