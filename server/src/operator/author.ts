import { userInfo } from 'node:os';
import { parseCommandLine } from './command-line.ts';
import { Options, UsageError } from './options.ts';

/**
 * The author of a `migrate`. Deploy jobs run it unattended, so without `--by` and CAUDAL_BY it is the operating system
 * user, with a prefix that distinguishes it from a person's name.
 * @returns null when the arguments are invalid
 */
export function migrationAuthor(args: readonly string[], defaultBy: string | null): string | null {
  try {
    const parsed = parseCommandLine(['migrate', ...args], defaultBy ?? `os:${systemUser()}`);
    return parsed.kind === 'help' ? null : new Options(parsed.command, parsed.values, parsed.args).by;
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
