import type { Fetch, FetchAnswer, FetchRequest, Signal } from './platform.ts';

/** More than any answer of the API holds; what is longer comes from somewhere else. */
const MOST_ANSWER_BYTES = 32 * 1024 * 1024;

/** Errors of the platform that say the request cannot have left: the name was not found, nobody listens. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH']);

export type Attempt =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: FetchAnswer['headers'];
      /** Null: it was longer than any answer of the API. */
      readonly text: string | null;
    }
  | { readonly kind: 'timed out' }
  | { readonly kind: 'aborted'; readonly neverSent: boolean }
  | { readonly kind: 'broken'; readonly cause: unknown; readonly neverSent: boolean };

export interface Request extends Omit<FetchRequest, 'signal' | 'redirect'> {
  readonly url: string;
}

/** One request and its whole answer within `timeoutMs`. Never throws. */
export async function attemptOnce(
  fetch: Fetch,
  request: Request,
  timeoutMs: number,
  signal: Signal | undefined,
): Promise<Attempt> {
  return withDeadline(timeoutMs, signal, async (own) => {
    const answer = await openAnswer(fetch, request, own);
    const text = await readText(answer);
    return { kind: 'answered', status: answer.status, headers: answer.headers, text };
  });
}

/** A redirect is not followed: it would carry the API key wherever it points. */
export function openAnswer(fetch: Fetch, { url, ...request }: Request, signal: Signal): Promise<FetchAnswer> {
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
    if (timedOut) return { kind: 'timed out' };
    return { kind: 'broken', cause: error, neverSent: neverSent(error) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

export async function readText({ body }: FetchAnswer): Promise<string | null> {
  if (body === null) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done || !value) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MOST_ANSWER_BYTES) {
      await reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** The code of the error, or of what lies beneath it: each platform wraps it another way. */
export function codeOf(error: unknown): string | null {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as { readonly code?: unknown };
    if (typeof code === 'string') return code;
  }
  return null;
}

function neverSent(error: unknown): boolean {
  return NEVER_SENT.has(codeOf(error) ?? '');
}
