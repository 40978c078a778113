import { findErrorCode, type HttpResponse, type Request } from './attempt.ts';
import type { CaudalError } from './errors.ts';
import type { Signal } from './platform.ts';
import { isReplayed, readRequestId } from './response-metadata.ts';

/** An attempt that is about to be sent. Contains no credential and no body. */
export interface RequestEvent {
  /** The SDK method: `payins.create`. */
  readonly operation: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** 1 for the first attempt of a call, 2 for its first retry. */
  readonly attempt: number;
  /** The same on every attempt; null when the operation takes none. */
  readonly idempotencyKey: string | null;
}

/** An attempt that ended, with or without a response. Contains no credential and no body. */
export interface ResponseEvent extends RequestEvent {
  /** HTTP status; null without a response. */
  readonly status: number | null;
  readonly requestId: string | null;
  /** The response repeats that of an earlier request with this idempotency key. */
  readonly replayed: boolean;
  readonly durationMs: number;
  /** Null for a success. `code` is the problem code (`rate_limited`) or the platform's (`ECONNREFUSED`). */
  readonly error: { readonly name: string; readonly code: string | null } | null;
  /** The call is retried after this time; null when it is not retried. */
  readonly retryInMs: number | null;
}

/**
 * Functions that the client calls for logs and metrics. They cannot change a call: the client does not wait for them, and
 * an error in one is written to `console.error`, once per hook.
 */
export interface Hooks {
  /** Called before each attempt. */
  onRequest?: ((event: RequestEvent) => unknown) | undefined;
  /** Called after each attempt, also when there was no response. */
  onResponse?: ((event: ResponseEvent) => unknown) | undefined;
}

/** Reports the end of an attempt. `retryInMs` is null when the call is not retried. */
export type ReportEnd = (
  response: HttpResponse | null,
  error: CaudalError | null,
  retryInMs: number | null,
) => void;

interface StartedAttempt extends Omit<RequestEvent, 'method' | 'path'> {
  readonly signal: Signal | undefined;
}

/** Calls the hooks of one client. Never throws. */
export class HookRunner {
  readonly #hooks: Hooks;
  readonly #reported = new Set<keyof Hooks>();

  constructor(hooks: Hooks) {
    this.#hooks = hooks;
  }

  /** Calls `onRequest`; the returned function calls `onResponse`. Neither is called when nothing is sent. */
  start({ method, url }: Request, { signal, ...attempt }: StartedAttempt): ReportEnd {
    if (signal?.aborted || (!this.#hooks.onRequest && !this.#hooks.onResponse)) return () => undefined;
    const request = { ...attempt, method, path: new URL(url).pathname };
    this.#run('onRequest', { ...request });
    const startedAt = performance.now();
    return (response, error, retryInMs) => {
      this.#run('onResponse', {
        ...request,
        status: response?.status ?? null,
        requestId: response ? readRequestId(response.headers) : null,
        replayed: response ? isReplayed(response.headers) : false,
        durationMs: Math.round(performance.now() - startedAt),
        error: error && { name: error.name, code: findErrorCode(error) },
        retryInMs: retryInMs === null ? null : Math.round(retryInMs),
      });
    };
  }

  #run<Name extends keyof Hooks>(name: Name, event: Parameters<NonNullable<Hooks[Name]>>[0]): void {
    const report = (error: unknown) => this.#report(name, error);
    try {
      const hook = this.#hooks[name] as ((event: RequestEvent) => unknown) | undefined;
      Promise.resolve(hook?.(event)).catch(report);
    } catch (error) {
      report(error);
    }
  }

  #report(name: keyof Hooks, error: unknown): void {
    if (this.#reported.has(name)) return;
    this.#reported.add(name);
    const { console } = globalThis as { readonly console?: { error(...values: unknown[]): void } };
    console?.error(`@caudal/sdk: hooks.${name} failed, calls continue (reported once):`, error);
  }
}
