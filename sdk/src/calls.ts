import { attemptOnce, type Request } from './attempt.ts';
import { judge } from './classify-response.ts';
import { ApiError, type CallFacts } from './errors.ts';
import { OPERATIONS, type OperationId } from './generated/operations.ts';
import { List, type ListAnswer } from './list.ts';
import type { Fetch, Signal } from './platform.ts';
import { type RequestParts, requestOf, type Sender } from './request.ts';
import { REPEATS } from './retry-policy.ts';
import { backoffMs, pause } from './waiting.ts';

export interface CallOptions {
  /** Ends the call at any time, also while it waits to be repeated. */
  signal?: Signal | undefined;
  /** For each attempt. */
  timeoutMs?: number | undefined;
  /** Repeats after the first attempt; 0 for none. */
  maxRetries?: number | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

export interface KeyedCallOptions extends CallOptions {
  /**
   * Made by the SDK for every call when left out, and the same on every repeat. Give your own, such as the id of the
   * order, to make repeats by your program safe too.
   */
  idempotencyKey?: string | undefined;
}

export interface CallDefaults extends Sender {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly maxRetries: number;
}

/** Whoever is asked to wait longer than this hears of it instead: a program should not stand still for minutes. */
const LONGEST_WAIT_MS = 30_000;

/** Makes the calls of one client. */
export class Calls {
  readonly #defaults: CallDefaults;

  constructor(defaults: CallDefaults) {
    this.#defaults = defaults;
  }

  get defaults(): CallDefaults {
    return this.#defaults;
  }

  /** @param called what the program called, for errors */
  async send<Answer>(
    id: OperationId,
    parts: RequestParts,
    options: KeyedCallOptions,
    called: string = OPERATIONS[id].called,
  ): Promise<Answer> {
    const idempotencyKey = keyOf(id, options);
    const request = requestOf(this.#defaults, id, parts, { ...options, idempotencyKey });
    return (await this.#repeated(id, parts, request, { ...options, idempotencyKey, called })) as Answer;
  }

  list<Item>(id: OperationId, parts: RequestParts, options: CallOptions, called?: string): List<Item> {
    return new List<Item>((cursor) => {
      const query = cursor === null ? parts.query : { ...parts.query, cursor };
      return this.send<ListAnswer<Item>>(id, { ...parts, ...(query ? { query } : {}) }, options, called);
    });
  }

  async #repeated(
    id: OperationId,
    parts: RequestParts,
    request: Request,
    options: CallOptions & { readonly idempotencyKey: string | null; readonly called: string },
  ): Promise<unknown> {
    const { fetch, baseUrl } = this.#defaults;
    const { signal, timeoutMs = this.#defaults.timeoutMs, maxRetries = this.#defaults.maxRetries } = options;
    const writes = REPEATS[id] !== 'reads';
    let unknown = false;
    for (let attempts = 1; ; attempts += 1) {
      const verdict = judge(await attemptOnce(fetch, request, timeoutMs, signal), baseUrl, timeoutMs);
      if (verdict.kind === 'done') return verdict.body;
      const before = unknown;
      unknown = writes && (unknown || verdict.unknown);
      const facts: CallFacts = {
        operation: options.called,
        attempts,
        idempotencyKey: options.idempotencyKey,
        outcomeUnknown: unknown,
      };
      const error = verdict.error(facts);
      if (before && isGone(id, error)) return { ...parts.path, deleted: true };
      const repeatable =
        verdict.again === 'always' || (verdict.again === 'if harmless' && REPEATS[id] !== 'never');
      const waitMs = Math.max(backoffMs(attempts), verdict.waitMs ?? 0);
      if (!repeatable || attempts > maxRetries || waitMs > LONGEST_WAIT_MS) throw error;
      await pause(waitMs, signal);
    }
  }
}

/** An earlier attempt to delete it may have succeeded unheard: then it is gone because it was asked to be. */
function isGone(id: OperationId, error: unknown): boolean {
  return OPERATIONS[id].method === 'DELETE' && error instanceof ApiError && error.code === 'not_found';
}

function keyOf(id: OperationId, { idempotencyKey }: KeyedCallOptions): string | null {
  if (!OPERATIONS[id].keyed) return null;
  if (idempotencyKey === undefined) return crypto.randomUUID();
  if (!/^[\x20-\x7e]{1,255}$/.test(idempotencyKey) || idempotencyKey !== idempotencyKey.trim())
    throw new TypeError(
      'idempotencyKey takes 1 to 255 printable ASCII characters, none of them a space at an end',
    );
  return idempotencyKey;
}
