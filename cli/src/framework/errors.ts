import { EXIT, type ExitCode } from './exit-codes.ts';

/** Said to the user as it stands, without a stack. */
export class Fault extends Error {
  readonly exitCode: ExitCode;
  /** What to do about it, a line each. */
  readonly hints: readonly string[];

  constructor(message: string, hints: readonly string[] = [], exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.name = 'Fault';
    this.exitCode = exitCode;
    this.hints = hints;
  }
}

/** What was typed cannot be meant; nothing was done. */
export class UsageError extends Fault {
  constructor(message: string, hints: readonly string[] = []) {
    super(message, hints, EXIT.notUnderstood);
    this.name = 'UsageError';
  }
}

/** Nobody can say yet. */
export class UnknownOutcome extends Fault {
  constructor(message: string, hints: readonly string[] = []) {
    super(message, hints, EXIT.outcomeUnknown);
    this.name = 'UnknownOutcome';
  }
}
