import { ERRORS, type ErrorCode, type ErrorEntry } from './error-catalogue.ts';

/** Error of one field of an invalid request. */
export interface FieldError {
  /** For example `inlineCustomer.idNumber`, `query.pageSize`, `header.Idempotency-Key`. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

interface ApiErrorOptions {
  /** For our logs only: the client never sees it. */
  readonly reason?: string;
  readonly cause?: unknown;
  /** Additional members of the problem document, for instance `existingId`. */
  readonly members?: Readonly<Record<string, string>>;
  readonly fields?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
}

/** A rejection or failure with a code from the catalogue: the only kind of error that clients see. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly members: Readonly<Record<string, string>>;
  readonly fields: readonly FieldError[];
  readonly retryAfterSeconds: number | null;

  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    super(options.reason ? `${code}: ${options.reason}` : code, { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.members = options.members ?? {};
    this.fields = options.fields ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds ?? (this.entry.status === 503 ? 1 : null);
  }

  get entry(): ErrorEntry {
    return ERRORS[this.code];
  }
}
