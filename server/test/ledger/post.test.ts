import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tx } from '../../src/db/tx.ts';
import { SYSTEM } from '../../src/kit/actor.ts';
import { uuidv7 } from '../../src/kit/ids.ts';
import { cents } from '../../src/kit/money.ts';
import { readBalances } from '../../src/ledger/balance.store.ts';
import { post, postedCauses } from '../../src/ledger/ledger.store.ts';
import type { Account, Transfer } from '../../src/ledger/transfer.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../src/organizations/organization.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';

let database: TestDatabase;
let caudal: InProcess;
/** A second instance of the server with its own connections. */
let other: InProcess;
beforeAll(async () => {
  database = await cloneDatabase();
  caudal = await composeInProcess(settingsFor(database.ownerUrl));
  other = await composeInProcess(settingsFor(database.ownerUrl));
});
afterAll(async () => {
  await caudal?.close();
  await other?.close();
  await database?.drop();
});

let causes = 0;
function transfer(
  organizationId: string,
  debit: Account,
  credit: Account,
  amount: number,
  more: Partial<Transfer> = {},
): Transfer {
  const id = uuidv7(caudal.deps.clock.now(), caudal.deps.cell);
  const cause = { kind: 'payment', id: `BRE_B:test-${(causes += 1)}` } as const;
  return {
    id,
    organizationId,
    debit,
    credit,
    amount: cents(amount),
    cause,
    resourceId: null,
    createdBy: SYSTEM,
    ...more,
  };
}

const inTransaction = <T>(work: (tx: Tx) => Promise<T>, by = caudal) =>
  by.deps.system.transaction('apply notices', work);

async function createOrganizations(count: number): Promise<string[]> {
  return (await caudal.newOrganizations(count)).map(({ organization }) => organization.id);
}

async function readAmounts(organizationId: string) {
  const { amounts } = await inTransaction((tx) => readBalances(tx, organizationId));
  return [amounts.pending, amounts.available, amounts.held].map(Number);
}

const readTransfers = (organizationId: string) =>
  database.query<{ id: string }>('select id from caudal.ledger_transfers where organization_id = $1', [
    organizationId,
  ]);

describe('post', () => {
  it('updates the balances of several organizations in one mixed batch', async () => {
    const [a = '', b = '', c = ''] = await createOrganizations(3);
    const batch = [
      transfer(b, 'clearing_pse', 'pending', 700),
      transfer(a, 'clearing_bre_b', 'pending', 1000),
      transfer(a, 'clearing_bre_b', 'pending', 500),
      transfer(b, 'pending', 'available', 200),
      transfer(a, 'treasury', 'available', 30),
      transfer(a, 'available', 'held', 10),
      transfer(c, 'clearing_bre_b', 'suspense', 99),
    ];
    await inTransaction((tx) => post(tx, batch));
    expect(await readAmounts(a)).toEqual([1500, 20, 10]);
    expect(await readAmounts(b)).toEqual([500, 200, 0]);
    expect(await readAmounts(c)).toEqual([0, 0, 0]);
    expect(await readTransfers(c)).toHaveLength(1);
    const posted = await inTransaction((tx) =>
      postedCauses(tx, 'payment', [batch[0]?.cause.id ?? '', 'an unknown cause']),
    );
    expect(posted).toEqual(new Set([batch[0]?.cause.id]));
  });

  it('stores every field of a transfer, at business time', async () => {
    const [id = ''] = await createOrganizations(1);
    const single = transfer(id, 'clearing_pse', 'pending', 4321, { resourceId: id });
    const [before] = await database.query<{ now: string }>('select caudal.now()::text as now');
    await inTransaction((tx) => post(tx, [single]));
    const rows = await database.query(
      `select id, debit_account, credit_account, amount_in_cents, cause_kind, cause_id, resource_id,
         at between $2 and caudal.now() as "isNow"
       from caudal.ledger_transfers where organization_id = $1`,
      [id, before?.now],
    );
    expect(rows).toEqual([
      {
        id: single.id,
        debit_account: 'clearing_pse',
        credit_account: 'pending',
        amount_in_cents: '4321',
        cause_kind: 'payment',
        cause_id: single.cause.id,
        resource_id: id,
        isNow: true,
      },
    ]);
  });

  it('does nothing for an empty batch', async () => {
    await expect(inTransaction((tx) => post(tx, []))).resolves.toBeUndefined();
  });

  it('rejects a cause that was already posted, with its whole batch', async () => {
    const [a = '', b = ''] = await createOrganizations(2);
    const first = transfer(a, 'clearing_bre_b', 'pending', 100);
    await inTransaction((tx) => post(tx, [first]));
    const again = { ...first, id: uuidv7(caudal.deps.clock.now(), caudal.deps.cell), organizationId: b };
    await expect(
      inTransaction((tx) => post(tx, [transfer(b, 'clearing_bre_b', 'pending', 1), again])),
    ).rejects.toMatchObject({ code: '23505', constraint: 'ledger_cause_once' });
    expect(await readAmounts(a)).toEqual([100, 0, 0]);
    expect(await readAmounts(b)).toEqual([0, 0, 0]);
    expect(await readTransfers(b)).toEqual([]);
  });

  it('rejects a negative balance and rolls the batch back', async () => {
    const [id = ''] = await createOrganizations(1);
    await inTransaction((tx) => post(tx, [transfer(id, 'treasury', 'available', 100)]));
    const tooMuch = [
      transfer(id, 'available', 'held', 60),
      transfer(id, 'available', 'held', 41),
      transfer(id, 'clearing_pse', 'pending', 5),
    ];
    await expect(inTransaction((tx) => post(tx, tooMuch))).rejects.toMatchObject({
      code: '23514',
      constraint: 'balance_not_below_zero',
    });
    expect(await readAmounts(id)).toEqual([0, 100, 0]);
    expect(await readTransfers(id)).toHaveLength(1);
  });

  it('names the organization without the account', async () => {
    await expect(
      inTransaction((tx) => post(tx, [transfer(OPERATOR_ORGANIZATION_ID, 'treasury', 'available', 1)])),
    ).rejects.toThrow(`organization ${OPERATOR_ORGANIZATION_ID} has no account available`);
    expect(await readTransfers(OPERATOR_ORGANIZATION_ID)).toEqual([]);
  });

  it('posts for the operator organization between shared accounts', async () => {
    await inTransaction((tx) =>
      post(tx, [transfer(OPERATOR_ORGANIZATION_ID, 'clearing_pse', 'suspense', 5)]),
    );
    expect(await readTransfers(OPERATOR_ORGANIZATION_ID)).toHaveLength(1);
  });

  it('has no deadlock when two processes post two hundred crossing batches', async () => {
    const ids = await createOrganizations(6);
    const rounds = 200;
    const run = async (by: InProcess, order: readonly string[]) => {
      for (let round = 0; round < rounds; round += 1) {
        const batch = order.flatMap((id) => [
          transfer(id, 'clearing_bre_b', 'pending', 3),
          transfer(id, 'pending', 'available', 2),
        ]);
        await inTransaction((tx) => post(tx, batch), by);
      }
    };
    await Promise.all([run(caudal, ids), run(other, ids.toReversed())]);
    for (const id of ids) expect(await readAmounts(id)).toEqual([2 * rounds, 4 * rounds, 0]);
  });
});

describe('a posted transfer', () => {
  it.each(['caudal_read', 'caudal_batch', 'caudal_system'])('cannot be changed by %s', async (role) => {
    const [id = ''] = await createOrganizations(1);
    await inTransaction((tx) => post(tx, [transfer(id, 'treasury', 'available', 100)]));
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      await client.query(`set role ${role}`);
      for (const text of [
        'update caudal.ledger_transfers set amount_in_cents = 1',
        'delete from caudal.ledger_transfers',
        'truncate caudal.ledger_transfers',
        'update caudal.ledger_causes set organization_id = id::uuid',
        'delete from caudal.ledger_causes',
        'delete from caudal.ledger_balances',
        'update caudal.ledger_subtotals set debits_in_cents = 0',
        'update caudal.settlements set payins = 1',
      ])
        await expect(client.query(text)).rejects.toMatchObject({ code: '42501' });
    } finally {
      await client.end();
    }
  });

  it('is visible only to its own organization', async () => {
    const [a = '', b = ''] = await createOrganizations(2);
    await inTransaction((tx) =>
      post(tx, [transfer(a, 'treasury', 'available', 100), transfer(b, 'treasury', 'available', 7)]),
    );
    const seen = await caudal.deps.read.read(a, async (tx) => ({
      transfers: await tx.query({
        name: 'test.transfers',
        text: 'select distinct organization_id from caudal.ledger_transfers',
      }),
      balances: await tx.query({
        name: 'test.balances',
        text: 'select distinct organization_id from caudal.ledger_balances',
      }),
    }));
    expect(seen).toEqual({ transfers: [{ organization_id: a }], balances: [{ organization_id: a }] });
  });
});
