import type { Fetch, FetchRequest, FetchResponse, Signal } from './platform.ts';

/** Larger than any response of the API: a longer body comes from another server. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** Platform error codes that prove the request was not sent: DNS failure, connection refused, no route. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH']);

/** A response without its body. */
export type HttpResponse = Pick<FetchResponse, 'status' | 'headers'>;

export type Attempt =
  | (HttpResponse & {
      readonly kind: 'response';
      /** Null when the body is larger than MAX_RESPONSE_BYTES. */
      readonly text: string | null;
    })
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'aborted'; readonly neverSent: boolean }
  | { readonly kind: 'connection_failed'; readonly cause: unknown; readonly neverSent: boolean };

export interface Request extends Omit<FetchRequest, 'signal' | 'redirect'> {
  readonly url: string;
}

/** Sends one request and reads the complete response within `timeoutMs`. Never throws. */
export async function attemptOnce(
  fetch: Fetch,
  request: Request,
  timeoutMs: number,
  signal: Signal | undefined,
): Promise<Attempt> {
  return withDeadline(timeoutMs, signal, async (own) => {
    const response = await sendRequest(fetch, request, own);
    const text = await readText(response);
    return { kind: 'response', status: response.status, headers: response.headers, text };
  });
}

/** Does not follow redirects: they would send the API key to another host. */
export function sendRequest(
  fetch: Fetch,
  { url, ...request }: Request,
  signal: Signal,
): Promise<FetchResponse> {
  return fetch(url, { ...request, redirect: 'manual', signal });
}

async function withDeadline(
  timeoutMs: number,
  signal: Signal | undefined,
  work: (signal: Signal) => Promise<Attempt>,
): Promise<Attempt> {
  if (signal?.aborted) return { kind: 'aborted', neverSent: true };
  const own = new AbortController();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    own.abort();
  }, timeoutMs);
  const abort = () => own.abort();
  signal?.addEventListener('abort', abort);
  try {
    return await work(own.signal);
  } catch (error) {
    if (signal?.aborted) return { kind: 'aborted', neverSent: false };
    if (timedOut) return { kind: 'timed_out' };
    return { kind: 'connection_failed', cause: error, neverSent: isNeverSent(error) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** @returns null when the body has more than `maxBytes` */
export async function readText(
  { body }: Pick<FetchResponse, 'body'>,
  maxBytes = MAX_RESPONSE_BYTES,
): Promise<string | null> {
  if (body === null) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done || !value) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      await reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** The code of the error or of its causes: platforms wrap it in different ways. */
export function findErrorCode(error: unknown): string | null {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as { readonly code?: unknown };
    if (typeof code === 'string') return code;
  }
  return null;
}

function isNeverSent(error: unknown): boolean {
  return NEVER_SENT.has(findErrorCode(error) ?? '');
}
