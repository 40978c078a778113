import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { newShop, type Shop } from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const INSUFFICIENT_PRIVILEGE = '42501';
const TABLES = ['webhook_endpoints', 'webhook_queues', 'webhook_deliveries', 'webhook_attempts'] as const;

let stack: Stack;
let caudal: InProcess;
/** A owns an endpoint, an event, a delivery and an attempt; B tries to read and change them. */
let a: Shop;
let b: Shop;
let endpointId: string;
let eventId: string;
const connections: Client[] = [];

// No worker: A's rows stay as created.
beforeAll(async () => {
  stack = await startStack();
  caudal = await composeInProcess(stack.settings);
  a = await newShop(caudal, stack.api, 0);
  b = await newShop(caudal, stack.api, 0);
  const created = await a.api.post('/webhook-endpoints', { url: 'https://hooks.example.com/a?token=geheim' });
  endpointId = String(created.body['id']);
  const tested = await a.api.post(`/webhook-endpoints/${endpointId}/test`, {});
  eventId = String(tested.body['eventId']);
  await stack.database.query(
    `insert into caudal.webhook_attempts values ('${a.id}', '${endpointId}', '${eventId}', 1, now(), 200, 5, null, null)`,
  );
});
afterAll(async () => {
  await Promise.all(connections.map((client) => client.end()));
  await caudal?.close();
  await stack?.stop();
});

async function connectAs(role: 'readUrl' | 'batchUrl' | 'systemUrl'): Promise<Client> {
  const client = new Client({ connectionString: caudal.config.database[role] });
  await client.connect();
  connections.push(client);
  return client;
}

/** Number of affected rows, or the SQLSTATE of the rejection; always rolled back. */
async function execute(client: Client, set: string | null, sql: string): Promise<number | string | null> {
  await client.query('begin');
  try {
    if (set !== null) await client.query(set);
    return (await client.query(sql)).rowCount;
  } catch (error) {
    return String((error as { code?: unknown }).code);
  } finally {
    await client.query('rollback');
  }
}

const readSetting = ({ id }: Shop) => `set local caudal.organization_id = '${id}'`;
const batchSetting = ({ id }: Shop) => `set local caudal.organization_ids = '{${id}}'`;

describe('database isolation of webhooks', () => {
  it.each(TABLES)("shows caudal_read A's rows in %s only to A", async (table) => {
    const client = await connectAs('readUrl');
    const sql = `select from caudal.${table} where organization_id = '${a.id}'`;
    expect(await execute(client, readSetting(a), sql)).toBe(1);
    expect(await execute(client, readSetting(b), sql)).toBe(0);
    expect(await execute(client, null, sql)).toBe(0);
  });

  it.each(['webhook_endpoints', 'webhook_queues', 'webhook_deliveries', 'events'])(
    'shows caudal_batch rows in %s only of the organizations of its batch',
    async (table) => {
      const client = await connectAs('batchUrl');
      const sql = `select from caudal.${table} where organization_id = '${a.id}'`;
      expect(await execute(client, batchSetting(a), sql)).toBe(1);
      expect(await execute(client, batchSetting(b), sql)).toBe(0);
      expect(await execute(client, null, sql)).toBe(0);
    },
  );

  it('lets caudal_batch change nothing of A in a batch of B', async () => {
    const client = await connectAs('batchUrl');
    for (const write of [
      "update caudal.webhook_endpoints set address = ''",
      'update caudal.webhook_queues set open = false',
      'update caudal.webhook_deliveries set next_attempt_at = now()',
    ]) {
      expect([write, await execute(client, batchSetting(a), write)]).toEqual([write, 1]);
      expect([write, await execute(client, batchSetting(b), write)]).toEqual([write, 0]);
    }
    const insert = `insert into caudal.webhook_endpoints (organization_id, id, address, secret, status, created_at, updated_at)
      values ('${a.id}', gen_random_uuid(), '', '', 'ENABLED', now(), now())`;
    expect(await execute(client, batchSetting(b), insert)).toBe(INSUFFICIENT_PRIVILEGE);
    const move = `update caudal.webhook_endpoints set organization_id = '${b.id}'`;
    expect(await execute(client, batchSetting(a), move)).toBe(INSUFFICIENT_PRIVILEGE);
  });

  it('lets no role delete rows, rewrite an event or change an attempt', async () => {
    for (const role of ['readUrl', 'batchUrl', 'systemUrl'] as const) {
      const client = await connectAs(role);
      const set = role === 'readUrl' ? readSetting(a) : role === 'batchUrl' ? batchSetting(a) : null;
      for (const write of [
        ...TABLES.map((table) => `delete from caudal.${table}`),
        "update caudal.events set payload = ''",
        "update caudal.events set event = 'payin.confirmed'",
        'update caudal.webhook_attempts set status_code = 200',
      ])
        expect([role, write, await execute(client, set, write)]).toEqual([
          role,
          write,
          INSUFFICIENT_PRIVILEGE,
        ]);
    }
  });
});

describe('the data in the webhook tables', () => {
  it('is encrypted: a dump shows neither URL nor secret', async () => {
    const rows = await stack.database.query<{ text: string }>(
      `select encode(address, 'escape') || encode(secret, 'escape') as text from caudal.webhook_endpoints`,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.text).not.toMatch(/geheim|example|whsec/);
  });
});
