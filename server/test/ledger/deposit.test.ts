import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deposit } from '../../src/flows/ledger/deposit.system.ts';
import { SYSTEM } from '../../src/kit/actor.ts';
import { cents } from '../../src/kit/money.ts';
import { depositCause } from '../../src/ledger/deposit.store.ts';
import { post } from '../../src/ledger/ledger.store.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../src/organizations/organization.ts';
import { settingsFor } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { openTestLedger, type TestLedger } from './test-ledger.ts';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openTestLedger();
});
afterAll(async () => {
  await ledger?.close();
});

const command = (org: string, amount: string, reference: string, ...more: readonly string[]) =>
  runOperatorCommand(
    settingsFor(ledger.database.ownerUrl),
    'ledger',
    'deposit',
    '--org',
    org,
    '--amount',
    amount,
    '--reference',
    reference,
    ...more,
  );

describe('ledger deposit', () => {
  it('credits the available balance from the treasury and prints the new balance', async () => {
    const [id = ''] = await ledger.createOrganizations(1);
    expect(await command(id, '10000000', 'bank 1')).toMatchObject({
      code: 0,
      stdout: 'Posted a deposit of COP 10000000.00. Available: COP 10000000.00.\n',
    });
    const { code, stdout } = await command(id, '0.5', 'bank 2', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        booked: true,
        transferId: expect.any(String) as string,
        amountInCents: 50,
        availableInCents: '1000000050',
      },
    ]);
    expect(await ledger.readAmounts(id)).toEqual([0, 1_000_000_050, 0]);
  });

  it('posts a reference once and reports a repetition', async () => {
    const [id = ''] = await ledger.createOrganizations(1);
    await command(id, '12.34', 'bank 1');
    expect(await command(id, '12.34', 'bank 1')).toMatchObject({
      code: 0,
      stdout:
        'A deposit "bank 1" of COP 12.34 was posted before; nothing was posted now. Available: COP 12.34.\n',
    });
    expect(await ledger.readAmounts(id)).toEqual([0, 1234, 0]);
  });

  it('rejects the same reference with another amount', async () => {
    const [id = ''] = await ledger.createOrganizations(1);
    await command(id, '12.34', 'bank 1');
    const { code, stderr } = await command(id, '12.35', 'bank 1');
    expect(code).toBe(1);
    expect(stderr).toContain('a deposit "bank 1" of COP 12.34 was posted before');
    expect(await ledger.readAmounts(id)).toEqual([0, 1234, 0]);
  });

  it('lets two organizations use the same reference', async () => {
    const [a = '', b = ''] = await ledger.createOrganizations(2);
    await command(a, '1', 'bank 1');
    await command(b, '2', 'bank 1');
    expect(await ledger.readAmounts(b)).toEqual([0, 200, 0]);
  });

  it('posts once for concurrent deposits', async () => {
    const [organizationId = ''] = await ledger.createOrganizations(1);
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () =>
        deposit(ledger.caudal.deps, { organizationId, amount: cents(700), reference: 'r', operator: 'test' }),
      ),
    );
    expect(outcomes.map((outcome) => outcome.kind).sort()).toEqual([
      ...Array.from({ length: 5 }, () => 'already_booked'),
      'booked',
    ]);
    expect(await ledger.readAmounts(organizationId)).toEqual([0, 700, 0]);
  });

  it('returns already_booked when another session posts it between the check and the posting', async () => {
    const [organizationId = ''] = await ledger.createOrganizations(1);
    const { deps } = ledger.caudal;
    const command = { organizationId, amount: cents(700), reference: 'r', operator: 'test' };
    // In an object: a promise returned from the transaction would be awaited before its commit.
    const { second } = await deps.system.transaction('deposit', async (tx) => {
      const id = ledger.newId();
      const cause = depositCause(organizationId, 'r');
      await post(tx, [
        {
          id,
          organizationId,
          debit: 'treasury',
          credit: 'available',
          amount: cents(700),
          cause,
          resourceId: null,
          createdBy: SYSTEM,
        },
      ]);
      const waiting = deposit(deps, command);
      await ledger.waitForLockWaiter();
      return { second: waiting };
    });
    expect(await second).toMatchObject({ kind: 'already_booked', available: 700n });
  });

  it.each(['0', '0.00', '-1', '1e3', '1,5', '1.234', '.5', '12.', 'ten', '1'.repeat(14), ' 1'])(
    'rejects %j as an amount',
    async (amount) => {
      const [id = ''] = await ledger.createOrganizations(1);
      const { code, stderr } = await command(id, amount, 'r');
      expect(code).toBe(2);
      expect(stderr).toMatch(/--amount/);
      expect(await ledger.readAmounts(id)).toEqual([0, 0, 0]);
    },
  );

  it('rejects an unknown organization and the operator organization', async () => {
    for (const id of [ledger.newId(), OPERATOR_ORGANIZATION_ID]) {
      const { code, stderr } = await command(id, '1', 'r');
      expect(code).toBe(1);
      expect(stderr).toContain('there is no such organization');
    }
  });
});
