import { ApiError, CaudalError, ConnectionError, TimeoutError } from '@caudal/sdk';
import { Fault } from './errors.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

/** What went wrong, for the user: the first line in short, then what helps. */
export interface Explained {
  readonly title: string;
  readonly lines: readonly string[];
  readonly exitCode: ExitCode;
  /** For --json: what a program can branch on. */
  readonly document: Readonly<Record<string, unknown>>;
}

export function explain(error: unknown): Explained {
  if (error instanceof Fault) return ofFault(error);
  if (error instanceof ApiError) return ofProblem(error);
  if (error instanceof ConnectionError || error instanceof TimeoutError) return ofSilence(error);
  if (error instanceof CaudalError) return plain(error.message);
  return plain(error instanceof Error ? error.message : String(error));
}

function ofFault({ message, hints, exitCode }: Fault): Explained {
  return { title: message, lines: hints, exitCode, document: { error: message, hints } };
}

function plain(message: string): Explained {
  return { title: message, lines: [], exitCode: EXIT.failed, document: { error: message } };
}

function ofProblem(error: ApiError): Explained {
  const { code, status, title, detail, requestId, errors } = error;
  const fields = errors.map((field) => `  ${field.path}: ${field.message}`);
  return {
    title: `${title} (${status} ${code})`,
    lines: [
      ...(detail ? [detail] : []),
      ...fields,
      ...membersOf(error),
      ...(requestId ? [`request id ${requestId}`] : []),
      ...(error.type ? [error.type] : []),
    ],
    exitCode: EXIT.failed,
    document: { error: title, ...error.problem },
  };
}

/** What only problems of one kind say, in a form that can be typed. */
function membersOf(error: ApiError): string[] {
  if (error.code === 'reference_taken') return [`the one that has it: ${error.existingId}`];
  if (error.code === 'insufficient_scope') return [`the key lacks the scope ${error.requiredScope}`];
  return error.code === 'unauthorized' ? ['Which key is that? See: caudal whoami'] : [];
}

function ofSilence(error: ConnectionError | TimeoutError): Explained {
  return {
    title: error.message,
    lines: ['Is the server up, and is the address right? See: caudal whoami'],
    exitCode: EXIT.failed,
    document: { error: error.message },
  };
}
