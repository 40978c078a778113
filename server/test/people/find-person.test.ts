import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { customerIndex } from '../../src/customers/customer-index.ts';
import { SEARCH_BATCH, searchBatch } from '../../src/people/person-search.store.ts';
import { RETENTION_POLICY } from '../../src/people/retention-policy.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { createPayout, newShop, payoutRequest, resolveKey, type Shop } from '../harness/payout-requests.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { newPerson, PersonDriver } from './person-driver.ts';

let stack: Stack;
let caudal: InProcess;
let driver: PersonDriver;
let a: Shop;
let b: Shop;
let folder: string;
// No worker: resources stay open, which a search does not mind.
beforeAll(async () => {
  stack = await startStack();
  caudal = await composeInProcess(stack.settings);
  driver = new PersonDriver(stack);
  a = await newShop(caudal, stack.api);
  b = await newShop(caudal, stack.api);
  folder = mkdtempSync(join(tmpdir(), 'caudal-people-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await caudal?.close();
  await stack?.stop();
});

const found = async (...args: readonly string[]) =>
  (await driver.people('find', ...args)).resources.map(({ id }) => id).toSorted();

describe('people find', () => {
  it('finds a person by document and by e-mail in all organizations, and in one', async () => {
    const [person, other] = [newPerson(), newPerson()];
    const inA = await driver.openPayin(a, { inlineCustomer: person.customer });
    const inB = await driver.openPayin(b, { inlineCustomer: person.customer });
    await driver.openPayin(b, { inlineCustomer: other.customer });
    const both = [inA, inB].toSorted();
    expect(await found(...person.document)).toEqual(both);
    expect(await found(...person.email)).toEqual(both);
    expect(await found(...person.document, '--org', b.id)).toEqual([inB]);
    // Another type with the same number is another document.
    expect(await found('--document', `CO_CE:${person.customer.idNumber}`)).toEqual([]);
  });

  it('finds rows of earlier versions, which have no index', async () => {
    const person = newPerson();
    const id = await driver.openPayin(a, { inlineCustomer: person.customer });
    const other = await driver.openPayin(a, { inlineCustomer: newPerson().customer });
    await stack.database.query('update caudal.payins set customer_index = null where id = any ($1)', [
      [id, other],
    ]);
    expect(await found(...person.document)).toEqual([id]);
    expect(await found(...person.email)).toEqual([id]);
  });

  it('does not return another person whose hash collides', async () => {
    const [person, other] = [newPerson(), newPerson()];
    const id = await driver.openPayin(a, { inlineCustomer: other.customer });
    const { hashKey } = a.principal.secrets;
    const colliding = customerIndex(hashKey, person.customer as Parameters<typeof customerIndex>[1]);
    await stack.database.query('update caudal.payins set customer_index = $2 where id = $1', [id, colliding]);
    expect(await found(...person.document)).toEqual([]);
    expect(await found(...person.email)).toEqual([]);
  });

  it('finds payouts to a person as holder of the Bre-B key and by a key that is the identifier', async () => {
    const [person, sender] = [newPerson(), newPerson()];
    const directory = new SimulatorControl(stack.simulatorUrl);
    const brebKey = `@P${person.customer.idNumber}`;
    await directory.setDirectoryEntry({
      key: brebKey,
      holder: {
        person: {
          type: 'N',
          documentType: 'CC',
          documentNumber: person.customer.idNumber,
          names: 'ROSALBA QUINTERO',
        },
      },
    });
    const { lookupId } = await resolveKey(a.api, brebKey);
    const inlineCustomer = sender.customer;
    const byHolder = await createPayout(
      a.api,
      payoutRequest({ inlineCustomer, breb: { keyString: brebKey, lookupId } }),
    );
    const byKey = await createPayout(
      b.api,
      payoutRequest({ inlineCustomer, breb: { keyString: person.customer.email } }),
    );
    expect(await found(...person.document)).toEqual([byHolder.id]);
    expect(await found(...person.email)).toEqual([byKey.id]);
    const { resources } = await driver.people('find', ...person.document);
    expect(resources).toMatchObject([{ kind: 'payout', personIs: 'receiver' }]);
  });

  it('reads an organization in batches, and each row once', async () => {
    const shop = await newShop(caudal, stack.api);
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1)
      ids.push(await driver.openPayin(shop, { inlineCustomer: newPerson().customer }));
    const person = newPerson();
    ids.push(await driver.openPayin(shop, { inlineCustomer: person.customer }));
    const { hashKey } = shop.principal.secrets;
    const index = customerIndex(hashKey, person.customer as Parameters<typeof customerIndex>[1]);
    const pattern = { document: index?.subarray(0, 8) ?? null, email: null, holders: [], receivers: [] };
    const batches = [];
    let after: string | null = '00000000-0000-0000-0000-000000000000';
    while (after !== null) {
      const batch = await searchBatch(caudal.deps.system, 'payin', shop.id, after, pattern, 2);
      batches.push(batch.candidates);
      after = batch.after;
    }
    expect(batches).toEqual([[], [], [ids[5]], []]);
    expect(SEARCH_BATCH).toBeGreaterThan(1000);
  });

  it.each([
    [[]],
    [['--document', 'CC:123456']],
    [['--document', '9876543210']],
    [['--email', 'nothing']],
    [['--email', 'a@b.example', '--document', 'CO_CC:9876543210']],
    [['--email', 'a@b.example', '--org', 'aurora']],
  ])('rejects %j without repeating the identifier', async (args) => {
    const { code, stderr } = await driver.run('find', ...args, '--by', 'ana');
    expect(code).toBe(2);
    expect(stderr).not.toMatch(/9876543210|123456|a@b/);
  });
});

describe('people export', () => {
  it('writes all data of the person to a file that only its owner reads', async () => {
    const person = newPerson();
    const metadata = { order: 'A-7' };
    const payin = await driver.openPayin(a, { inlineCustomer: person.customer, metadata });
    const payout = await createPayout(
      b.api,
      payoutRequest({ inlineCustomer: person.customer, breb: { keyString: '@ROSALBA' } }),
    );
    const output = join(folder, `${randomUUID()}.json`);
    await driver.people('export', ...person.document, '--output', output);
    expect(statSync(output).mode & 0o777).toBe(0o600);
    const { resources, ...head } = JSON.parse(readFileSync(output, 'utf8')) as {
      resources: Record<string, unknown>[];
    };
    expect(head).toMatchObject({
      format: 'caudal-person-export/1',
      identifier: { kind: 'document', idType: 'CO_CC', idNumber: person.customer.idNumber },
    });
    expect(resources.find(({ kind }) => kind === 'payin')).toMatchObject({
      organization: { id: a.id },
      data: { id: payin, customer: person.customer, metadata, amount: 4_980_000 },
      authorization: null,
      receiptEmails: [],
      railNotices: [],
    });
    expect(resources.find(({ kind }) => kind === 'payout')).toMatchObject({
      organization: { id: b.id },
      data: { id: payout.id, customer: person.customer, brebKey: '@ROSALBA' },
    });
    const again = await driver.run('export', ...person.document, '--output', output, '--by', 'ana');
    expect({ code: again.code, stderr: again.stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('EEXIST'),
    });
  });
});

describe('the erasure in the database', () => {
  const CALL = `select caudal.erase_personal_data('payin', $1, $2, make_interval(years => 10), null, null, null, null, null, '{}') as outcome`;

  it.each(['readUrl', 'batchUrl'] as const)('cannot be called by the role of %s', async (role) => {
    const client = new Client({ connectionString: caudal.config.database[role] });
    await client.connect();
    try {
      await expect(client.query(CALL, [a.id, randomUUID()])).rejects.toThrow('permission denied');
      await expect(client.query('select from caudal.person_holds')).rejects.toThrow('permission denied');
    } finally {
      await client.end();
    }
  });

  it('refuses open payins, unknown resources and a retention below a year', async () => {
    const id = await driver.openPayin(a, { inlineCustomer: newPerson().customer });
    const client = new Client({ connectionString: caudal.config.database.systemUrl });
    await client.connect();
    try {
      expect((await client.query(CALL, [a.id, id])).rows).toEqual([{ outcome: 'in_progress' }]);
      expect((await client.query(CALL, [b.id, id])).rows).toEqual([{ outcome: 'not_found' }]);
      await expect(client.query(CALL.replace('years => 10', 'months => 11'), [a.id, id])).rejects.toThrow(
        'at least one year',
      );
      await expect(client.query(CALL.replace("'payin'", "'organization'"), [a.id, id])).rejects.toThrow(
        'has no personal data',
      );
      for (const change of ['customer = null', 'customer_index = null', 'erased_at = now()'])
        await expect(client.query(`update caudal.payins set ${change} where id = $1`, [id])).rejects.toThrow(
          'permission denied',
        );
    } finally {
      await client.end();
    }
  });
});

describe('the retention policy', () => {
  it('lists every table once, and every column that it names exists', async () => {
    const rows = await stack.database.query<{ name: string; columns: string[] }>(
      `select c.relname as name, array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0) as columns
       from pg_class c where c.relnamespace = 'caudal'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
    );
    expect(RETENTION_POLICY.map(({ table }) => table).toSorted()).toEqual(
      rows.map(({ name }) => name).toSorted(),
    );
    const columns = new Map(rows.map((row) => [row.name, row.columns]));
    const unknown = RETENTION_POLICY.flatMap(({ table, personal }) =>
      personal.filter((column) => !columns.get(table)?.includes(column)),
    );
    expect(unknown).toEqual([]);
  });

  it('says months detach for exactly the tables whose months can be detached', async () => {
    const rows = await stack.database.query<{ name: string }>(
      'select name from caudal.monthly_tables where detachable order by 1',
    );
    const policy = RETENTION_POLICY.filter(({ endedBy }) => endedBy === 'months_detach');
    expect(policy.map(({ table }) => table).toSorted()).toEqual(rows.map(({ name }) => name));
  });
});
