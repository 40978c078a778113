import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { OK, type RawPeer, startRawPeer } from '../harness/raw-peer.ts';
import { type EndpointWithSecret, expected, WebhookStage } from './webhook-stage.ts';

let stage: WebhookStage;
let inside: RawPeer;
beforeAll(async () => {
  inside = await startRawPeer((socket) => socket.write(OK), { host: '127.0.0.1' });
  stage = await WebhookStage.open({ workers: 0 });
});
afterAll(async () => {
  await inside?.stop();
  await stage?.close();
});

it('a worker that is not told of the loopback sends no packet there, and the merchant is told why', async () => {
  const merchant = await stage.merchant();
  // Made where the loopback is allowed; a name that was public when it was registered could lead inside by now just as well.
  const endpoints = await Promise.all(
    ['127.0.0.1', 'localhost'].map(async (host) => {
      const url = `http://${host}:${inside.port}/hook`;
      return expected(await merchant.api.post<EndpointWithSecret>('/webhook-endpoints', { url }), 201);
    }),
  );
  const eventId = await merchant.declined();
  const { CAUDAL_WEBHOOKS_ALLOW_LOOPBACK: allowed, ...settings } = stage.stack.settings;
  expect(allowed).toBe('yes');
  const strict = await startServer('worker', settings);
  try {
    for (const endpoint of endpoints) {
      const { attempts } = await merchant.reaches(eventId, endpoint, 'PENDING', 1);
      expect(attempts).toMatchObject([{ statusCode: null, error: 'refused_address', answer: null }]);
    }
    expect(inside.connections).toBe(0);
  } finally {
    await strict.stop();
  }
  // It is there, and answers whoever may ask it.
  const lenient = await startServer('worker', stage.stack.settings);
  try {
    await stage.stack.shiftTime(60_000);
    for (const endpoint of endpoints) await merchant.reaches(eventId, endpoint, 'DELIVERED', 2);
    expect(inside.connections).toBe(2);
  } finally {
    await lenient.stop();
  }
});
