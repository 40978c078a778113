import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SystemDb } from '../../src/db/system.ts';
import { reencryptValues } from '../../src/flows/operations/reencrypt-values.system.ts';
import { rotateDataKeys, rotateExhaustedKeys } from '../../src/flows/operations/rotate-data-keys.system.ts';
import { uuidv7 } from '../../src/kit/ids.ts';
import { DataKeys } from '../../src/organizations/data-keys.ts';
import { ENCRYPTED_TABLES } from '../../src/organizations/encrypted-tables.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../src/organizations/organization.ts';
import { insertOrganizationKeys } from '../../src/organizations/organization-keys.store.ts';
import { replaceValue } from '../../src/organizations/reencryption.store.ts';
import { makeOrganizationKeys } from '../../src/organizations/secrets.ts';
import { linkRequest } from '../harness/checkout-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { brebPayin, CUSTOMER } from '../harness/payin-requests.ts';
import {
  cancelPayout,
  createPayout,
  newShop,
  payoutRequest,
  readPayout,
  type Shop,
} from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const METADATA = { order: 'A-1' };

let stack: Stack;
let caudal: InProcess;
// No worker: the tests run the work of the schedule themselves.
beforeAll(async () => {
  stack = await startStack();
  caudal = await composeInProcess(stack.settings);
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

const reencrypt = () => reencryptValues(caudal.deps, new AbortController().signal, 5);

/** Lets time pass for a rotation: its key has been active this long, and its next pass is due. */
async function activate(organizationId: string, activeFor = '1 second'): Promise<void> {
  await stack.database.query(
    `with active as (
       update caudal.organization_keys set activates_at = clock_timestamp() - $2::interval
       where organization_id = $1 and number = (select max(number) from caudal.organization_keys where organization_id = $1)),
     due as (
       update caudal.key_rotations set due_at = clock_timestamp() where organization_id = $1 and due_at is not null)
     insert into caudal.credential_changes (organization_id) values ($1)`,
    [organizationId, activeFor],
  );
}

/** Keeps a new key from becoming active, half a minute after the rotation, before `activate`. */
async function postpone(organizationId: string): Promise<void> {
  await stack.database.query(
    `with newest as (
       update caudal.organization_keys set activates_at = activates_at + interval '1 hour'
       where organization_id = $1 and number = (select max(number) from caudal.organization_keys where organization_id = $1)),
     due as (
       update caudal.key_rotations set due_at = due_at + interval '1 hour' where organization_id = $1 and due_at is not null)
     insert into caudal.credential_changes (organization_id) values ($1)`,
    [organizationId],
  );
}

/** How many values of an organization carry each key number, by column. */
async function keyNumbers(organizationId: string): Promise<Record<string, Record<string, number>>> {
  const columns = ENCRYPTED_TABLES.flatMap(({ name, columns }) =>
    Object.keys(columns).map((column) => ({ name, column })),
  );
  const rows = await stack.database.query<{ place: string; number: number; count: number }>(
    columns
      .map(
        ({ name, column }) =>
          `select '${name}.${column}' as place, caudal.data_key_number(${column}) as number, count(*)::int as count
           from caudal.${name} where organization_id = $1 and ${column} is not null group by 2`,
      )
      .join(' union all '),
    [organizationId],
  );
  const counts: Record<string, Record<string, number>> = Object.fromEntries(
    columns.map(({ name, column }) => [`${name}.${column}`, {}]),
  );
  for (const { place, number, count } of rows) counts[place] = { ...counts[place], [number]: count };
  return counts;
}

async function storedNumbers(organizationId: string): Promise<number[]> {
  const rows = await stack.database.query<{ number: number }>(
    'select number from caudal.organization_keys where organization_id = $1 order by 1',
    [organizationId],
  );
  return rows.map(({ number }) => number);
}

/** Rows of the tables that a test without a worker and a payer leaves empty. */
async function seedRows({ id: organizationId, principal }: Shop): Promise<void> {
  const { dataKey } = principal.secrets;
  const id = uuidv7(caudal.deps.clock.now(), caudal.deps.cell);
  const value = (column: string) => dataKey.encrypt('{"some":"text"}', `${column}/${organizationId}/${id}`);
  const insert = (text: string, ...values: unknown[]) =>
    stack.database.query(text, [organizationId, id, ...values]);
  await insert(
    `insert into caudal.rail_notices (organization_id, id, rail, reference, kind, raw, received_at)
     values ($1, $2, 'BRE_B', 'x', 'unreadable', $3, caudal.now())`,
    value('rail_notices.raw'),
  );
  await insert(
    `insert into caudal.payer_authorizations (organization_id, payin_id, text_id, at, evidence)
     values ($1, $2, 'x', caudal.now(), $3)`,
    value('payer_authorizations.evidence'),
  );
  await insert(
    `insert into caudal.webhook_attempts (organization_id, endpoint_id, event_id, number, at, duration_ms, answer)
     values ($1, $2, $2, 1, caudal.now(), 1, $3)`,
    value('webhook_endpoints.answer'),
  );
  await insert(
    `insert into caudal.receipt_emails (organization_id, id, payin_id, address, language, created_at, due_at)
     values ($1, $2, $2, $3, 'es', caudal.now(), caudal.now() + interval '1 day')`,
    value('receipt_emails.address'),
  );
  await insert(
    `insert into caudal.person_holds (organization_id, id, person, identifier, reason, placed_by)
     values ($1, $2, decode(repeat('00', 16), 'hex'), $3, 'test', 'test')`,
    value('person_holds.identifier'),
  );
}

/** Creates a value in every encrypted column. @returns reads all that the API shows of them */
async function createValues(shop: Shop) {
  const { api } = shop;
  const payin = await api.post<{ id: string }>('/payins', brebPayin({ metadata: METADATA }));
  const link = await api.post<{ paymentLinkId: string }>(
    '/payment-links',
    linkRequest({ metadata: METADATA, inlineCustomer: CUSTOMER }),
  );
  const endpoint = await api.post<{ id: string }>(
    '/webhook-endpoints',
    { url: 'http://127.0.0.1:1/hook', staticHeader: { name: 'x-token', value: 'secret' } },
    { 'idempotency-key': randomUUID() },
  );
  for (const _ of [1, 2]) await api.post(`/webhook-endpoints/${endpoint.body.id}/rotate-secret`, {});
  const final = await createPayout(api, payoutRequest({ metadata: METADATA }));
  await cancelPayout(api, final.id);
  await seedRows(shop);
  return async () => ({
    payin: (await api.get(`/payins/${payin.body.id}`)).body,
    link: (await api.get(`/payment-links/${link.body.paymentLinkId}`)).body,
    endpoint: (await api.get(`/webhook-endpoints/${endpoint.body.id}`)).body,
    payout: await readPayout(api, final.id),
    events: (await api.get('/events')).body,
  });
}

describe('a rotation of a data key', () => {
  it('encrypts every value again and deletes the old key when no value carries it', async () => {
    const shop = await newShop(caudal, stack.api);
    const readAll = await createValues(shop);
    const unsent = await createPayout(shop.api, undefined, {});
    const before = await readAll();
    const columns = Object.keys(await keyNumbers(shop.id));
    expect(Object.entries(await keyNumbers(shop.id)).filter(([, numbers]) => !numbers[1])).toEqual([]);

    expect(await rotateDataKeys(caudal.deps, 'test', shop.id)).toEqual([
      { organizationId: shop.id, number: 2 },
    ]);
    await postpone(shop.id);
    expect(await rotateDataKeys(caudal.deps, 'test', shop.id)).toEqual([]);
    await reencrypt();
    await shop.api.post('/payins', brebPayin());
    expect((await keyNumbers(shop.id))['payins.customer']).toEqual({ 1: 2 });

    await activate(shop.id);
    await until('the API encrypts with the new key', async () => {
      await shop.api.post('/payins', brebPayin());
      return (await keyNumbers(shop.id))['payins.customer']?.[2] !== undefined;
    });
    await reencrypt();
    expect(await readAll()).toEqual(before);
    const oldValues = async () => {
      const numbers = await keyNumbers(shop.id);
      return columns.filter((column) => numbers[column]?.[1] !== undefined);
    };
    // The receiver of a payout that may still be sent does not change.
    expect(await oldValues()).toEqual(['payouts.customer', 'payouts.receiver']);
    expect((await readPayout(shop.api, unsent.id)).sourceData).toEqual(unsent.sourceData);

    await cancelPayout(shop.api, unsent.id);
    const afterCancellation = await readAll();
    await activate(shop.id);
    await reencrypt();
    expect(await oldValues()).toEqual([]);
    expect(await storedNumbers(shop.id)).toEqual([1, 2]);

    await activate(shop.id, '25 hours');
    await reencrypt();
    await activate(shop.id, '25 hours');
    await reencrypt();
    expect(await storedNumbers(shop.id)).toEqual([2]);
    expect(await readAll()).toEqual(afterCancellation);
    const fresh = await composeInProcess(stack.settings);
    const getSecrets = await fresh.keys.load(new Set([shop.id]));
    expect(getSecrets(shop.id).dataKey.number).toBe(2);
    expect(getSecrets(shop.id).hashKey.equals(shop.principal.secrets.hashKey)).toBe(true);
    await fresh.close();
    // A later `migrate` inserts keys only for organizations without any.
    const keys = await makeOrganizationKeys(shop.id, caudal.deps.masterKeys);
    await caudal.deps.system.transaction('manage organizations', (tx) =>
      insertOrganizationKeys(tx, shop.id, keys),
    );
    expect(await storedNumbers(shop.id)).toEqual([2]);
  });

  it('continues where an interrupted run stopped, and never overwrites a newer value', async () => {
    const shop = await newShop(caudal, stack.api);
    const { dataKey } = shop.principal.secrets;
    const ids = Array.from({ length: 250 }, () => uuidv7(caudal.deps.clock.now(), caudal.deps.cell));
    const payloads = ids.map((id) => dataKey.encrypt(`event ${id}`, `events.payload/${shop.id}/${id}`));
    await stack.database.query(
      `insert into caudal.events (organization_id, id, event, resource, resource_id, payload, created_at)
       select $1, e.id, 'webhook.test', 'webhook', e.id, e.payload, caudal.now()
       from unnest($2::uuid[], $3::bytea[]) as e (id, payload)`,
      [shop.id, ids, payloads],
    );
    await rotateDataKeys(caudal.deps, 'test', shop.id);
    await activate(shop.id);

    const position = () =>
      stack.database.query<{ current_table: string; after_key: string[]; reencrypted: string }>(
        'select current_table, after_key, reencrypted from caudal.key_rotations where organization_id = $1',
        [shop.id],
      );
    const interrupted = new AbortController();
    const { system } = caudal.deps;
    // Interrupted by the first of three batches of events itself: from outside it may be too late.
    const interrupting: SystemDb = {
      query: (...call) => system.query(...call),
      transaction: async (name, work) => {
        const result = await system.transaction(name, work);
        const [row] = await position();
        if (row?.current_table === 'events' && row.after_key.length > 0) interrupted.abort();
        return result;
      },
    };
    await reencryptValues({ ...caudal.deps, system: interrupting }, interrupted.signal, 5);
    expect(interrupted.signal.aborted).toBe(true);
    const [stopped] = await position();
    expect(Number(stopped?.reencrypted)).toBeLessThan(250);

    await reencrypt();
    expect((await keyNumbers(shop.id))['events.payload']).toEqual({ 2: 250 });
    const [finished] = await position();
    expect(Number(finished?.reencrypted)).toBe(250);
    const table = ENCRYPTED_TABLES.find(({ name }) => name === 'events');
    const [key = '', from = Buffer.alloc(0)] = [ids[7], payloads[7]];
    const overwritten = await caudal.deps.system.transaction(
      'reencrypt values',
      async (tx) =>
        table &&
        replaceValue(tx, table, 'payload', {
          organizationId: shop.id,
          key: [key],
          from,
          to: Buffer.concat([Buffer.of(2, 0, 9), from.subarray(1)]),
        }),
    );
    expect(overwritten).toBe(false);
    const [row] = await stack.database.query<{ payload: Buffer }>(
      'select payload from caudal.events where organization_id = $1 and id = $2',
      [shop.id, ids[7]],
    );
    const fresh = await composeInProcess(stack.settings);
    const decrypted = (await fresh.keys.load(new Set([shop.id])))(shop.id).dataKey.decrypt(
      row?.payload ?? Buffer.alloc(0),
      `events.payload/${shop.id}/${ids[7]}`,
    );
    await fresh.close();
    expect(decrypted.toString()).toBe(`event ${ids[7]}`);
  });

  it('keeps an old key that a month detached meanwhile may need', async () => {
    const shop = await newShop(caudal, stack.api, 0);
    await rotateDataKeys(caudal.deps, 'test', shop.id);
    await stack.database.query(
      "insert into caudal.operator_actions (operator, action, phase) values ('test', 'months.detach', 'started')",
    );
    await activate(shop.id, '25 hours');
    await reencrypt();
    expect(
      await stack.database.query(
        'select number, retired_at is not null as retired from caudal.organization_keys where organization_id = $1 order by 1',
        [shop.id],
      ),
    ).toEqual([
      { number: 1, retired: true },
      { number: 2, retired: false },
    ]);
  });

  it('starts automatically for a key that has encrypted 2^31 values', async () => {
    // Its own: the heartbeat records the uses of `caudal.keys` every half a minute, perhaps right now.
    const keys = new DataKeys(caudal.deps.system, caudal.deps.masterKeys);
    const operator = (await keys.load(new Set([OPERATOR_ORGANIZATION_ID])))(OPERATOR_ORGANIZATION_ID);
    const messages = async () => {
      const [row] = await stack.database.query<{ messages: number }>(
        'select messages::int as messages from caudal.organization_keys where organization_id = $1 and number = 1',
        [OPERATOR_ORGANIZATION_ID],
      );
      return row?.messages ?? 0;
    };
    const before = await messages();
    for (let count = 0; count < 1000; count += 1) operator.dataKey.encrypt('notice', 'identity');
    await keys.recordUse();
    expect(await messages()).toBe(before + 1000);
    await rotateExhaustedKeys(caudal.deps, before + 1001);
    expect(await storedNumbers(OPERATOR_ORGANIZATION_ID)).toEqual([1]);
    await rotateExhaustedKeys(caudal.deps, before + 1000);
    expect(await storedNumbers(OPERATOR_ORGANIZATION_ID)).toEqual([1, 2]);
    expect(
      await stack.database.query(
        "select operator from caudal.operator_actions where action = 'secrets.rotate' and organization_id = $1",
        [OPERATOR_ORGANIZATION_ID],
      ),
    ).toEqual([{ operator: 'schedule data-keys' }]);
  });
});

describe('the database', () => {
  /** The first row, or the SQLSTATE of the error; rolled back. */
  async function execute(url: string, text: string, values: readonly unknown[]): Promise<unknown> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      await client.query('begin');
      return (await client.query(text, [...values])).rows[0];
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    } finally {
      await client.end();
    }
  }

  it('replaces a receiver only by a re-encryption of a final payout', async () => {
    const shop = await newShop(caudal, stack.api);
    const [open, final] = [await createPayout(shop.api), await createPayout(shop.api)];
    await cancelPayout(shop.api, final.id);
    const { systemUrl, batchUrl } = caudal.config.database;
    const receiver = async (id: string) => {
      const [row] = await stack.database.query<{ receiver: Buffer }>(
        'select receiver from caudal.payouts where id = $1',
        [id],
      );
      return row?.receiver ?? Buffer.alloc(0);
    };
    const newer = (value: Buffer, extra = 0) =>
      Buffer.concat([Buffer.of(2, 0, 2), value.subarray(1), Buffer.alloc(extra)]);
    const [ofOpen, ofFinal] = [await receiver(open.id), await receiver(final.id)];
    const reencryption = (id: string, was: Buffer, becomes: Buffer, url = systemUrl, column = 'receiver') =>
      execute(url, 'select caudal.reencrypt($1, $2, $3, $4, $5, $6) as replaced', [
        'payouts',
        column,
        shop.id,
        [id],
        was,
        becomes,
      ]);
    expect({
      update: await execute(systemUrl, 'update caudal.payouts set receiver = $2 where id = $1', [
        final.id,
        newer(ofFinal),
      ]),
      sameKey: await reencryption(final.id, ofFinal, ofOpen),
      otherLength: await reencryption(final.id, ofFinal, newer(ofFinal, 1)),
      otherColumn: await reencryption(final.id, ofFinal, newer(ofFinal), systemUrl, 'end_to_end_id'),
      merchants: await reencryption(final.id, ofFinal, newer(ofFinal), batchUrl),
      inProgress: await reencryption(open.id, ofOpen, newer(ofOpen)),
      changedMeanwhile: await reencryption(final.id, ofOpen, newer(ofOpen)),
      final: await reencryption(final.id, ofFinal, newer(ofFinal)),
    }).toEqual({
      update: '42501',
      sameKey: '42501',
      otherLength: '42501',
      otherColumn: '42501',
      merchants: '42501',
      inProgress: { replaced: false },
      changedMeanwhile: { replaced: false },
      final: { replaced: true },
    });
  });

  it('has no encrypted column that a rotation would miss', async () => {
    const notEncrypted = [
      'access_tokens.mac',
      'api_keys.mac',
      'breb_lookups.holder',
      'breb_lookups.receiver_index',
      'events.trace_context',
      'idempotency_keys.body_hash',
      'idempotency_keys.key_hash',
      'organization_hash_keys.wrapped_key',
      'organization_keys.wrapped_key',
      'organization_logos.header',
      'organization_logos.icon',
      'organization_logos.preview',
      'payins.customer_index',
      'payins.trace_context',
      'payment_links.customer_index',
      'payment_links.trace_context',
      'payouts.customer_index',
      'payouts.trace_context',
      'payouts.holder',
      'payouts.receiver_index',
      'person_holds.person',
      'restored_orders.receiver_index',
    ];
    const columns = await stack.database.query<{ name: string }>(
      `select c.relname || '.' || a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relnamespace = 'caudal'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         and a.atttypid = 'bytea'::regtype and not a.attisdropped`,
    );
    const rotated = ENCRYPTED_TABLES.flatMap((table) =>
      Object.keys(table.columns).map((column) => `${table.name}.${column}`),
    );
    expect(columns.map(({ name }) => name).toSorted()).toEqual([...notEncrypted, ...rotated].toSorted());
  });
});
