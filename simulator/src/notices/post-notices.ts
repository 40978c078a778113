import { createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { QueuedNotice } from './notice.ts';

/** No answer within this is none. */
const ANSWER_DEADLINE_MS = 5000;

/** How a post is spoilt on purpose: forged, or broken off or left hanging in the middle of its body. */
export type Spoilt = 'bad-signature' | 'reset' | 'hang' | null;

type Post = {
  readonly url: string;
  readonly secret: string;
  readonly notices: readonly QueuedNotice['notice'][];
  readonly spoilt: Spoilt;
  readonly closing: AbortSignal;
};

const AGENTS = {
  'http:': new http.Agent({ keepAlive: true }),
  'https:': new https.Agent({ keepAlive: true }),
};

/** The status of the answer; null when none came. Never throws: whatever went wrong, it is sent again. */
export function postNotices(post: Post): Promise<number | null> {
  const body = Buffer.from(JSON.stringify({ notices: post.notices }));
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const request = open(post, body);
  const deadline = setTimeout(() => request.destroy(), ANSWER_DEADLINE_MS);
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
  if (post.spoilt === 'reset') {
    request.write(body.subarray(0, body.length >> 1), () => request.socket?.resetAndDestroy());
  } else if (post.spoilt === 'hang') {
    request.write(body.subarray(0, body.length >> 1));
  } else {
    request.end(body);
  }
  return promise;
}

function open({ url, secret, spoilt }: Post, body: Buffer): http.ClientRequest {
  const isTls = url.startsWith('https:');
  // Real time, whatever the simulator's clock says: the receiver refuses what is too old.
  const timestamp = String(Math.floor(Date.now() / 1000));
  return (isTls ? https : http).request(url, {
    method: 'POST',
    // A connection that is going to break must not be one that others wait for.
    agent: spoilt === 'reset' || spoilt === 'hang' ? false : AGENTS[isTls ? 'https:' : 'http:'],
    headers: {
      'content-type': 'application/json',
      'content-length': body.length,
      'x-notice-timestamp': timestamp,
      'x-notice-signature': sign(spoilt === 'bad-signature' ? `not ${secret}` : secret, timestamp, body),
    },
  });
}

function sign(secret: string, timestamp: string, body: Buffer): string {
  return `v1=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
}
