import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { CheckoutWatch } from '../../flows/payment-links/watch-checkouts.system.ts';

interface PayinId {
  readonly organizationId: string;
  readonly id: string;
}

interface OpenPage {
  /** Status stamp of the screen that the browser shows; null if it did not say. */
  readonly shownStamp: string | null;
  /** Renders the current screen for this browser, with its cookies and language. */
  readonly renderScreen: () => Promise<string>;
}

/** Proxies cut long responses, so the stream ends first; browsers reconnect automatically. */
const MAX_STREAM_MS = 120_000;
const KEEP_ALIVE_MS = 15_000;

/** Sends the status stamp of a payment once, for browsers that cannot keep a stream. */
export async function sendStatusOnce(
  reply: FastifyReply,
  watch: CheckoutWatch,
  payin: PayinId,
): Promise<FastifyReply> {
  const stamp = await new Promise<string>((resolve) => {
    const unwatch = watch.watch(payin, (stamp) => {
      resolve(stamp);
      unwatch();
    });
  });
  return reply.headers(HEADERS).type('text/plain; charset=utf-8').send(stamp);
}

/**
 * Sends each new status stamp of a payment as a server-sent event, followed by the screen, so that a slow network is
 * crossed once. Without a screen in the event the browser fetches it.
 */
export function sendLiveStatus(
  reply: FastifyReply,
  watch: CheckoutWatch,
  payin: PayinId,
  page: OpenPage,
): FastifyReply {
  const stream = new Readable({ read: () => undefined });
  let ended = false;
  const send = (text: string | null) => {
    if (!ended) stream.push(text);
    ended ||= text === null;
  };
  let sending = Promise.resolve();
  send('retry: 1000\n\n');
  const unwatch = watch.watch(
    payin,
    (stamp) => {
      sending = sending.then(async () => send(await toEvent(stamp, page)));
    },
    () => send(null),
  );
  const keepAlive = setInterval(() => send(':\n\n'), KEEP_ALIVE_MS);
  const maxDuration = setTimeout(() => send(null), MAX_STREAM_MS);
  stream.once('close', () => {
    unwatch();
    clearInterval(keepAlive);
    clearTimeout(maxDuration);
  });
  return reply.headers(HEADERS).type('text/event-stream').header('x-accel-buffering', 'no').send(stream);
}

/** Too many connections or requests: the page tries again later. */
export function rejectLive(reply: FastifyReply, status: 429 | 503, retryAfterSeconds: number): FastifyReply {
  return reply
    .code(status)
    .headers({ ...HEADERS, 'retry-after': String(retryAfterSeconds) })
    .send();
}

const HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };

/** The stamp on the first line, the screen on the others. The stamp is also the event id, which browsers repeat when they reconnect. */
async function toEvent(stamp: string, { shownStamp, renderScreen }: OpenPage): Promise<string> {
  // A screen that cannot be rendered is not sent: the browser fetches it, and that request reports the error.
  const screen = stamp === shownStamp ? null : await renderScreen().catch(() => null);
  const data = screen === null ? stamp : `${stamp}\n${screen}`;
  return `id: ${stamp}\ndata: ${data.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n\n`;
}
