import { userInfo } from 'node:os';
import { OPERATOR_COMMANDS } from './commands.ts';
import { Options, UsageError } from './options.ts';

/**
 * The author of a `migrate`. Deploy jobs run it unattended, so without `--by` and CAUDAL_BY it is the operating system
 * user, with a prefix that distinguishes it from a person's name.
 * @returns null when the arguments are invalid
 */
export function migrationAuthor(args: readonly string[], defaultBy: string | null): string | null {
  const command = OPERATOR_COMMANDS.find(({ name }) => name === 'migrate');
  if (!command) throw new Error('the migrate command has no description');
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
    // A container may run under a uid without a user name.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
