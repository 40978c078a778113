import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { CheckoutWatch } from '../../flows/payment-links/watch-checkouts.system.ts';

interface PayinId {
  readonly organizationId: string;
  readonly id: string;
}

/** Proxies cut long responses, so the stream ends first; browsers reconnect automatically. */
const MAX_STREAM_MS = 120_000;
const KEEP_ALIVE_MS = 15_000;

/** Sends the status stamp of a payment as server-sent events, or once for browsers that cannot keep a stream. */
export async function sendLiveStatus(
  reply: FastifyReply,
  watch: CheckoutWatch,
  payin: PayinId,
  once: boolean,
): Promise<FastifyReply> {
  void reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
  if (once) {
    const stamp = await new Promise<string>((resolve) => {
      const unwatch = watch.watch(payin, (stamp) => {
        resolve(stamp);
        unwatch();
      });
    });
    return reply.type('text/plain; charset=utf-8').send(stamp);
  }
  if (watch.full) return reply.code(503).header('retry-after', '5').send();
  const stream = new Readable({ read: () => undefined });
  stream.push('retry: 1000\n\n');
  const unwatch = watch.watch(
    payin,
    (stamp) => stream.push(`data: ${stamp}\n\n`),
    () => stream.push(null),
  );
  const keepAlive = setInterval(() => stream.push(':\n\n'), KEEP_ALIVE_MS);
  const maxDuration = setTimeout(() => stream.push(null), MAX_STREAM_MS);
  stream.once('close', () => {
    unwatch();
    clearInterval(keepAlive);
    clearTimeout(maxDuration);
  });
  return reply.type('text/event-stream').header('x-accel-buffering', 'no').send(stream);
}
