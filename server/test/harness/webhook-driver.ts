import type { Socket } from 'node:net';
import { afterEach } from 'vitest';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import {
  type SenderOptions,
  type SendResult,
  WebhookSender,
} from '../../src/webhooks/sending/webhook-sender.ts';
import { type RawPeer, type RawRequest, startRawPeer } from './raw-peer.ts';
import { until } from './until.ts';

/** An address that the sender treats as public unless a test says otherwise. */
export const PUBLIC_ADDRESS = '127.0.0.7';

export interface WebhookDriver {
  /** A receiver on the public address with this behavior for every request. */
  startPeer(answer: (socket: Socket, request: RawRequest) => void): Promise<RawPeer>;
  sender(options?: SenderOptions): WebhookSender;
  /** Registers a cleanup for the end of the test; cleanups run in reverse order. */
  addCleanup(stop: () => unknown): void;
}

/** Creates senders and receivers for one test and stops them afterwards. */
export function openWebhookDriver(): WebhookDriver {
  const stops: (() => unknown)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });
  return {
    startPeer: async (answer) => {
      const peer = await startRawPeer(answer, { host: PUBLIC_ADDRESS });
      stops.push(() => peer.stop());
      return peer;
    },
    sender: (options = {}) => {
      const sender = new WebhookSender({
        isAllowed: (address) => address === PUBLIC_ADDRESS,
        connectMs: PATIENCE_MS,
        ...options,
      });
      stops.push(() => sender.close());
      return sender;
    },
    addCleanup: (stop) => {
      stops.push(stop);
    },
  };
}

export function post(
  from: WebhookSender,
  { port }: { readonly port: number },
  path = '/hook',
): Promise<SendResult> {
  return from.send({ url: `http://${PUBLIC_ADDRESS}:${port}${path}`, headers: {}, body: Buffer.from('{}') });
}

export function expectAnswered(result: SendResult) {
  if (result.kind !== 'answered') throw new Error(`failed: ${result.reason}`);
  return result;
}

/** Waits until the sender has closed all connections to the peer. */
export function waitUntilClosed(peer: RawPeer): Promise<boolean> {
  return until('the connection is closed', () => Promise.resolve(peer.open === 0));
}
