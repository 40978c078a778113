import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { OK, type RawPeer, startRawPeer } from '../harness/raw-peer.ts';
import { type EndpointWithSecret, expectStatus, WebhookStage } from './webhook-stage.ts';

let stage: WebhookStage;
let loopbackPeer: RawPeer;
beforeAll(async () => {
  loopbackPeer = await startRawPeer((socket) => socket.write(OK), { host: '127.0.0.1' });
  stage = await WebhookStage.open({ workers: 0 });
});
afterAll(async () => {
  await loopbackPeer?.stop();
  await stage?.close();
});

it('a worker without the loopback setting connects to no loopback address and reports refused_address', async () => {
  const merchant = await stage.merchant();
  // Created where loopback is allowed; a name that was public on registration could resolve to an internal
  // address as well.
  const endpoints = await Promise.all(
    ['127.0.0.1', 'localhost'].map(async (host) => {
      const url = `http://${host}:${loopbackPeer.port}/hook`;
      return expectStatus(await merchant.api.post<EndpointWithSecret>('/webhook-endpoints', { url }), 201);
    }),
  );
  const eventId = await merchant.declinePayout();
  const { CAUDAL_WEBHOOKS_ALLOW_LOOPBACK: allowed, ...settings } = stage.stack.settings;
  expect(allowed).toBe('yes');
  const strict = await startServer('worker', settings);
  try {
    for (const endpoint of endpoints) {
      const { attempts } = await merchant.waitForDelivery(eventId, endpoint, 'PENDING', 1);
      for (const attempt of attempts)
        expect(attempt).toMatchObject({ statusCode: null, error: 'refused_address', answer: null });
    }
    expect(loopbackPeer.connections).toBe(0);
  } finally {
    await strict.stop();
  }
  // The peer exists and answers a worker that may connect.
  const lenient = await startServer('worker', stage.stack.settings);
  try {
    await stage.stack.shiftTime(60_000);
    for (const endpoint of endpoints) await merchant.waitForDelivery(eventId, endpoint, 'DELIVERED', 2);
    expect(loopbackPeer.requests).toHaveLength(2);
  } finally {
    await lenient.stop();
  }
});
