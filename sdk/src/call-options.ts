import { checkNames, checkRetries, checkTimeout, describe } from './option-checks.ts';
import type { Signal } from './platform.ts';

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

const NAMES: Readonly<Record<keyof KeyedCallOptions, true>> = {
  signal: true,
  timeoutMs: true,
  maxRetries: true,
  headers: true,
  idempotencyKey: true,
};

/** Headers that the client sets itself: it would silently replace them. */
const RESERVED_HEADERS: Readonly<Record<string, string>> = {
  'idempotency-key': 'use the option idempotencyKey',
  'x-api-key': 'use the option apiKey of new Caudal',
  authorization: 'use the option accessToken of new Caudal',
  'content-type': 'the client sets it',
};

/**
 * A misspelled `idempotencyKey` must not be ignored: the repeated call would be a second payment.
 * @param called the SDK method, for the message
 * @throws TypeError
 */
export function checkCallOptions(called: string, options: KeyedCallOptions): void {
  checkNames(called, options, Object.keys(NAMES));
  if (options.timeoutMs !== undefined) checkTimeout(options.timeoutMs);
  if (options.maxRetries !== undefined) checkRetries(options.maxRetries);
  checkSignal(options.signal);
  checkHeaders(options.headers);
}

export function checkSignal(signal: { readonly addEventListener?: unknown } | null | undefined): void {
  if (signal !== undefined && typeof signal?.addEventListener !== 'function')
    throw new TypeError(`signal must be an AbortSignal, not ${describe(signal)}`);
}

function checkHeaders(headers: unknown): void {
  if (headers === undefined) return;
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers))
    throw new TypeError(`headers must be a plain object, not ${describe(headers)}`);
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value);
}

/** The platform would reject an invalid header only when it sends it, with its value in the message. */
function checkHeader(name: string, value: unknown): void {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
    throw new TypeError(`headers has a name with invalid characters: ${JSON.stringify(name)}`);
  const owner = RESERVED_HEADERS[name.toLowerCase()];
  if (owner !== undefined) throw new TypeError(`headers must not contain ${name}: ${owner}`);
  if (typeof value !== 'string')
    throw new TypeError(`headers.${name} must be a string, not ${describe(value)}`);
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
    throw new TypeError(`headers.${name} contains a line break or another invalid character`);
}
