import type { HttpResponse } from './attempt.ts';

/** One rate limit that applies to a call, and what is left of it. */
export interface RateLimit {
  /** `writes` or `reads` of the organization, `key-writes` or `key-reads` of the API key. */
  readonly name: string;
  /** Requests that are allowed in `windowSeconds`. */
  readonly quota: number;
  readonly windowSeconds: number;
  /** Requests that are left for the next `remainingSeconds`; at 0 the next request gets 429. */
  readonly remaining: number;
  readonly remainingSeconds: number;
}

/** The response to a call, without its body: plain data, which can be logged. */
export interface ResponseMetadata {
  /** HTTP status. */
  readonly status: number;
  /** Quote it in support requests. Null when a proxy removed the header. */
  readonly requestId: string | null;
  /**
   * True when the response repeats that of an earlier request with this idempotency key. With `attempts` 1 this call
   * created nothing; after a retry, an earlier attempt of this call may have created it.
   */
  readonly replayed: boolean;
  /** Sent with every attempt; null when the operation takes none. */
  readonly idempotencyKey: string | null;
  /** Requests sent for this call, including retries. */
  readonly attempts: number;
  /** Empty when no limit applies. */
  readonly rateLimits: readonly RateLimit[];
}

export function responseMetadata(
  { status, headers }: HttpResponse,
  { idempotencyKey, attempts }: Pick<ResponseMetadata, 'idempotencyKey' | 'attempts'>,
): ResponseMetadata {
  return {
    status,
    requestId: readRequestId(headers),
    replayed: isReplayed(headers),
    idempotencyKey,
    attempts,
    rateLimits: readRateLimits(headers),
  };
}

export function readRequestId(headers: HttpResponse['headers']): string | null {
  return headers.get('x-request-id');
}

export function isReplayed(headers: HttpResponse['headers']): boolean {
  return headers.get('idempotent-replayed') === 'true';
}

/** `RateLimit-Policy: "writes";q=500;w=5` and `RateLimit: "writes";r=498;t=1`, with one item per limit. */
function readRateLimits(headers: HttpResponse['headers']): RateLimit[] {
  const states = readItems(headers.get('ratelimit'));
  return [...readItems(headers.get('ratelimit-policy'))].flatMap(([name, { q, w }]) => {
    const { r, t } = states.get(name) ?? {};
    // A proxy may add headers of the same name in another format.
    if (q === undefined || w === undefined || r === undefined || t === undefined) return [];
    return [{ name, quota: q, windowSeconds: w, remaining: r, remainingSeconds: t }];
  });
}

/** Quoted names and their integer parameters; ignores everything else. */
function readItems(header: string | null): Map<string, Readonly<Record<string, number>>> {
  const items = [...(header ?? '').matchAll(/"([^"\\]*)"((?:;[a-z]+=\d{1,15})+)/g)];
  return new Map(
    items.map(([, name = '', parameters = '']) => [
      name,
      Object.fromEntries(
        [...parameters.matchAll(/;([a-z]+)=(\d+)/g)].map(([, key = '', value]) => [key, Number(value)]),
      ),
    ]),
  );
}
