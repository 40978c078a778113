import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './harness.ts';

export type Notice = Readonly<Record<string, unknown>> & { readonly noticeId: string };

export type Post = {
  readonly rail: 'breb' | 'pse';
  readonly signed: boolean;
  readonly notices: readonly Notice[];
  /** When it arrived, comparable with the times of the journal. */
  readonly atMs: number;
};

/** A response status, or a connection failure instead of a response. */
type Answer = number | 'reset' | 'hang';

const SECRETS = {
  breb: 'dev-breb-notice-secret-of-one-machine',
  pse: 'dev-pse-notice-secret-of-one-machine',
};

/** A stub of the server. Stores every complete post and responds as configured by `answer`. */
export type Receiver = {
  readonly url: string;
  readonly posts: Post[];
  /** Posts whose body was incomplete. */
  readonly broken: { count: number };
  /** A test may replace it; 200 by default. A promise holds the post. */
  answer: (post: Post) => Answer | Promise<Answer>;
  /** Every notice answered with 200, once per post. */
  readonly accepted: Notice[];
  /** Maximum number of concurrent posts of a rail. */
  readonly maxConcurrentPosts: Record<Post['rail'], number>;
};

const servers: Server[] = [];

export async function startReceiver(): Promise<Receiver> {
  const receiver: Receiver = {
    url: '',
    posts: [],
    broken: { count: 0 },
    answer: () => 200,
    accepted: [],
    maxConcurrentPosts: { breb: 0, pse: 0 },
  };
  const open = { breb: 0, pse: 0 };
  const server = createServer((request, response) => {
    receive(receiver, open, request, response).catch(() => (receiver.broken.count += 1));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(receiver, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

export function endReceivers(): void {
  for (const server of servers) server.close().closeAllConnections();
}

async function receive(
  receiver: Receiver,
  open: Record<Post['rail'], number>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const rail = request.url === '/rail-notices/breb' ? 'breb' : 'pse';
  if (request.url !== `/rail-notices/${rail}`) throw new Error(`posted to ${request.url}`);
  const post: Post = {
    rail,
    signed: isSigned(request, SECRETS[rail], body),
    notices: (JSON.parse(body.toString('utf8')) as { notices: Notice[] }).notices,
    atMs: Date.now(),
  };
  receiver.posts.push(post);
  open[rail] += 1;
  receiver.maxConcurrentPosts[rail] = Math.max(receiver.maxConcurrentPosts[rail], open[rail]);
  const answer = await receiver.answer(post);
  open[rail] -= 1;
  if (answer === 'hang') return;
  if (answer === 'reset') {
    request.socket.resetAndDestroy();
    return;
  }
  if (answer === 200) receiver.accepted.push(...post.notices);
  response.writeHead(answer).end();
}

/** Implements the signature independently of the simulator's code. */
function isSigned({ headers }: IncomingMessage, secret: string, body: Buffer): boolean {
  const timestamp = String(headers['x-notice-timestamp']);
  if (!/^\d{10}$/.test(timestamp) || Math.abs(Number(timestamp) - Date.now() / 1000) > 30) return false;
  if (headers['content-type'] !== 'application/json') return false;
  const signed = Buffer.concat([Buffer.from(`${timestamp}.`), body]);
  return headers['x-notice-signature'] === `v1=${createHmac('sha256', secret).update(signed).digest('hex')}`;
}

export function getAccepted({ accepted }: Receiver, id: string): Notice[] {
  return accepted.filter(({ key, reference, endToEndId }) => [key, reference, endToEndId].includes(id));
}

export async function untilAccepted(receiver: Receiver, id: string, count = 1): Promise<Notice[]> {
  await eventually(
    () => getAccepted(receiver, id).length >= count,
    () => `${count} notice(s) of ${id} accepted, not ${getAccepted(receiver, id).length}`,
  );
  return getAccepted(receiver, id);
}
