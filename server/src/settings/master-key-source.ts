import { execFileSync } from 'node:child_process';
import type { RawSettings } from './settings.ts';

const COMMAND_TIMEOUT_MS = 30_000;

/** Outputs of commands, read once per process: a command may ask a person or a service. */
const outputs = new Map<string, string>();

export interface ResolvedMasterKey {
  readonly raw: RawSettings;
  readonly problems: readonly string[];
}

/** Sets CAUDAL_MASTER_KEY from CAUDAL_MASTER_KEY_COMMAND, so that the same checks apply to it. */
export function resolveMasterKey(raw: RawSettings): ResolvedMasterKey {
  const command = raw['CAUDAL_MASTER_KEY_COMMAND'];
  if (command === undefined) return { raw, problems: findMissingMasterKey(raw) };
  if (raw['CAUDAL_MASTER_KEY'] !== undefined)
    return { raw, problems: ['CAUDAL_MASTER_KEY_COMMAND and CAUDAL_MASTER_KEY are set: set only one'] };
  try {
    const completed = { ...raw, CAUDAL_MASTER_KEY: readOutput(command).trim() };
    return { raw: completed, problems: findMissingMasterKey(completed) };
  } catch (error) {
    // Only the code: the message of a failed command contains its output.
    const { code, status } = error as { code?: string; status?: number };
    return {
      raw,
      problems: [`CAUDAL_MASTER_KEY_COMMAND failed (${code ?? `exit code ${String(status)}`})`],
    };
  }
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
