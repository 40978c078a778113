/** Exit codes for scripts, documented in the help. */
export const EXIT = {
  success: 0,
  failed: 1,
  usageError: 2,
  outcomeUnknown: 3,
  interrupted: 130,
} as const;

export type ExitCode = number;

export const EXIT_CODE_DESCRIPTIONS: readonly (readonly [string, string])[] = [
  ['0', 'success'],
  ['1', 'failed; with --wait also: the payment did not succeed'],
  ['2', 'usage error: an unknown or invalid command, option or value'],
  ['3', 'outcome unknown, or not final before the timeout: retry as the message says'],
  ['130', 'interrupted'],
];
