import { UsageProblem } from '@caudal/command-tree';
import { ApiError, CaudalError, ConnectionError, TimeoutError } from '@caudal/sdk';
import { CliError } from './errors.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

/** An error for the user: a short title, then details and hints. */
export interface Explained {
  readonly title: string;
  readonly lines: readonly string[];
  readonly exitCode: ExitCode;
  /** For --json: fields that a program can branch on. */
  readonly document: Readonly<Record<string, unknown>>;
}

export function explain(error: unknown): Explained {
  if (error instanceof CliError) return explainCliError(error);
  if (error instanceof UsageProblem) return explainUsageProblem(error);
  if (error instanceof ApiError) return explainApiError(error);
  if (error instanceof ConnectionError || error instanceof TimeoutError) return explainNoResponse(error);
  if (error instanceof CaudalError) return explainMessage(error.message);
  return explainMessage(error instanceof Error ? error.message : String(error));
}

function explainCliError({ message, hints, exitCode }: CliError): Explained {
  return { title: message, lines: hints, exitCode, document: { error: message, hints } };
}

function explainUsageProblem({ code, command, message, suggestion }: UsageProblem): Explained {
  const meant = code === 'unknown_command' ? `: caudal ${suggestion}` : ` ${suggestion}?`;
  const hints = [
    ...(suggestion === null ? [] : [`Did you mean${meant}`]),
    ...(code === 'surplus_argument' ? ['Quote values that contain spaces.'] : []),
    `See: caudal help ${command}`.trimEnd(),
  ];
  return { title: message, lines: hints, exitCode: EXIT.usageError, document: { error: message, hints } };
}

function explainMessage(message: string): Explained {
  return { title: message, lines: [], exitCode: EXIT.failed, document: { error: message } };
}

function explainApiError(error: ApiError): Explained {
  const { code, status, title, detail, requestId, errors } = error;
  const fields = errors.map((field) => `  ${field.path}: ${field.message}`);
  return {
    title: `${title} (${status} ${code})`,
    lines: [
      ...(detail ? [detail] : []),
      ...fields,
      ...problemHints(error),
      ...(requestId ? [`request id ${requestId}`] : []),
      ...(error.type ? [error.type] : []),
    ],
    exitCode: EXIT.failed,
    document: { error: title, ...error.problem },
  };
}

/** Hints from the extra members of certain problem codes. */
function problemHints(error: ApiError): string[] {
  if (error.code === 'reference_taken') return [`existing resource: ${error.existingId}`];
  if (error.code === 'insufficient_scope') return [`the API key lacks the scope ${error.requiredScope}`];
  return error.code === 'unauthorized' ? ['To see which API key is used: caudal whoami'] : [];
}

function explainNoResponse(error: ConnectionError | TimeoutError): Explained {
  return {
    title: error.message,
    lines: ['Check that the server runs and that the base URL is right: caudal whoami'],
    exitCode: EXIT.failed,
    document: { error: error.message },
  };
}
