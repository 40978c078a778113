import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reversePosting } from '../../src/flows/ledger/reverse-posting.system.ts';
import { verifyLedger } from '../../src/flows/ledger/verify-ledger.system.ts';
import { resolve } from '../../src/flows/payins/resolve-anomaly.system.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../src/organizations/organization.ts';
import { settingsFor } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import type { ExitResult } from '../harness/run-server.ts';
import { openTestLedger, type TestLedger } from './test-ledger.ts';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openTestLedger();
});
afterAll(async () => {
  await ledger?.close();
});

const runLedgerCommand = (...args: readonly string[]): Promise<ExitResult> =>
  runOperatorCommand(settingsFor(ledger.database.url), 'ledger', ...args, '--by', 'Laura', '--json');

/** @returns the ID of its transfer */
async function depositPesos(org: string, pesos: string, reference: string): Promise<string> {
  const { stdout } = await runLedgerCommand(
    'deposit',
    '--org',
    org,
    '--amount',
    pesos,
    '--reference',
    reference,
  );
  return (JSON.parse(stdout) as { transferId: string }).transferId;
}

const reverse = (org: string, ...args: readonly string[]) =>
  runLedgerCommand('reverse', '--org', org, '--reason', 'typo in the amount', ...args);

async function expectConsistentLedger(): Promise<void> {
  expect((await verifyLedger(ledger.caudal.deps)).broken).toEqual([]);
}

function readAudit(resource: string) {
  return ledger.database.query(
    `select operator, action, note, details ->> 'amountInCents' as amount from caudal.operator_actions
     where resource = $1 and action = 'ledger.reverse'`,
    [resource],
  );
}

/** Creates an anomaly with money in suspense (positive) or owed by suspense (negative). @returns its ID */
async function createAnomaly(organizationId: string, amount: number): Promise<string> {
  const id = ledger.newId();
  const [debit, credit] = amount > 0 ? ['clearing_pse', 'suspense'] : ['suspense', 'clearing_pse'];
  await ledger.post({
    organizationId,
    debit: debit as 'suspense',
    credit: credit as 'suspense',
    amount: Math.abs(amount),
    cause: { kind: amount > 0 ? 'payment' : 'execution', id: `PSE:${id}` },
    resourceId: null,
  });
  await ledger.database.query(
    `insert into caudal.anomalies (organization_id, id, rail, kind, reference, amount_in_cents, noticed_at, once)
     values ($1, $2, 'PSE', $3, 'r', $4, caudal.now(), $5)`,
    [organizationId, id, amount > 0 ? 'unmatched' : 'sent_late', amount, id],
  );
  return id;
}

async function resolveAnomaly(id: string, how: 'credit' | 'charge' | 'write_off', org: string | null) {
  const outcome = await resolve(ledger.caudal.deps, id, {
    how,
    by: 'Laura',
    note: null,
    organizationId: org,
    makeReturn: null,
  });
  expect(outcome.kind).toBe('resolved');
  const [row] = await ledger.database.query<{ id: string; organization_id: string }>(
    `select id, organization_id from caudal.ledger_transfers
     where cause_kind = 'anomaly' and resource_id = $1 order by at desc, id desc limit 1`,
    [id],
  );
  if (!row) throw new Error('nothing was posted');
  return { transferId: row.id, organizationId: row.organization_id };
}

describe('ledger reverse', () => {
  it('takes a deposit back from the available balance, with operator and reason in the audit log', async () => {
    const [org = ''] = await ledger.createOrganizations(1);
    const transferId = await depositPesos(org, '999999999999', 'typo');
    const { code, stdout } = await reverse(org, '--deposit', 'typo');
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { reversed: true, reversedTransferId: transferId, amountInCents: 99_999_999_999_900, anomalyId: null },
    ]);
    expect(await ledger.readAmounts(org)).toEqual([0, 0, 0]);
    expect(await readAudit(transferId)).toEqual([
      { operator: 'Laura', action: 'ledger.reverse', note: 'typo in the amount', amount: '99999999999900' },
    ]);
    await expectConsistentLedger();
  });

  it('reverses a posting once, by transfer or by reference', async () => {
    const [org = ''] = await ledger.createOrganizations(1);
    const transferId = await depositPesos(org, '12.34', 'bank 1');
    expect((await reverse(org, '--transfer', transferId)).code).toBe(0);
    for (const again of [
      ['--transfer', transferId],
      ['--deposit', 'bank 1'],
    ])
      expect(await reverse(org, ...again)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('reversed before, by COP 12.34') as string,
      });
    expect(await ledger.readAmounts(org)).toEqual([0, 0, 0]);
  });

  it('reverses once for concurrent operators', async () => {
    const [organizationId = ''] = await ledger.createOrganizations(1);
    const transferId = await depositPesos(organizationId, '7', 'bank 1');
    await depositPesos(organizationId, '100', 'bank 2');
    const reversal = { organizationId, posting: { transferId }, amount: null, operator: 'x', reason: 'x' };
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => reversePosting(ledger.caudal.deps, reversal)),
    );
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual([
      ...Array.from({ length: 5 }, () => 'already_reversed'),
      'reversed',
    ]);
    expect(await ledger.readAmounts(organizationId)).toEqual([0, 10_000, 0]);
  });

  it('reverses no more than was posted', async () => {
    const [org = ''] = await ledger.createOrganizations(1);
    await depositPesos(org, '100', 'bank 1');
    await depositPesos(org, '100', 'bank 2');
    expect(await reverse(org, '--deposit', 'bank 1', '--amount', '100.01')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the transfer is COP 100.00') as string,
    });
  });

  it('does not post a reversed deposit again under its reference', async () => {
    const [org = ''] = await ledger.createOrganizations(1);
    await depositPesos(org, '100', 'bank 1');
    await reverse(org, '--deposit', 'bank 1');
    expect(
      await runLedgerCommand('deposit', '--org', org, '--amount', '100', '--reference', 'bank 1'),
    ).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('needs another --reference') as string,
    });
    expect(await ledger.readAmounts(org)).toEqual([0, 0, 0]);
  });

  it.each(['credit of an anomaly', 'credit of money that belonged to no one'])(
    'reopens the anomaly, which can be resolved and reversed again: %s',
    async (what) => {
      const [org = ''] = await ledger.createOrganizations(1);
      const owner = what === 'credit of an anomaly' ? org : OPERATOR_ORGANIZATION_ID;
      const id = await createAnomaly(owner, 500);
      for (let round = 0; round < 2; round += 1) {
        const { transferId } = await resolveAnomaly(
          id,
          'credit',
          owner === OPERATOR_ORGANIZATION_ID ? org : null,
        );
        expect(await ledger.readAmounts(org)).toEqual([0, 500, 0]);
        await expectConsistentLedger();
        const { code, stdout } = await reverse(org, '--transfer', transferId);
        expect([code, JSON.parse(stdout)]).toMatchObject([0, { anomalyId: id }]);
        expect(await ledger.readAmounts(org)).toEqual([0, 0, 0]);
        await expectConsistentLedger();
      }
      await resolveAnomaly(id, 'credit', owner === OPERATOR_ORGANIZATION_ID ? org : null);
      await expectConsistentLedger();
    },
  );

  it('returns a charge to the merchant and a write-off to the treasury', async () => {
    const [org = ''] = await ledger.createOrganizations(1);
    await depositPesos(org, '5', 'bank 1');
    const charge = await resolveAnomaly(await createAnomaly(org, -500), 'charge', null);
    expect(await ledger.readAmounts(org)).toEqual([0, 0, 0]);
    expect((await reverse(org, '--transfer', charge.transferId)).code).toBe(0);
    expect(await ledger.readAmounts(org)).toEqual([0, 500, 0]);
    const writeOff = await resolveAnomaly(
      await createAnomaly(OPERATOR_ORGANIZATION_ID, -300),
      'write_off',
      null,
    );
    expect((await reverse(OPERATOR_ORGANIZATION_ID, '--transfer', writeOff.transferId)).code).toBe(0);
    await expectConsistentLedger();
  });

  it('reverses the resolution of an anomaly only completely', async () => {
    const [org = ''] = await ledger.createOrganizations(1);
    const { transferId } = await resolveAnomaly(await createAnomaly(org, 500), 'credit', null);
    expect(await reverse(org, '--transfer', transferId, '--amount', '4')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('in full, COP 5.00') as string,
    });
  });

  it('rejects postings of rail payments and of other organizations', async () => {
    const [org = '', other = ''] = await ledger.createOrganizations(2);
    const [payin = ''] = await ledger.insertConfirmed([{ organizationId: org, amount: 900 }]);
    const [row] = await ledger.database.query<{ id: string }>(
      'select id from caudal.ledger_transfers where resource_id = $1',
      [payin],
    );
    expect(await reverse(org, '--transfer', row?.id ?? '')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('a transfer of kind payment cannot be reversed') as string,
    });
    const transferId = await depositPesos(org, '1', 'bank 1');
    for (const args of [
      ['--transfer', transferId],
      ['--deposit', 'bank 1'],
    ])
      expect(await reverse(other, ...args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('no such transfer') as string,
      });
    expect(await ledger.readAmounts(org)).toEqual([900, 100, 0]);
  });

  it('does not reverse a reversal', async () => {
    const [org = ''] = await ledger.createOrganizations(1);
    await depositPesos(org, '1', 'bank 1');
    const { stdout } = await reverse(org, '--deposit', 'bank 1');
    const { transferId } = JSON.parse(stdout) as { transferId: string };
    expect(await reverse(org, '--transfer', transferId)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('kind reversal cannot be reversed') as string,
    });
  });

  it.each([
    [[]],
    [['--transfer', 'x']],
    [['--transfer', '01990000-0000-7000-8000-000000000000', '--deposit', 'x']],
    [['--deposit', 'x', '--amount', '0']],
  ])('rejects the arguments %j', async (args) => {
    expect((await reverse(OPERATOR_ORGANIZATION_ID, ...args)).code).toBe(2);
  });
});

describe('ledger verify of reversals', () => {
  it.each([
    ['of more than was posted', 'amount_in_cents = amount_in_cents + 1'],
    ['between other accounts', "credit_account = 'suspense'"],
    ['of no transfer', 'resource_id = gen_random_uuid()'],
  ])('reports a reversal %s', async (_what, change) => {
    const [org = ''] = await ledger.createOrganizations(1);
    await depositPesos(org, '10', 'bank 1');
    const { stdout } = await reverse(org, '--deposit', 'bank 1', '--amount', '10');
    const { transferId } = JSON.parse(stdout) as { transferId: string };
    const row = `where organization_id = '${org}' and id = '${transferId}'`;
    const table = 'caudal.ledger_transfers';
    const [before] = await ledger.database.query<Record<string, unknown>>(`select * from ${table} ${row}`);
    await ledger.database.query(`update ${table} set ${change} ${row}`);
    const { broken } = await verifyLedger(ledger.caudal.deps);
    expect(broken).toContainEqual(expect.objectContaining({ table: 'ledger_transfers', id: transferId }));
    await ledger.database.query(
      `update ${table} set amount_in_cents = $1, credit_account = $2, resource_id = $3 ${row}`,
      [before?.['amount_in_cents'], before?.['credit_account'], before?.['resource_id']],
    );
    await expectConsistentLedger();
  });

  it('reports a reversal of a posting that cannot be reversed', async () => {
    const [org = ''] = await ledger.createOrganizations(1);
    const [payin = ''] = await ledger.insertConfirmed([{ organizationId: org, amount: 900 }]);
    const [payment] = await ledger.database.query<{ id: string }>(
      'select id from caudal.ledger_transfers where resource_id = $1',
      [payin],
    );
    const id = payment?.id ?? '';
    await ledger.post({
      organizationId: org,
      debit: 'pending',
      credit: 'clearing_bre_b',
      amount: 900,
      cause: { kind: 'reversal', id },
      resourceId: id,
    });
    const { broken } = await verifyLedger(ledger.caudal.deps);
    expect(broken).toContainEqual(
      expect.objectContaining({ table: 'ledger_transfers', organizationId: org }),
    );
  });
});

// Last: its hold has no payout, which `ledger verify` would report in the tests above.
describe('ledger reverse above the balance', () => {
  it('is rejected with the available balance, and a part can be reversed', async () => {
    const [org = ''] = await ledger.createOrganizations(1);
    await depositPesos(org, '100', 'bank 1');
    await ledger.post({
      organizationId: org,
      debit: 'available',
      credit: 'held',
      amount: 3000,
      cause: { kind: 'payout_hold', id: ledger.newId() },
      resourceId: null,
    });
    expect(await reverse(org, '--deposit', 'bank 1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'COP 100.00 are needed and the available balance is COP 70.00',
      ) as string,
    });
    expect(await ledger.readAmounts(org)).toEqual([0, 7000, 3000]);
    expect((await reverse(org, '--deposit', 'bank 1', '--amount', '70')).code).toBe(0);
    expect(await ledger.readAmounts(org)).toEqual([0, 0, 3000]);
  });
});
