import { ERRORS, type ErrorCode, type ErrorEntry } from './error-catalogue.ts';

/** One field of an invalid request. */
export interface FieldError {
  /** Where: `inlineCustomer.idNumber`, `query.pageSize`, `header.Idempotency-Key`. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

interface FaultOptions {
  /** For our logs only: the client never sees the cause. */
  readonly reason?: string;
  readonly cause?: unknown;
  /** Further members of the problem, for instance `existingId`. */
  readonly members?: Readonly<Record<string, string>>;
  readonly fields?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
}

/** A refusal or failure with a name from the catalogue: the only error a client is told about. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly members: Readonly<Record<string, string>>;
  readonly fields: readonly FieldError[];
  readonly retryAfterSeconds: number | null;

  constructor(code: ErrorCode, options: FaultOptions = {}) {
    super(options.reason ? `${code}: ${options.reason}` : code, { cause: options.cause });
    this.name = 'Fault';
    this.code = code;
    this.members = options.members ?? {};
    this.fields = options.fields ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds ?? (this.entry.status === 503 ? 1 : null);
  }

  get entry(): ErrorEntry {
    return ERRORS[this.code];
  }
}
