import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tx } from '../../src/db/tx.ts';
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
/** The same server a second time, with connections of its own. */
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
  return { id, organizationId, debit, credit, amount: cents(amount), cause, resourceId: null, ...more };
}

const posting = <T>(work: (tx: Tx) => Promise<T>, by = caudal) =>
  by.deps.system.transaction('apply notices', work);

async function organizations(count: number): Promise<string[]> {
  return (await caudal.manyOrganizations(count)).map(({ organization }) => organization.id);
}

async function amountsOf(organizationId: string) {
  const { amounts } = await posting((tx) => readBalances(tx, organizationId));
  return [amounts.pending, amounts.available, amounts.held].map(Number);
}

const transfersOf = (organizationId: string) =>
  database.query<{ id: string }>('select id from caudal.ledger_transfers where organization_id = $1', [
    organizationId,
  ]);

describe('posting transfers', () => {
  it('moves the balances of several organizations by one mixed batch', async () => {
    const [a = '', b = '', c = ''] = await organizations(3);
    const batch = [
      transfer(b, 'clearing_pse', 'pending', 700),
      transfer(a, 'clearing_bre_b', 'pending', 1000),
      transfer(a, 'clearing_bre_b', 'pending', 500),
      transfer(b, 'pending', 'available', 200),
      transfer(a, 'treasury', 'available', 30),
      transfer(a, 'available', 'held', 10),
      transfer(c, 'clearing_bre_b', 'suspense', 99),
    ];
    await posting((tx) => post(tx, batch));
    expect(await amountsOf(a)).toEqual([1500, 20, 10]);
    expect(await amountsOf(b)).toEqual([500, 200, 0]);
    expect(await amountsOf(c)).toEqual([0, 0, 0]);
    expect(await transfersOf(c)).toHaveLength(1);
    const posted = await posting((tx) =>
      postedCauses(tx, 'payment', [batch[0]?.cause.id ?? '', 'unheard of']),
    );
    expect(posted).toEqual(new Set([batch[0]?.cause.id]));
  });

  it('keeps every member of a transfer, at business time', async () => {
    const [id = ''] = await organizations(1);
    const one = transfer(id, 'clearing_pse', 'pending', 4321, { resourceId: id });
    await posting((tx) => post(tx, [one]));
    const rows = await database.query(
      `select id, debit_account, credit_account, amount_in_cents, cause_kind, cause_id, resource_id,
         abs(extract(epoch from caudal.now() - at)) < 5 as "isNow"
       from caudal.ledger_transfers where organization_id = $1`,
      [id],
    );
    expect(rows).toEqual([
      {
        id: one.id,
        debit_account: 'clearing_pse',
        credit_account: 'pending',
        amount_in_cents: '4321',
        cause_kind: 'payment',
        cause_id: one.cause.id,
        resource_id: id,
        isNow: true,
      },
    ]);
  });

  it('does nothing with an empty batch', async () => {
    await expect(posting((tx) => post(tx, []))).resolves.toBeUndefined();
  });

  it('refuses a cause that was posted before, and with it all of its batch', async () => {
    const [a = '', b = ''] = await organizations(2);
    const first = transfer(a, 'clearing_bre_b', 'pending', 100);
    await posting((tx) => post(tx, [first]));
    const again = { ...first, id: uuidv7(caudal.deps.clock.now(), caudal.deps.cell), organizationId: b };
    await expect(
      posting((tx) => post(tx, [transfer(b, 'clearing_bre_b', 'pending', 1), again])),
    ).rejects.toMatchObject({ code: '23505', constraint: 'ledger_cause_once' });
    expect(await amountsOf(a)).toEqual([100, 0, 0]);
    expect(await amountsOf(b)).toEqual([0, 0, 0]);
    expect(await transfersOf(b)).toEqual([]);
  });

  it('refuses to take a balance below zero, and nothing of the batch stays', async () => {
    const [id = ''] = await organizations(1);
    await posting((tx) => post(tx, [transfer(id, 'treasury', 'available', 100)]));
    const tooMuch = [
      transfer(id, 'available', 'held', 60),
      transfer(id, 'available', 'held', 41),
      transfer(id, 'clearing_pse', 'pending', 5),
    ];
    await expect(posting((tx) => post(tx, tooMuch))).rejects.toMatchObject({
      code: '23514',
      constraint: 'balance_not_below_zero',
    });
    expect(await amountsOf(id)).toEqual([0, 100, 0]);
    expect(await transfersOf(id)).toHaveLength(1);
  });

  it('names the organization that has no account to be moved', async () => {
    await expect(
      posting((tx) => post(tx, [transfer(OPERATOR_ORGANIZATION_ID, 'treasury', 'available', 1)])),
    ).rejects.toThrow(`organization ${OPERATOR_ORGANIZATION_ID} has no account available`);
    expect(await transfersOf(OPERATOR_ORGANIZATION_ID)).toEqual([]);
  });

  it('books for the house where both accounts are the house’s', async () => {
    await posting((tx) => post(tx, [transfer(OPERATOR_ORGANIZATION_ID, 'clearing_pse', 'suspense', 5)]));
    expect(await transfersOf(OPERATOR_ORGANIZATION_ID)).toHaveLength(1);
  });

  it('lets two processes cross two hundred times without a deadlock', async () => {
    const ids = await organizations(6);
    const rounds = 200;
    const run = async (by: InProcess, order: readonly string[]) => {
      for (let round = 0; round < rounds; round += 1) {
        const batch = order.flatMap((id) => [
          transfer(id, 'clearing_bre_b', 'pending', 3),
          transfer(id, 'pending', 'available', 2),
        ]);
        await posting((tx) => post(tx, batch), by);
      }
    };
    await Promise.all([run(caudal, ids), run(other, ids.toReversed())]);
    for (const id of ids) expect(await amountsOf(id)).toEqual([2 * rounds, 4 * rounds, 0]);
  });
});

describe('what has been posted', () => {
  it.each(['caudal_read', 'caudal_batch', 'caudal_system'])('cannot be changed by %s', async (role) => {
    const [id = ''] = await organizations(1);
    await posting((tx) => post(tx, [transfer(id, 'treasury', 'available', 100)]));
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

  it('is seen by its own organization alone', async () => {
    const [a = '', b = ''] = await organizations(2);
    await posting((tx) =>
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
