import type { Operation } from '../document/openapi.ts';
import { findOperation } from '../document/route.ts';
import type { Validators } from '../document/validators.ts';
import { INJECTED_TAG } from '../generate/hostile.ts';
import { type FuzzRequest, toBytes } from '../generate/request.ts';
import type { Ownership } from '../tenants/ownership.ts';
import { type Answer, bodyText, header } from '../wire/answer.ts';
import { findInternalDetails } from './internal-detail.ts';
import type { Rule, Violation } from './violation.ts';

export const SLOW_MS = 5000;

/** Statuses of pages, files and rail notices, which the OpenAPI document does not describe. */
const PAGE_STATUSES: ReadonlySet<number> = new Set([200, 303, 400, 401, 404, 405, 413, 415, 422, 429]);
/**
 * Statuses of requests that address no operation, or that are not HTTP. 403: the router matches an empty id, and the scope is
 * checked before the id.
 */
const NO_OPERATION_STATUSES: ReadonlySet<number> = new Set([
  400, 401, 403, 404, 405, 413, 414, 415, 417, 431,
]);

const HEADERS_TOO_LARGE = 431;

/** What the oracle found out about a response. */
export interface Verdict {
  readonly violations: readonly Violation[];
  readonly operation: Operation | null;
  /** The parsed body of a documented success. */
  readonly success: unknown;
  /** The code of a documented 503, which is no violation but is counted. */
  readonly unavailable: string | null;
}

export interface OracleParts {
  readonly operations: readonly Operation[];
  readonly validators: Validators;
  readonly ownership: Ownership;
}

/** Checks one response. It knows the served document and the organizations' values, and nothing of the server's code. */
export function checkResponse(parts: OracleParts, request: FuzzRequest, answer: Answer): Verdict {
  const violations: Violation[] = [];
  const report = (rule: Rule, detail: string) => void violations.push({ rule, detail });
  const isApi = isApiSubject(request, parts.operations);
  const operation = isApi ? findOperation(parts.operations, request.method, request.target) : null;
  const text = bodyText(answer);
  const type = (header(answer, 'content-type') ?? '').split(';', 1)[0] ?? '';
  if (answer.ms > SLOW_MS) report('slow', `${Math.round(answer.ms)} ms`);
  const problem =
    type === 'application/problem+json' ? checkProblem(parts, answer, text, operation, report) : null;
  const unavailable = answer.status === 503 ? (problem ?? (isApi ? null : 'page')) : null;
  let success: unknown = null;
  if (answer.status >= 500 && unavailable === null)
    report('server error', `${answer.status} ${text.slice(0, 500)}`);
  else if (operation) success = checkOperation(parts, request, answer, { operation, type, text }, report);
  else if (answer.status < 500) checkOther(request, answer, isApi, type, report);
  checkContent(parts, request, { type, text, status: answer.status }, report);
  return { violations, operation, success, unavailable };
}

function isApiSubject({ subject }: FuzzRequest, operations: readonly Operation[]): boolean {
  return subject === 'changed methods and paths' || operations.some(({ id }) => id === subject);
}

type Report = (rule: Rule, detail: string) => void;

/** @returns the problem's code, or null if it is not valid */
function checkProblem(
  { validators }: OracleParts,
  answer: Answer,
  text: string,
  operation: Operation | null,
  report: Report,
): string | null {
  if (text === '') return '';
  let problem: { code?: string; status?: number; requestId?: string };
  try {
    problem = JSON.parse(text) as typeof problem;
  } catch {
    report('invalid problem', `not JSON: ${text.slice(0, 200)}`);
    return null;
  }
  const invalid = validators.problem(problem);
  if (invalid !== null) report('invalid problem', invalid);
  if (problem.status !== answer.status)
    report('invalid problem', `status ${String(problem.status)} in a response with ${answer.status}`);
  if (problem.requestId !== header(answer, 'x-request-id'))
    report('invalid problem', 'requestId differs from x-request-id');
  const code = problem.code ?? '';
  if (operation && !operation.problemCodes.has(code))
    report('undocumented problem code', `${operation.id}: ${code}`);
  return code;
}

function checkOperation(
  { validators }: OracleParts,
  { method }: FuzzRequest,
  answer: Answer,
  { operation, type, text }: { operation: Operation; type: string; text: string },
  report: Report,
): unknown {
  // HTTP's own limit: Node rejects the headers before anything knows the operation.
  if (answer.status === HEADERS_TOO_LARGE) return null;
  const documented = operation.responses.get(answer.status);
  if (!documented) {
    report('undocumented status', `${operation.id}: ${answer.status} ${text.slice(0, 300)}`);
    return null;
  }
  if (!documented.has(type)) report('undocumented content type', `${operation.id}: ${answer.status} ${type}`);
  if (answer.status >= 300 || method === 'HEAD' || type !== 'application/json') return null;
  try {
    const body = JSON.parse(text) as unknown;
    const invalid = validators.response(operation, answer.status)?.(body) ?? null;
    if (invalid !== null) report('schema', `${operation.id} ${answer.status}: ${invalid}`);
    return body;
  } catch {
    report('schema', `${operation.id} ${answer.status}: not JSON`);
    return null;
  }
}

function checkOther(
  request: FuzzRequest,
  answer: Answer,
  isApi: boolean,
  type: string,
  report: Report,
): void {
  const { status } = answer;
  const allowed = isApi ? NO_OPERATION_STATUSES : PAGE_STATUSES;
  const isRaw = request.raw !== undefined;
  // Raw bytes may be a valid request, or a flipped byte may have made another one.
  if (
    !allowed.has(status) &&
    !(isRaw && (status < 300 || status === 403 || status === 409 || status === 422))
  )
    if (!(isRaw && NO_OPERATION_STATUSES.has(status)))
      report('undocumented status', `${request.subject}: ${status}`);
  if (isApi && status >= 400 && type !== 'application/problem+json' && request.method !== 'HEAD')
    report('undocumented content type', `${status} ${type}`);
}

function checkContent(
  { ownership }: OracleParts,
  request: FuzzRequest,
  { type, text, status }: { readonly type: string; readonly text: string; readonly status: number },
  report: Report,
): void {
  if (text === '') return;
  if (type === 'text/html' && text.includes(INJECTED_TAG))
    report('unescaped text', excerpt(text, INJECTED_TAG));
  // The documentation explains SQL, paths and other organizations' example data.
  if (status === 200 && /^\/(?:docs|openapi\.json|llms)/.test(request.target)) return;
  let sent: string | null = null;
  const wasSent = (value: string) => {
    sent ??= sentText(request);
    return sent.includes(value.toLowerCase());
  };
  const internal = findInternalDetails(text).find((detail) => !wasSent(detail));
  if (internal !== undefined) report('internal detail', excerpt(text, internal));
  if (request.tenant === 'any') return;
  for (const value of ownership.findForeign(request.tenant, text))
    if (!wasSent(value)) return report('foreign data', `${value}: ${excerpt(text, value)}`);
}

/** The request as text, also with its escapes decoded, once and twice. */
function sentText(request: FuzzRequest): string {
  const text = toBytes(request).toString('utf8');
  const once = decodeEscapes(text);
  return `${text}\n${once}\n${decodeEscapes(once)}`.toLowerCase();
}

function decodeEscapes(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function excerpt(text: string, value: string): string {
  const at = text.indexOf(value);
  return text.slice(Math.max(0, at - 120), at + 200);
}
