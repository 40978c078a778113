import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { ApiResponse } from '../harness/api-client.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
const sessions: Client[] = [];
beforeAll(async () => {
  // The server must give up waiting for locks; it may wait longer for everything else.
  stack = await startStack({ settings: { CAUDAL_TEST_DEADLINE_FACTOR: '1' } });
});
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((client) => client.end()));
});
afterAll(() => stack?.stop());

async function openSession(): Promise<Client> {
  const client = new Client({ connectionString: stack.database.url });
  // These tests end sessions while their statements wait.
  client.on('error', () => undefined);
  await client.connect();
  sessions.push(client);
  return client;
}

/**
 * As a migration behind a long report: a reader holds the table, and a waiting exclusive lock blocks everyone
 * else.
 */
async function waitForTableLock(table: string): Promise<void> {
  const reader = await openSession();
  await reader.query(`begin; select 1 from caudal.${table} limit 1`);
  const migration = await openSession();
  migration.query(`begin; lock table caudal.${table} in access exclusive mode`).catch(() => undefined);
  await until('a session waits for the exclusive lock', async () => {
    const [row] = await stack.database.query<{ waiting: boolean }>(
      `select exists (select from pg_locks where mode = 'AccessExclusiveLock' and not granted and database =
         (select oid from pg_database where datname = current_database())) as waiting`,
    );
    return row?.waiting;
  });
}

function create(api = stack.api): Promise<ApiResponse> {
  return api.post('/payins', brebPayin(), { 'idempotency-key': randomUUID() });
}

it.each(['payins', 'idempotency_keys'])(
  'returns 503 with Retry-After to every creation while the table %s cannot be locked, and creates afterwards',
  async (table) => {
    await waitForTableLock(table);
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(stack.api.strict)));
    expect(answers.map(({ status, body }) => `${status} ${String(body['code'])}`)).toEqual(
      answers.map(() => '503 service_unavailable'),
    );
    for (const { headers } of answers) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    await Promise.all(sessions.splice(0).map((client) => client.end()));
    expect((await create()).status).toBe(201);
  },
);

it('returns 409 idempotency_in_flight to every retry while another transaction holds that key', async () => {
  const body = brebPayin();
  const headers = { 'idempotency-key': randomUUID() };
  const first = await stack.api.post('/payins', body, headers);
  const holder = await openSession();
  await holder.query('begin');
  await holder.query('select 1 from caudal.idempotency_keys where resource_id = $1 for update', [
    first.body['id'],
  ]);
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => stack.api.post('/payins', body, headers)),
  );
  expect(answers.map(({ status, body: problem }) => `${status} ${String(problem['code'])}`)).toEqual(
    answers.map(() => '409 idempotency_in_flight'),
  );
  await holder.query('rollback');
  expect((await stack.api.post('/payins', body, headers)).text).toBe(first.text);
});
