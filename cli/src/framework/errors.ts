import { EXIT, type ExitCode } from './exit-codes.ts';

/** An error whose message is shown to the user as is, without a stack trace. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  /** What to do about it, one line each. */
  readonly hints: readonly string[];

  constructor(message: string, hints: readonly string[] = [], exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.name = 'CliError';
    this.exitCode = exitCode;
    this.hints = hints;
  }
}

/** Invalid command line; nothing was executed. */
export class UsageError extends CliError {
  constructor(message: string, hints: readonly string[] = []) {
    super(message, hints, EXIT.usageError);
    this.name = 'UsageError';
  }
}

/** The outcome is not known (yet). */
export class UnknownOutcomeError extends CliError {
  constructor(message: string, hints: readonly string[] = []) {
    super(message, hints, EXIT.outcomeUnknown);
    this.name = 'UnknownOutcomeError';
  }
}
