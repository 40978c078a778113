import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
import { readConfig } from '../../src/config.ts';
import { deriveKey, hmac } from '../../src/kit/crypto.ts';
import { unwrapDataKey } from '../../src/organizations/secrets.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { composeInProcess } from '../harness/in-process.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { payoutRequest } from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const IDEMPOTENCY = { 'idempotency-key': 'order-1' };
const RECEIVER = '@TESTOK';

let stack: Stack;
const servers: Child[] = [];
beforeAll(async () => {
  stack = await startStack({ apis: 0 });
  // The row of an organization as 0012 left it: a data key, and no hash key.
  await stack.database.query('delete from caudal.organization_hash_keys where organization_id = $1', [
    stack.organization.organizationId,
  ]);
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await stack?.stop();
});

/** A process that has cached no key. */
async function startApi(): Promise<ApiClient> {
  const server = await startServer('api', { ...stack.settings, CAUDAL_PORT: '0' });
  servers.push(server);
  return stack.api.at(`http://127.0.0.1:${String(server.ready['port'])}`);
}

/** The hash of the receiver as versions before 0016 computed it: under a key derived from the data key. */
async function previousReceiverHash(): Promise<Buffer> {
  const [row] = await stack.database.query<{ wrapped_key: Buffer; master_key_id: string }>(
    'select wrapped_key, master_key_id from caudal.organization_keys where organization_id = $1',
    [stack.organization.organizationId],
  );
  const { masterKeys } = readConfig('api', stack.settings);
  const wrapped = { wrappedKey: row?.wrapped_key ?? Buffer.alloc(0), masterKeyId: row?.master_key_id ?? '' };
  const dataKey = await unwrapDataKey(stack.organization.organizationId, 1, wrapped, masterKeys);
  return hmac(deriveKey(dataKey, 'hash'), `receiver\n${RECEIVER}`).subarray(0, 16);
}

it('keeps the hashes of an organization from before hash keys were stored', async () => {
  const before = await startApi();
  const request = brebPayin();
  const created = await before.post('/payins', request, IDEMPOTENCY);
  const payout = await before.post('/payouts', payoutRequest({ breb: { keyString: RECEIVER } }), {
    'idempotency-key': 'order-2',
  });
  expect([created.status, payout.status]).toEqual([201, 201]);
  const [stored] = await stack.database.query<{ receiver_index: Buffer }>(
    'select receiver_index from caudal.payouts where id = $1',
    [payout.body['id']],
  );
  expect(stored?.receiver_index).toEqual(await previousReceiverHash());

  await stack.command('migrate', '--by', 'test');
  expect(
    await stack.database.query('select from caudal.organization_hash_keys where organization_id = $1', [
      stack.organization.organizationId,
    ]),
  ).toHaveLength(1);

  const after = await startApi();
  const replayed = await after.post('/payins', request, IDEMPOTENCY);
  expect(replayed.body['id']).toBe(created.body['id']);
  const found = await after.get<{ data: { id: string }[] }>(`/payouts?keyString=${RECEIVER}`);
  expect(found.body.data.map(({ id }) => id)).toEqual([payout.body['id']]);
});

it('gives a new organization a hash key that its data key does not reveal', async () => {
  const caudal = await composeInProcess(stack.settings);
  const { principal } = await caudal.newOrganization();
  await caudal.close();
  const { dataKey, hashKey } = principal.secrets;
  const first = dataKey.get(1);
  expect(first && hashKey.equals(deriveKey(first, 'hash'))).toBe(false);
});
