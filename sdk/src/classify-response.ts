import type { Attempt } from './attempt.ts';
import { codeOf } from './attempt.ts';
import {
  AbortedError,
  ApiError,
  type CallFacts,
  type CaudalError,
  ConnectionError,
  type Problem,
  TimeoutError,
  UnexpectedAnswerError,
} from './errors.ts';
import { retryAfterMs } from './waiting.ts';

/** What an attempt means. */
export type Verdict =
  | { readonly kind: 'done'; readonly body: unknown }
  | {
      readonly kind: 'failed';
      /** Whether it may have taken effect. Only writes can. */
      readonly unknown: boolean;
      /** `always`: nothing was done, so anyone may repeat it. `if harmless`: only what may be done twice. */
      readonly again: 'always' | 'if harmless' | 'never';
      readonly waitMs: number | null;
      readonly error: (facts: CallFacts) => CaudalError;
    };

type Failed = Extract<Verdict, { kind: 'failed' }>;

/** Problems that leave open whether the call took effect. */
const OPEN_CODES = new Set(['outcome_unknown', 'internal_error', 'idempotency_in_flight']);
/** Of proxies in front of the API: they do not know either. */
const GATEWAY = new Set([502, 503, 504]);

export function judge(attempt: Attempt, origin: string, timeoutMs: number): Verdict {
  switch (attempt.kind) {
    case 'aborted':
      return failed({
        unknown: !attempt.neverSent,
        again: 'never',
        error: (facts) => new AbortedError(`${facts.operation}: ended by the caller${outlook(facts)}`, facts),
      });
    case 'timed out':
      return failed({
        error: (facts) =>
          new TimeoutError(
            `${facts.operation}: no answer from ${origin} within ${timeoutMs} ms${times(facts)}${outlook(facts)}`,
            facts,
          ),
      });
    case 'broken':
      return failed({
        unknown: !attempt.neverSent,
        again: attempt.neverSent ? 'always' : 'if harmless',
        error: (facts) =>
          new ConnectionError(
            `${facts.operation}: no answer from ${origin} (${reason(attempt.cause)})${times(facts)}${outlook(facts)}`,
            facts,
            attempt.cause,
          ),
      });
    case 'answered':
      return judgeAnswer(attempt);
  }
}

function judgeAnswer(answer: Extract<Attempt, { kind: 'answered' }>): Verdict {
  const { status, headers, text } = answer;
  const parsed = parse(text);
  const waitMs = retryAfterMs(headers);
  if (status >= 200 && status < 300 && parsed !== null) return { kind: 'done', body: parsed.value };
  if (status >= 400 && isProblem(parsed?.value)) {
    const problem = parsed.value;
    const open = OPEN_CODES.has(problem.code);
    return failed({
      unknown: open,
      again: again(status, problem.code, open),
      waitMs,
      error: (facts) => new ApiError(problem, facts, waitMs),
    });
  }
  return failed({
    // A refusal by a proxy is a refusal; a success or a failure of its own says nothing.
    unknown: status < 400 || status >= 500,
    again: status === 429 ? 'always' : GATEWAY.has(status) || status < 300 ? 'if harmless' : 'never',
    waitMs,
    error: (facts) =>
      new UnexpectedAnswerError(
        `${facts.operation}: ${strange(answer)}${times(facts)}${outlook(facts)}`,
        facts,
        {
          status,
          requestId: headers.get('x-request-id'),
          excerpt: (text ?? '').slice(0, 500),
        },
      ),
  });
}

function again(status: number, code: string, open: boolean): Failed['again'] {
  if (code === 'internal_error') return 'never';
  if (open) return 'if harmless';
  return status === 429 || status === 503 ? 'always' : 'never';
}

function failed(verdict: Partial<Failed> & Pick<Failed, 'error'>): Failed {
  return { kind: 'failed', unknown: true, again: 'if harmless', waitMs: null, ...verdict };
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

function strange({ status, headers, text }: Extract<Attempt, { kind: 'answered' }>): string {
  if (text === null) return `the answer (${status}) is longer than any of this API`;
  if (status >= 300 && status < 400)
    return `redirected (${status}) to ${headers.get('location') ?? 'an unknown place'}, which is not followed: check baseUrl`;
  const type = headers.get('content-type')?.split(';')[0] ?? 'no content type';
  return `the answer (${status}, ${type}) is not of this API: check baseUrl and what stands before it`;
}

function reason(cause: unknown): string {
  return codeOf(cause) ?? (cause instanceof Error ? cause.message : 'connection failed');
}

function times({ attempts }: CallFacts): string {
  return attempts > 1 ? `, ${attempts} attempts` : '';
}

/** What the caller must know of a write that nobody answered. */
function outlook({ outcomeUnknown, idempotencyKey }: CallFacts): string {
  if (!outcomeUnknown) return '';
  return idempotencyKey === null
    ? '. It may or may not have taken effect: read before you repeat it'
    : `. It may or may not have taken effect: repeat it with idempotencyKey ${JSON.stringify(idempotencyKey)} and it takes effect once`;
}
