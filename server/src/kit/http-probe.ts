import { Agent, request } from 'undici';
import { monotonicMs, realTime } from './clock.ts';

interface HttpProbe {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly signal: AbortSignal;
}

interface HttpReply {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
  /** How far the peer's clock is ahead of ours; null when it does not say. */
  readonly ahead: ClockDifference | null;
}

export interface ClockDifference {
  readonly ms: number;
  /** It is this much more or less: what the journey and the coarseness of the header leave open. */
  readonly withinMs: number;
}

const LARGEST = 256 * 1024;

/** One question on a connection of its own: it shows whether a peer can be reached from here, now. */
export async function probe(question: HttpProbe): Promise<HttpReply> {
  const dispatcher = new Agent({ connect: { timeout: 5000 }, maxResponseSize: LARGEST });
  const began = monotonicMs();
  try {
    const { statusCode, headers, body } = await request(question.url, {
      method: question.method ?? 'GET',
      headers: {
        accept: 'application/json',
        ...(question.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...question.headers,
      },
      body: question.body === undefined ? null : JSON.stringify(question.body),
      signal: question.signal,
      dispatcher,
    });
    const ms = monotonicMs() - began;
    const ahead = difference(headers['date'], ms);
    return { status: statusCode, text: await body.text(), ms, ahead };
  } finally {
    await dispatcher.destroy();
  }
}

/** The header has no more than seconds: on average the peer's clock is half a second further. */
function difference(date: string | string[] | undefined, tookMs: number): ClockDifference | null {
  const notification = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(notification)) return null;
  return { ms: notification + 500 - (realTime().getTime() - tookMs / 2), withinMs: 500 + tookMs / 2 };
}
