import { createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { QueuedNotice } from './notice.ts';

/** Fault of a post: a wrong signature, or a connection that resets or hangs in the middle of the body. */
export type PostFault = 'bad-signature' | 'reset' | 'hang' | null;

type Post = {
  readonly url: string;
  readonly secret: string;
  readonly notices: readonly QueuedNotice['notice'][];
  readonly postFault: PostFault;
  /** A response that takes longer counts as no response. */
  readonly answerDeadlineMs: number;
  readonly closing: AbortSignal;
};

const AGENTS = {
  'http:': new http.Agent({ keepAlive: true }),
  'https:': new https.Agent({ keepAlive: true }),
};

/** Returns the response status; null when there was no response. Never throws: every failure is retried. */
export function postNotices(post: Post): Promise<number | null> {
  const body = Buffer.from(JSON.stringify({ notices: post.notices }));
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const request = open(post, body);
  const deadline = setTimeout(() => request.destroy(), post.answerDeadlineMs);
  const abandon = (): void => void request.destroy();
  post.closing.addEventListener('abort', abandon);
  request.on('response', (response) => {
    response.on('error', () => undefined).resume();
    resolve(response.statusCode ?? null);
  });
  request.on('error', () => resolve(null));
  request.on('close', () => {
    clearTimeout(deadline);
    post.closing.removeEventListener('abort', abandon);
    resolve(null);
  });
  if (post.postFault === 'reset') {
    request.write(body.subarray(0, body.length >> 1), () => request.socket?.resetAndDestroy());
  } else if (post.postFault === 'hang') {
    request.write(body.subarray(0, body.length >> 1));
  } else {
    request.end(body);
  }
  return promise;
}

function open({ url, secret, postFault }: Post, body: Buffer): http.ClientRequest {
  const isTls = url.startsWith('https:');
  // Real time instead of the simulator's clock: the receiver rejects old timestamps.
  const timestamp = String(Math.floor(Date.now() / 1000));
  return (isTls ? https : http).request(url, {
    method: 'POST',
    // A connection that will break must not be shared with other posts.
    agent: postFault === 'reset' || postFault === 'hang' ? false : AGENTS[isTls ? 'https:' : 'http:'],
    headers: {
      'content-type': 'application/json',
      'content-length': body.length,
      'x-notice-timestamp': timestamp,
      'x-notice-signature': sign(postFault === 'bad-signature' ? `not ${secret}` : secret, timestamp, body),
    },
  });
}

function sign(secret: string, timestamp: string, body: Buffer): string {
  return `v1=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
}
