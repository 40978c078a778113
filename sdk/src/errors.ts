import type { FieldError, ProblemCode } from './generated/schemas.ts';

/** What is known of a call that did not succeed. */
export interface CallFacts {
  /** As a program writes it: `payins.create`. */
  readonly operation: string;
  /** Requests made, repeats included. */
  readonly attempts: number;
  /** Sent with every attempt; null where the operation takes none. Repeat with it and the call takes effect once. */
  readonly idempotencyKey: string | null;
  /** True when the call may have taken effect although no answer said so: it is not known, neither yes nor no. */
  readonly outcomeUnknown: boolean;
}

const NO_CALL: CallFacts = { operation: '', attempts: 0, idempotencyKey: null, outcomeUnknown: false };

/** Everything the SDK throws, but for mistakes of the program (`TypeError`). */
export class CaudalError extends Error implements CallFacts {
  override readonly name: string = 'CaudalError';
  readonly operation: string;
  readonly attempts: number;
  readonly idempotencyKey: string | null;
  readonly outcomeUnknown: boolean;

  constructor(message: string, facts: CallFacts = NO_CALL, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.operation = facts.operation;
    this.attempts = facts.attempts;
    this.idempotencyKey = facts.idempotencyKey;
    this.outcomeUnknown = facts.outcomeUnknown;
  }
}

/** No answer came: nobody listens there, or the connection broke. */
export class ConnectionError extends CaudalError {
  override readonly name: string = 'ConnectionError';
}

/** No answer came in time, or what was waited for did not happen in time: that is no refusal. */
export class TimeoutError extends CaudalError {
  override readonly name: string = 'TimeoutError';
}

/** The caller's signal ended the call. */
export class AbortedError extends CaudalError {
  override readonly name: string = 'AbortError';
}

/** An answer came that is not of this API, such as the page of a proxy. */
export class UnexpectedAnswerError extends CaudalError {
  override readonly name: string = 'UnexpectedAnswerError';
  readonly status: number;
  readonly requestId: string | null;
  /** How it begins. */
  readonly excerpt: string;

  constructor(
    message: string,
    facts: CallFacts,
    answer: { readonly status: number; readonly requestId: string | null; readonly excerpt: string },
  ) {
    super(message, facts);
    this.status = answer.status;
    this.requestId = answer.requestId;
    this.excerpt = answer.excerpt;
  }
}

/** RFC 9457, as the API writes it. */
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

/** Members that only problems of one code have. */
interface MembersByCode {
  /** `existingId` is the resource that has the reference. */
  reference_taken: { readonly existingId: string };
  /** `requiredScope` is what the credential lacks. */
  insufficient_scope: { readonly requiredScope: string };
  method_not_allowed: { readonly allow: string };
}

type MembersOf<Code> = Code extends keyof MembersByCode ? MembersByCode[Code] : unknown;

class AnyApiError extends CaudalError {
  // As programs and people know it.
  static override readonly name = 'ApiError';
  override readonly name: string = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** Each field that is wrong; empty when the problem is not about fields. */
  readonly errors: readonly FieldError[];
  /** Quote it when you ask for help. */
  readonly requestId: string;
  /** Page about this problem. */
  readonly type: string;
  /** How long the API asks to wait before the call is repeated; null when it does not say. */
  readonly retryAfterMs: number | null;
  /** The whole answer. */
  declare readonly problem: Problem;

  constructor(problem: Problem, facts: CallFacts, retryAfterMs: number | null) {
    super(problemText(problem, facts), facts);
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
    // Not twice in what is printed of the error.
    Object.defineProperty(this, 'problem', { value: problem });
  }
}

function problemText(problem: Problem, { operation }: CallFacts): string {
  const fields = (problem.errors ?? []).map(({ path, message }) => `\n  ${path}: ${message}`);
  return `${operation}: ${problem.title} (${problem.status} ${problem.code}). ${problem.detail} [request ${problem.requestId}]${fields.join('')}`;
}

/**
 * The API refused the call, or could not do it. Branch on `code`: it also narrows, so that
 * `error.code === 'reference_taken'` knows of `error.existingId`. A newer server may send codes that this version does
 * not know.
 */
export type ApiError = {
  [Code in ProblemCode]: AnyApiError & { readonly code: Code } & MembersOf<Code>;
}[ProblemCode];

export const ApiError = AnyApiError as unknown as {
  readonly prototype: ApiError;
  new (problem: Problem, facts: CallFacts, retryAfterMs: number | null): ApiError;
};
