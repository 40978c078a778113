import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { CheckoutWatch } from '../../flows/payment-links/watch-checkouts.ts';

interface Watched {
  readonly organizationId: string;
  readonly id: string;
}

/** A browser asks anew by itself; proxies between cut what lasts too long. */
const LIFE_MS = 120_000;
const SIGN_OF_LIFE_MS = 15_000;

/** How a payment stands, as server-sent events whenever that changes; or once, for who cannot keep a stream. */
export async function liveText(
  reply: FastifyReply,
  watch: CheckoutWatch,
  payin: Watched,
  once: boolean,
): Promise<FastifyReply> {
  void reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
  if (once) {
    const stamp = await new Promise<string>((resolve) => {
      const end = watch.watch(payin, (text) => {
        resolve(text);
        end();
      });
    });
    return reply.type('text/plain; charset=utf-8').send(stamp);
  }
  if (watch.full) return reply.code(503).header('retry-after', '5').send();
  const stream = new Readable({ read: () => undefined });
  stream.push('retry: 1000\n\n');
  const end = watch.watch(
    payin,
    (text) => stream.push(`data: ${text}\n\n`),
    () => stream.push(null),
  );
  const alive = setInterval(() => stream.push(':\n\n'), SIGN_OF_LIFE_MS);
  const life = setTimeout(() => stream.push(null), LIFE_MS);
  stream.once('close', () => {
    end();
    clearInterval(alive);
    clearTimeout(life);
  });
  return reply.type('text/event-stream').header('x-accel-buffering', 'no').send(stream);
}
