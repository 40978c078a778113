import type { FieldError, ProblemCode } from './generated/schemas.ts';

/** Details of a call that failed. */
export interface CallContext {
  /** The SDK method: `payins.create`. */
  readonly operation: string;
  /** Number of requests sent, including retries. */
  readonly attempts: number;
  /** Sent with every attempt; null when the operation takes none. A retry with it takes effect only once. */
  readonly idempotencyKey: string | null;
  /** True when the call may or may not have taken effect, because no response confirmed it. */
  readonly outcomeUnknown: boolean;
}

const NO_CONTEXT: CallContext = { operation: '', attempts: 0, idempotencyKey: null, outcomeUnknown: false };

/** Base class of all SDK errors, except for invalid arguments (`TypeError`). */
export class CaudalError extends Error implements CallContext {
  override readonly name: string = 'CaudalError';
  readonly operation: string;
  readonly attempts: number;
  readonly idempotencyKey: string | null;
  readonly outcomeUnknown: boolean;

  constructor(message: string, context: CallContext = NO_CONTEXT, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.operation = context.operation;
    this.attempts = context.attempts;
    this.idempotencyKey = context.idempotencyKey;
    this.outcomeUnknown = context.outcomeUnknown;
  }
}

/** No response: the connection was refused or lost. */
export class ConnectionError extends CaudalError {
  override readonly name: string = 'ConnectionError';
}

/** No response, or no final status, before the timeout. The payment may still succeed. */
export class TimeoutError extends CaudalError {
  override readonly name: string = 'TimeoutError';
}

/** The caller's signal aborted the call. */
export class AbortedError extends CaudalError {
  override readonly name: string = 'AbortError';
}

/** The response is not from this API, such as an error page of a proxy. */
export class UnexpectedAnswerError extends CaudalError {
  override readonly name: string = 'UnexpectedAnswerError';
  readonly status: number;
  readonly requestId: string | null;
  /** First characters of the body. */
  readonly excerpt: string;

  constructor(
    message: string,
    context: CallContext,
    response: { readonly status: number; readonly requestId: string | null; readonly excerpt: string },
  ) {
    super(message, context);
    this.status = response.status;
    this.requestId = response.requestId;
    this.excerpt = response.excerpt;
  }
}

/** A problem document (RFC 9457) of the API. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: string;
  readonly requestId: string;
  readonly errors?: readonly FieldError[];
  readonly [member: string]: unknown;
}

/** Members that only problems with this code have. */
interface MembersByCode {
  /** `existingId` is the id of the resource with this reference. */
  reference_taken: { readonly existingId: string };
  /** `requiredScope` is the scope that the credential lacks. */
  insufficient_scope: { readonly requiredScope: string };
  method_not_allowed: { readonly allow: string };
}

type ExtraMembers<Code> = Code extends keyof MembersByCode ? MembersByCode[Code] : unknown;

class AnyApiError extends CaudalError {
  // The public name, instead of AnyApiError.
  static override readonly name = 'ApiError';
  override readonly name: string = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** The invalid fields; empty when the problem is not about fields. */
  readonly errors: readonly FieldError[];
  /** Include it in support requests. */
  readonly requestId: string;
  /** URL of the documentation page of this problem. */
  readonly type: string;
  /** How long to wait before a retry (`Retry-After`); null when the API did not set it. */
  readonly retryAfterMs: number | null;
  /** The complete problem document. */
  declare readonly problem: Problem;

  constructor(problem: Problem, context: CallContext, retryAfterMs: number | null) {
    super(problemText(problem, context), context);
    this.status = problem.status;
    this.code = problem.code;
    this.title = problem.title;
    this.detail = problem.detail;
    this.errors = problem.errors ?? [];
    this.requestId = problem.requestId;
    this.type = problem.type;
    this.retryAfterMs = retryAfterMs;
    for (const [name, value] of Object.entries(problem))
      if (!(name in this)) Object.defineProperty(this, name, { value, enumerable: true });
    // Not enumerable, so that a printed error does not show the same members twice.
    Object.defineProperty(this, 'problem', { value: problem });
  }
}

function problemText(problem: Problem, { operation }: CallContext): string {
  const fields = (problem.errors ?? []).map(({ path, message }) => `\n  ${path}: ${message}`);
  return `${operation}: ${problem.title} (${problem.status} ${problem.code}). ${problem.detail} [request ${problem.requestId}]${fields.join('')}`;
}

/**
 * The API rejected the call, or failed. Branch on `code`: it also narrows the type, so that `error.existingId` is known
 * after `error.code === 'reference_taken'`. A newer server may send codes that this version does not know.
 */
export type ApiError = {
  [Code in ProblemCode]: AnyApiError & { readonly code: Code } & ExtraMembers<Code>;
}[ProblemCode];

export const ApiError = AnyApiError as unknown as {
  readonly prototype: ApiError;
  new (problem: Problem, context: CallContext, retryAfterMs: number | null): ApiError;
};
