import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { PollingProxy } from '../../../scripts/stack/polling-proxy.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
import { PRODUCTION_DEADLINES } from '../../../scripts/testing/patient-settings.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const POLL_EVERY_MS = 500;
const REQUEST_EVERY_MS = 50;

let stack: Stack;
let proxy: PollingProxy;
const servers: Child[] = [];
beforeAll(async () => {
  // Empty is unset, so that the default applies.
  stack = await startStack({ apis: 0, settings: { ...PRODUCTION_DEADLINES, CAUDAL_DRAIN_MS: '' } });
  proxy = new PollingProxy(POLL_EVERY_MS);
});
afterAll(async () => {
  await proxy?.close();
  await Promise.all(servers.map((server) => server.stop()));
  await stack?.stop();
});

async function startApi() {
  const child = await startServer('api', { ...stack.settings, CAUDAL_PORT: '0' });
  servers.push(child);
  const at = (port: unknown) => `http://127.0.0.1:${String(port)}`;
  const backend = { ...child, url: at(child.ready['port']), opsUrl: at(child.ready['opsPort']) };
  proxy.add(backend);
  await until('the load balancer sends it requests', async () => proxy.isReady(backend));
  return backend;
}

it('loses no request in a rolling restart with the default settings', async () => {
  const api = stack.api.strict.at(await proxy.start());
  const leaving = [await startApi(), await startApi()];
  const ending = new AbortController();
  const answers: Promise<string>[] = [];
  const load = (async () => {
    while (!ending.signal.aborted) {
      const request = answers.length % 2 === 0 ? api.get('/payins') : api.post('/payins', brebPayin());
      answers.push(
        request.then(
          ({ status, text }) => (status < 300 ? 'answered' : `${status} ${text}`),
          (error: unknown) => String(error),
        ),
      );
      await sleep(REQUEST_EVERY_MS);
    }
  })();
  try {
    for (const server of leaving) {
      await startApi();
      expect(await server.stop()).toBe(0);
    }
  } finally {
    ending.abort();
    await load;
  }
  const results = await Promise.all(answers);
  expect(results.length).toBeGreaterThan(50);
  expect(results.filter((result) => result !== 'answered')).toEqual([]);
});
