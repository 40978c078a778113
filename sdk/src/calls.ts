import { type ApiPromise, toApiPromise, type WithResponse } from './api-promise.ts';
import { attemptOnce, type HttpResponse, type Request } from './attempt.ts';
import { type CallOptions, checkCallOptions, type KeyedCallOptions } from './call-options.ts';
import { classifyResponse, type FailedAttempt } from './classify-response.ts';
import { ApiError, type CallContext } from './errors.ts';
import { OPERATIONS, type OperationId } from './generated/operations.ts';
import type { HookRunner } from './hooks.ts';
import { List, type ListResponse } from './list.ts';
import { describe } from './option-checks.ts';
import type { Fetch } from './platform.ts';
import { buildRequest, type RequestParts, type Sender } from './request.ts';
import { responseMetadata } from './response-metadata.ts';
import { RETRY_POLICY } from './retry-policy.ts';
import { backoffMs, pause } from './waiting.ts';

export interface CallDefaults extends Sender {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly hooks: HookRunner;
}

interface ResolvedOptions extends CallOptions {
  readonly idempotencyKey: string | null;
  /** The SDK method. */
  readonly called: string;
}

/** A longer Retry-After is reported as an error instead: a program should not block for minutes. */
const MAX_WAIT_MS = 30_000;

/** Sends the API calls of one client, with retries. */
export class Calls {
  readonly #defaults: CallDefaults;

  constructor(defaults: CallDefaults) {
    this.#defaults = defaults;
  }

  get defaults(): CallDefaults {
    return this.#defaults;
  }

  /**
   * @param parts a function when they need checks, whose error rejects the promise
   * @param called the SDK method, for error messages
   */
  send<Result>(
    id: OperationId,
    parts: RequestParts | (() => RequestParts),
    options: KeyedCallOptions,
    called: string = OPERATIONS[id].called,
  ): ApiPromise<Result> {
    return toApiPromise(this.#send<Result>(id, parts, options, called));
  }

  list<Item>(
    id: OperationId,
    parts: RequestParts,
    options: CallOptions,
    called: string = OPERATIONS[id].called,
  ): List<Item> {
    // A search has its filters, and with them the cursor, in the body.
    const place = parts.body === undefined ? 'query' : 'body';
    return new List<Item>((cursor) => {
      const filters = cursor === null ? parts[place] : { ...(parts[place] as object | undefined), cursor };
      const all = { ...parts, ...(filters ? { [place]: filters } : {}) };
      return this.#send<ListResponse<Item>>(id, all, options, called);
    });
  }

  async #send<Result>(
    id: OperationId,
    given: RequestParts | (() => RequestParts),
    options: KeyedCallOptions,
    called: string,
  ): Promise<WithResponse<Result>> {
    checkCallOptions(called, options);
    const parts = typeof given === 'function' ? given() : given;
    const idempotencyKey = resolveIdempotencyKey(id, options);
    const request = buildRequest(this.#defaults, id, parts, { ...options, idempotencyKey });
    const call = { ...options, idempotencyKey, called };
    return (await this.#sendWithRetries(id, parts, request, call)) as WithResponse<Result>;
  }

  async #sendWithRetries(
    id: OperationId,
    parts: RequestParts,
    request: Request,
    { called: operation, idempotencyKey, ...options }: ResolvedOptions,
  ): Promise<WithResponse<unknown>> {
    const { fetch, baseUrl, hooks } = this.#defaults;
    const { signal, timeoutMs = this.#defaults.timeoutMs, maxRetries = this.#defaults.maxRetries } = options;
    const writes = RETRY_POLICY[id] !== 'read_only';
    let outcomeUnknown = false;
    for (let attempts = 1; ; attempts += 1) {
      const reportEnd = hooks.start(request, { operation, attempt: attempts, idempotencyKey, signal });
      const attempt = await attemptOnce(fetch, request, timeoutMs, signal);
      const response = attempt.kind === 'response' ? attempt : null;
      const result = classifyResponse(attempt, baseUrl, timeoutMs);
      const succeed = (data: unknown, from: HttpResponse) => {
        reportEnd(from, null, null);
        return { data, response: responseMetadata(from, { idempotencyKey, attempts }) };
      };
      if (result.kind === 'succeeded') return succeed(result.body, result.response);
      const wasUnknown = outcomeUnknown;
      outcomeUnknown = writes && (outcomeUnknown || result.outcomeUnknown);
      const context: CallContext = { operation, attempts, idempotencyKey, outcomeUnknown };
      const error = result.error(context);
      if (wasUnknown && response && isAlreadyDeleted(id, error))
        return succeed({ ...parts.path, deleted: true }, response);
      const waitMs = Math.max(backoffMs(attempts), result.waitMs ?? 0);
      const retries = isRetryable(id, result) && attempts <= maxRetries && waitMs <= MAX_WAIT_MS;
      reportEnd(response, error, retries ? waitMs : null);
      if (!retries) throw error;
      await pause(waitMs, signal);
    }
  }
}

function isRetryable(id: OperationId, { retry }: FailedAttempt): boolean {
  return retry === 'always' || (retry === 'if_idempotent' && RETRY_POLICY[id] !== 'never');
}

/** A 404 on a retried delete: an earlier attempt, whose response was lost, deleted the resource. */
function isAlreadyDeleted(id: OperationId, error: unknown): boolean {
  return OPERATIONS[id].method === 'DELETE' && error instanceof ApiError && error.code === 'not_found';
}

function resolveIdempotencyKey(id: OperationId, { idempotencyKey }: KeyedCallOptions): string | null {
  if (!OPERATIONS[id].keyed) return null;
  if (idempotencyKey === undefined) return crypto.randomUUID();
  if (typeof idempotencyKey !== 'string')
    throw new TypeError(`idempotencyKey must be a string, not ${describe(idempotencyKey)}`);
  if (!/^[\x20-\x7e]{1,255}$/.test(idempotencyKey) || idempotencyKey !== idempotencyKey.trim())
    throw new TypeError(
      'idempotencyKey must have 1 to 255 printable ASCII characters and no leading or trailing space',
    );
  return idempotencyKey;
}
