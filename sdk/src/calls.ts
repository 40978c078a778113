import { attemptOnce, type Request } from './attempt.ts';
import { classifyResponse } from './classify-response.ts';
import { ApiError, type CallContext } from './errors.ts';
import { OPERATIONS, type OperationId } from './generated/operations.ts';
import { List, type ListResponse } from './list.ts';
import type { Fetch, Signal } from './platform.ts';
import { buildRequest, type RequestParts, type Sender } from './request.ts';
import { RETRY_POLICY } from './retry-policy.ts';
import { backoffMs, pause } from './waiting.ts';

export interface CallOptions {
  /** Aborts the call at any time, also while it waits before a retry. */
  signal?: Signal | undefined;
  /** Timeout of each attempt. */
  timeoutMs?: number | undefined;
  /** Retries after the first attempt; 0 for none. */
  maxRetries?: number | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

export interface KeyedCallOptions extends CallOptions {
  /**
   * By default the SDK generates one per call and reuses it on every retry. Set your own, such as the order id, to make
   * retries by your program safe too.
   */
  idempotencyKey?: string | undefined;
}

export interface CallDefaults extends Sender {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly maxRetries: number;
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

  /** @param called the SDK method, for error messages */
  async send<Result>(
    id: OperationId,
    parts: RequestParts,
    options: KeyedCallOptions,
    called: string = OPERATIONS[id].called,
  ): Promise<Result> {
    const idempotencyKey = resolveIdempotencyKey(id, options);
    const request = buildRequest(this.#defaults, id, parts, { ...options, idempotencyKey });
    return (await this.#sendWithRetries(id, parts, request, {
      ...options,
      idempotencyKey,
      called,
    })) as Result;
  }

  list<Item>(id: OperationId, parts: RequestParts, options: CallOptions, called?: string): List<Item> {
    // A search has its filters, and with them the cursor, in the body.
    const place = parts.body === undefined ? 'query' : 'body';
    return new List<Item>((cursor) => {
      const filters = cursor === null ? parts[place] : { ...(parts[place] as object | undefined), cursor };
      return this.send<ListResponse<Item>>(
        id,
        { ...parts, ...(filters ? { [place]: filters } : {}) },
        options,
        called,
      );
    });
  }

  async #sendWithRetries(
    id: OperationId,
    parts: RequestParts,
    request: Request,
    options: CallOptions & { readonly idempotencyKey: string | null; readonly called: string },
  ): Promise<unknown> {
    const { fetch, baseUrl } = this.#defaults;
    const { signal, timeoutMs = this.#defaults.timeoutMs, maxRetries = this.#defaults.maxRetries } = options;
    const writes = RETRY_POLICY[id] !== 'read_only';
    let outcomeUnknown = false;
    for (let attempts = 1; ; attempts += 1) {
      const result = classifyResponse(
        await attemptOnce(fetch, request, timeoutMs, signal),
        baseUrl,
        timeoutMs,
      );
      if (result.kind === 'succeeded') return result.body;
      const wasUnknown = outcomeUnknown;
      outcomeUnknown = writes && (outcomeUnknown || result.outcomeUnknown);
      const context: CallContext = {
        operation: options.called,
        attempts,
        idempotencyKey: options.idempotencyKey,
        outcomeUnknown,
      };
      const error = result.error(context);
      if (wasUnknown && isAlreadyDeleted(id, error)) return { ...parts.path, deleted: true };
      const retryable =
        result.retry === 'always' || (result.retry === 'if_idempotent' && RETRY_POLICY[id] !== 'never');
      const waitMs = Math.max(backoffMs(attempts), result.waitMs ?? 0);
      if (!retryable || attempts > maxRetries || waitMs > MAX_WAIT_MS) throw error;
      await pause(waitMs, signal);
    }
  }
}

/** A 404 on a retried delete: an earlier attempt, whose response was lost, deleted the resource. */
function isAlreadyDeleted(id: OperationId, error: unknown): boolean {
  return OPERATIONS[id].method === 'DELETE' && error instanceof ApiError && error.code === 'not_found';
}

function resolveIdempotencyKey(id: OperationId, { idempotencyKey }: KeyedCallOptions): string | null {
  if (!OPERATIONS[id].keyed) return null;
  if (idempotencyKey === undefined) return crypto.randomUUID();
  if (!/^[\x20-\x7e]{1,255}$/.test(idempotencyKey) || idempotencyKey !== idempotencyKey.trim())
    throw new TypeError(
      'idempotencyKey must have 1 to 255 printable ASCII characters and no leading or trailing space',
    );
  return idempotencyKey;
}
