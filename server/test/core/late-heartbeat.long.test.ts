import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest';
import { PRODUCTION_DEADLINES } from '../../../scripts/testing/patient-settings.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { type CredentialDriver, openCredentialDriver } from '../harness/credential-driver.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { PostgresProxy } from '../harness/postgres-proxy.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

/** A revoked key is rejected after this time, and a sample of the database clock is trusted for as long. */
const TRUSTED_FOR_MS = 1000;

let proxy: PostgresProxy;
let stack: Stack;
let driver: CredentialDriver;
/** Sends no request again: an answer of 503 fails the test. */
let merchant: ApiClient;
let process: { kill(signal: NodeJS.Signals): void; readonly opsUrl: string };
beforeAll(async () => {
  proxy = await PostgresProxy.start(inject('postgres').adminUrl);
  stack = await startStack({
    databaseUrl: (direct) => proxy.through(direct),
    settings: { ...PRODUCTION_DEADLINES },
  });
  merchant = stack.api.strict;
  driver = await openCredentialDriver(stack);
  const [api] = stack.apis;
  if (!api) throw new Error('no API process was started');
  process = api;
});
afterEach(async () => {
  process?.kill('SIGCONT');
  proxy?.heal();
  await until('the process is ready again', async () => (await readiness()).status === 200);
});
afterAll(async () => {
  await driver?.close();
  await stack?.stop();
  await proxy?.close();
});

async function readiness(): Promise<{ status: number; reasons: string[] }> {
  const response = await fetch(`${process.opsUrl}/readyz`);
  const { reasons } = (await response.json()) as { reasons: string[] };
  return { status: response.status, reasons };
}

/** Stops the process for longer than a sample is trusted; requests and answers wait in its sockets. */
async function whileFrozen(work: () => Promise<void>): Promise<void> {
  process.kill('SIGSTOP');
  try {
    await Promise.all([work(), sleep(1.6 * TRUSTED_FOR_MS)]);
  } finally {
    process.kill('SIGCONT');
  }
}

/** Sends read requests one after the other for this time. */
async function readFor(ms: number, api: ApiClient): Promise<{ status: number; sentAt: number }[]> {
  const answers: { status: number; sentAt: number }[] = [];
  const end = performance.now() + ms;
  while (performance.now() < end) {
    const sentAt = performance.now();
    answers.push({ status: (await api.get('/payins?pageSize=1')).status, sentAt });
  }
  return answers;
}

it('answers reads and creations that arrive while the process got no CPU for longer than a second', async () => {
  expect((await merchant.get('/payins')).status).toBe(200);
  let answers: Promise<{ status: number }[]> = Promise.resolve([]);
  await whileFrozen(async () => {
    answers = Promise.all([
      ...Array.from({ length: 5 }, () => merchant.get('/payins')),
      ...Array.from({ length: 5 }, () => merchant.post('/payins', brebPayin())),
    ]);
  });
  expect((await answers).map(({ status }) => status)).toEqual([
    ...Array.from({ length: 5 }, () => 200),
    ...Array.from({ length: 5 }, () => 201),
  ]);
});

it('stays ready after more than a second without CPU', async () => {
  let ready: Promise<{ status: number }> = Promise.resolve({ status: 0 });
  await whileFrozen(async () => {
    ready = readiness();
  });
  expect(await ready).toMatchObject({ status: 200 });
});

it('answers reads while heartbeats are lost for longer than a second', async () => {
  expect((await merchant.get('/payins')).status).toBe(200);
  proxy.swallowAt('caudal_system', 'credential.pulse', 3);
  const answers = await readFor(3 * TRUSTED_FOR_MS, merchant);
  expect(proxy.pending).toBe(0);
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
});

it('rejects a revoked key after a second although heartbeats are lost meanwhile', async () => {
  const key = await driver.newKey(stack.organization.organizationId);
  const api = merchant.as(key.apiKey);
  expect((await api.get('/payins')).status).toBe(200);
  proxy.swallowAt('caudal_system', 'credential.pulse', 3);
  await until('a heartbeat was lost', async () => proxy.pending < 3);
  await driver.revoke(key.keyId);
  const revokedAt = performance.now();
  const answers = await readFor(3 * TRUSTED_FOR_MS, api);
  const late = answers.filter(({ sentAt }) => sentAt > revokedAt + TRUSTED_FOR_MS);
  expect(late.length).toBeGreaterThan(0);
  expect(late.filter(({ status }) => status !== 401)).toEqual([]);
});

it('rejects a key that was revoked while the process got no CPU', async () => {
  const key = await driver.newKey(stack.organization.organizationId);
  const api = merchant.as(key.apiKey);
  expect((await api.get('/payins')).status).toBe(200);
  // A process that is stopped while it records the network of a key's first use keeps the key's row locked.
  await until('the network of the first use is recorded', async () => {
    const rows = await stack.database.query('select from caudal.api_key_networks where api_key_id = $1', [
      key.keyId,
    ]);
    return rows.length === 1;
  });
  let answer: Promise<{ status: number }> = Promise.resolve({ status: 0 });
  await whileFrozen(async () => {
    await driver.revoke(key.keyId);
    answer = api.get('/payins');
  });
  expect((await answer).status).toBe(401);
});
