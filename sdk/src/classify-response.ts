import type { Attempt, HttpResponse } from './attempt.ts';
import { findErrorCode } from './attempt.ts';
import {
  AbortedError,
  ApiError,
  type CallContext,
  type CaudalError,
  ConnectionError,
  type Problem,
  TimeoutError,
  UnexpectedAnswerError,
} from './errors.ts';
import { retryAfterMs } from './waiting.ts';

/** The result of an attempt: success, or a failure with its retry rule. */
export type AttemptResult =
  | { readonly kind: 'succeeded'; readonly body: unknown; readonly response: HttpResponse }
  | {
      readonly kind: 'failed';
      /** The request may have taken effect. Relevant only for writes. */
      readonly outcomeUnknown: boolean;
      /** `always`: the server did nothing. `if_idempotent`: only operations that are safe to repeat. */
      readonly retry: 'always' | 'if_idempotent' | 'never';
      readonly waitMs: number | null;
      readonly error: (context: CallContext) => CaudalError;
    };

export type FailedAttempt = Extract<AttemptResult, { kind: 'failed' }>;

/** Problem codes after which the call may have taken effect. */
const UNKNOWN_OUTCOME_CODES = new Set(['outcome_unknown', 'internal_error', 'idempotency_in_flight']);
/** Sent by proxies in front of the API, which do not know whether the call took effect. */
const GATEWAY_STATUSES = new Set([502, 503, 504]);

export function classifyResponse(attempt: Attempt, origin: string, timeoutMs: number): AttemptResult {
  switch (attempt.kind) {
    case 'aborted':
      return failed({
        outcomeUnknown: !attempt.neverSent,
        retry: 'never',
        error: (context) =>
          new AbortedError(`${context.operation}: aborted by the caller${outcomeHint(context)}`, context),
      });
    case 'timed_out':
      return failed({
        error: (context) =>
          new TimeoutError(
            `${context.operation}: no response from ${origin} within ${timeoutMs} ms${attemptCount(context)}${outcomeHint(context)}`,
            context,
          ),
      });
    case 'connection_failed':
      return failed({
        outcomeUnknown: !attempt.neverSent,
        retry: attempt.neverSent ? 'always' : 'if_idempotent',
        error: (context) =>
          new ConnectionError(
            `${context.operation}: no response from ${origin} (${reason(attempt.cause)})${attemptCount(context)}${outcomeHint(context)}`,
            context,
            attempt.cause,
          ),
      });
    case 'response':
      return classifyHttpResponse(attempt);
  }
}

function classifyHttpResponse(response: Extract<Attempt, { kind: 'response' }>): AttemptResult {
  const { status, headers, text } = response;
  const parsed = parse(text);
  const waitMs = retryAfterMs(headers);
  if (status >= 200 && status < 300 && parsed !== null)
    return { kind: 'succeeded', body: parsed.value, response };
  if (status >= 400 && isProblem(parsed?.value)) {
    const problem = parsed.value;
    const outcomeUnknown = UNKNOWN_OUTCOME_CODES.has(problem.code);
    return failed({
      outcomeUnknown,
      retry: retryRule(status, problem.code, outcomeUnknown),
      waitMs,
      error: (context) => new ApiError(problem, context, waitMs),
    });
  }
  return failed({
    // A 4xx of a proxy means that the request was rejected. Any other response of a proxy leaves the outcome unknown.
    outcomeUnknown: status < 400 || status >= 500,
    retry:
      status === 429 ? 'always' : GATEWAY_STATUSES.has(status) || status < 300 ? 'if_idempotent' : 'never',
    waitMs,
    error: (context) =>
      new UnexpectedAnswerError(
        `${context.operation}: ${describeUnexpected(response)}${attemptCount(context)}${outcomeHint(context)}`,
        context,
        {
          status,
          requestId: headers.get('x-request-id'),
          excerpt: (text ?? '').slice(0, 500),
        },
      ),
  });
}

function retryRule(status: number, code: string, outcomeUnknown: boolean): FailedAttempt['retry'] {
  if (code === 'internal_error') return 'never';
  if (outcomeUnknown) return 'if_idempotent';
  return status === 429 || status === 503 ? 'always' : 'never';
}

function failed(result: Partial<FailedAttempt> & Pick<FailedAttempt, 'error'>): FailedAttempt {
  return { kind: 'failed', outcomeUnknown: true, retry: 'if_idempotent', waitMs: null, ...result };
}

function parse(text: string | null): { readonly value: unknown } | null {
  if (text === null) return null;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}

function isProblem(value: unknown): value is Problem {
  if (typeof value !== 'object' || value === null) return false;
  const { code, title, status } = value as Record<string, unknown>;
  return typeof code === 'string' && typeof title === 'string' && typeof status === 'number';
}

function describeUnexpected({ status, headers, text }: Extract<Attempt, { kind: 'response' }>): string {
  if (text === null) return `the response (${status}) is larger than any response of this API`;
  if (status >= 300 && status < 400)
    return `redirected (${status}) to ${headers.get('location') ?? 'an unknown location'}, which is not followed: check baseUrl`;
  const type = headers.get('content-type')?.split(';')[0] ?? 'no content type';
  return `the response (${status}, ${type}) is not from this API: check baseUrl and any proxy`;
}

function reason(cause: unknown): string {
  return findErrorCode(cause) ?? (cause instanceof Error ? cause.message : 'connection failed');
}

function attemptCount({ attempts }: CallContext): string {
  return attempts > 1 ? `, ${attempts} attempts` : '';
}

/** Tells the caller how to proceed after a write with an unknown outcome. */
function outcomeHint({ outcomeUnknown, idempotencyKey }: CallContext): string {
  if (!outcomeUnknown) return '';
  return idempotencyKey === null
    ? '. It may or may not have taken effect: check the resource before you retry'
    : `. It may or may not have taken effect: retry with idempotencyKey ${JSON.stringify(idempotencyKey)}, and it takes effect only once`;
}
