import type { Socket } from 'node:net';
import { afterEach } from 'vitest';
import {
  type SenderOptions,
  type SendResult,
  WebhookSender,
} from '../../src/webhooks/sending/webhook-sender.ts';
import { type RawPeer, type RawRequest, startRawPeer } from './raw-peer.ts';
import { until } from './until.ts';

/** Stands for the public internet where a test says nothing else. */
export const OUTSIDE = '127.0.0.7';

export interface WebhookDriver {
  /** A receiver outside that does this with every request. */
  peerThat(answer: (socket: Socket, request: RawRequest) => void): Promise<RawPeer>;
  sender(options?: SenderOptions): WebhookSender;
  /** To be done when the test is over, the last first. */
  later(stop: () => unknown): void;
}

/** What a test of sending needs, put away after each test. */
export function openWebhookDriver(): WebhookDriver {
  const stops: (() => unknown)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });
  return {
    peerThat: async (answer) => {
      const peer = await startRawPeer(answer, { host: OUTSIDE });
      stops.push(() => peer.stop());
      return peer;
    },
    sender: (options = {}) => {
      const made = new WebhookSender({ isAllowed: (address) => address === OUTSIDE, ...options });
      stops.push(() => made.close());
      return made;
    },
    later: (stop) => {
      stops.push(stop);
    },
  };
}

export function post(
  from: WebhookSender,
  { port }: { readonly port: number },
  path = '/hook',
): Promise<SendResult> {
  return from.send({ url: `http://${OUTSIDE}:${port}${path}`, headers: {}, body: Buffer.from('{}') });
}

export function answered(result: SendResult) {
  if (result.kind !== 'answered') throw new Error(`failed: ${result.reason}`);
  return result;
}

/** Once the peer's sockets are gone, the sender has let go of them. */
export function letGo(peer: RawPeer): Promise<boolean> {
  return until('the connection is closed', () => Promise.resolve(peer.open === 0));
}
