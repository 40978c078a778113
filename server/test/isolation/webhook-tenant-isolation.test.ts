import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { newShop, type Shop } from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const REFUSED = '42501';
const TABLES = ['webhook_endpoints', 'webhook_queues', 'webhook_deliveries', 'webhook_attempts'] as const;

let stack: Stack;
let caudal: InProcess;
/** A has an endpoint, an event, a delivery and an attempt; B wants to see and to change them. */
let a: Shop;
let b: Shop;
let endpointId: string;
let eventId: string;
const connections: Client[] = [];

// No worker: what A has stays as it was created.
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

async function as(role: 'readUrl' | 'batchUrl' | 'systemUrl'): Promise<Client> {
  const client = new Client({ connectionString: caudal.config.database[role] });
  await client.connect();
  connections.push(client);
  return client;
}

/** How many rows a statement reached, or the state it was refused with; rolled back, whatever it did. */
async function outcome(client: Client, set: string | null, sql: string): Promise<number | string | null> {
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

const reading = ({ id }: Shop) => `set local caudal.organization_id = '${id}'`;
const batchOf = ({ id }: Shop) => `set local caudal.organization_ids = '{${id}}'`;

describe('the wall of the database around webhooks', () => {
  it.each(TABLES)("shows caudal_read A's rows in %s to A, and none to B or nobody", async (table) => {
    const client = await as('readUrl');
    const sql = `select from caudal.${table} where organization_id = '${a.id}'`;
    expect(await outcome(client, reading(a), sql)).toBe(1);
    expect(await outcome(client, reading(b), sql)).toBe(0);
    expect(await outcome(client, null, sql)).toBe(0);
  });

  it.each(['webhook_endpoints', 'webhook_queues', 'webhook_deliveries', 'events'])(
    'shows caudal_batch rows in %s of the organizations of its batch alone',
    async (table) => {
      const client = await as('batchUrl');
      const sql = `select from caudal.${table} where organization_id = '${a.id}'`;
      expect(await outcome(client, batchOf(a), sql)).toBe(1);
      expect(await outcome(client, batchOf(b), sql)).toBe(0);
      expect(await outcome(client, null, sql)).toBe(0);
    },
  );

  it('lets caudal_batch change nothing of A in a batch of B', async () => {
    const client = await as('batchUrl');
    for (const write of [
      "update caudal.webhook_endpoints set address = ''",
      'update caudal.webhook_queues set open = false',
      "update caudal.webhook_deliveries set status = 'DELIVERED', next_attempt_at = null, ended_at = now()",
    ]) {
      expect([write, await outcome(client, batchOf(a), write)]).toEqual([write, 1]);
      expect([write, await outcome(client, batchOf(b), write)]).toEqual([write, 0]);
    }
    const insert = `insert into caudal.webhook_endpoints (organization_id, id, address, secret, status, created_at, updated_at)
      values ('${a.id}', gen_random_uuid(), '', '', 'ENABLED', now(), now())`;
    expect(await outcome(client, batchOf(b), insert)).toBe(REFUSED);
    const move = `update caudal.webhook_endpoints set organization_id = '${b.id}'`;
    expect(await outcome(client, batchOf(a), move)).toBe(REFUSED);
  });

  it('lets nobody delete, rewrite an event, or change what an attempt was', async () => {
    for (const role of ['readUrl', 'batchUrl', 'systemUrl'] as const) {
      const client = await as(role);
      const set = role === 'readUrl' ? reading(a) : role === 'batchUrl' ? batchOf(a) : null;
      for (const write of [
        ...TABLES.map((table) => `delete from caudal.${table}`),
        "update caudal.events set payload = ''",
        "update caudal.events set event = 'payin.confirmed'",
        'update caudal.webhook_attempts set status_code = 200',
      ])
        expect([role, write, await outcome(client, set, write)]).toEqual([role, write, REFUSED]);
    }
  });
});

describe('what the tables of webhooks hold', () => {
  it('is sealed: neither the address nor its secrets can be read in a dump', async () => {
    const rows = await stack.database.query<{ text: string }>(
      `select encode(address, 'escape') || encode(secret, 'escape') as text from caudal.webhook_endpoints`,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.text).not.toMatch(/geheim|example|whsec/);
  });
});
