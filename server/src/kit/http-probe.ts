import { Agent, request } from 'undici';
import { monotonicMs, realTime } from './clock.ts';
import { strictConnector, type TlsMaterial } from './strict-tls.ts';

interface HttpProbe {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly tls?: TlsMaterial | null;
  readonly signal: AbortSignal;
}

interface HttpReply {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
  /** How far the peer's clock is ahead of ours; null without a `Date` header. */
  readonly ahead: ClockDifference | null;
}

export interface ClockDifference {
  readonly ms: number;
  /** Uncertainty from the round trip and the resolution of the header. */
  readonly withinMs: number;
}

const MAX_RESPONSE_BYTES = 256 * 1024;

/** Sends one request on a new connection, to check whether a peer is reachable now. */
export async function probe(options: HttpProbe): Promise<HttpReply> {
  const dispatcher = new Agent({
    connect: strictConnector(options.tls ?? null, 5000),
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
  const startedAt = monotonicMs();
  try {
    const { statusCode, headers, body } = await request(options.url, {
      method: options.method ?? 'GET',
      headers: {
        accept: 'application/json',
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body: options.body === undefined ? null : JSON.stringify(options.body),
      signal: options.signal,
      dispatcher,
    });
    const ms = monotonicMs() - startedAt;
    const ahead = clockDifference(headers['date'], ms);
    return { status: statusCode, text: await body.text(), ms, ahead };
  } finally {
    await dispatcher.destroy();
  }
}

/** The header has a resolution of one second: on average the peer's clock is half a second ahead of it. */
function clockDifference(date: string | string[] | undefined, tookMs: number): ClockDifference | null {
  const dateMs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(dateMs)) return null;
  return { ms: dateMs + 500 - (realTime().getTime() - tookMs / 2), withinMs: 500 + tookMs / 2 };
}
