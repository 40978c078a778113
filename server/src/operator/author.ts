import { userInfo } from 'node:os';
import { OPERATOR_COMMANDS } from './commands.ts';
import { Options, UsageError } from './options.ts';

/**
 * Who runs `migrate`. Deploy jobs run it unattended, so without `--by` and CAUDAL_BY it is the user of the operating
 * system; the prefix tells it from a name that a person gave.
 * @returns null when the arguments are not understood
 */
export function migrationAuthor(args: readonly string[], defaultBy: string | null): string | null {
  const command = OPERATOR_COMMANDS.find(({ name }) => name === 'migrate');
  if (!command) throw new Error('the catalogue has no migrate');
  try {
    return new Options(args, command, defaultBy ?? `os:${systemUser()}`).by;
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}

function systemUser(): string {
  try {
    return userInfo()
      .username.replaceAll(/[^\w.-]/g, '_')
      .slice(0, 100);
  } catch {
    // A container may run under a uid that has no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
