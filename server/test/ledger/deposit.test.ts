import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deposit } from '../../src/flows/ledger/deposit.ts';
import { cents } from '../../src/kit/money.ts';
import { depositCause } from '../../src/ledger/deposit.store.ts';
import { post } from '../../src/ledger/ledger.store.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../src/organizations/organization.ts';
import { settingsFor } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { type Books, openBooks } from './books.ts';

let books: Books;
beforeAll(async () => {
  books = await openBooks();
});
afterAll(async () => {
  await books?.close();
});

const command = (org: string, amount: string, reference: string, ...more: readonly string[]) =>
  runOperatorCommand(
    settingsFor(books.database.ownerUrl),
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
  it('makes money available from the treasury and says how much there is now', async () => {
    const [id = ''] = await books.organizations(1);
    expect(await command(id, '10000000', 'bank 1')).toMatchObject({
      code: 0,
      stdout: 'Booked COP 10000000.00. Available: COP 10000000.00.\n',
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
    expect(await books.amountsOf(id)).toEqual([0, 1_000_000_050, 0]);
  });

  it('books a reference once, and says so when it is repeated', async () => {
    const [id = ''] = await books.organizations(1);
    await command(id, '12.34', 'bank 1');
    expect(await command(id, '12.34', 'bank 1')).toMatchObject({
      code: 0,
      stdout:
        'A deposit "bank 1" of COP 12.34 was booked before; nothing was booked now. Available: COP 12.34.\n',
    });
    expect(await books.amountsOf(id)).toEqual([0, 1234, 0]);
  });

  it('refuses the same reference with another amount', async () => {
    const [id = ''] = await books.organizations(1);
    await command(id, '12.34', 'bank 1');
    const { code, stderr } = await command(id, '12.35', 'bank 1');
    expect(code).toBe(1);
    expect(stderr).toContain('a deposit "bank 1" was booked before, of COP 12.34');
    expect(await books.amountsOf(id)).toEqual([0, 1234, 0]);
  });

  it('lets two organizations use one reference', async () => {
    const [a = '', b = ''] = await books.organizations(2);
    await command(a, '1', 'bank 1');
    await command(b, '2', 'bank 1');
    expect(await books.amountsOf(b)).toEqual([0, 200, 0]);
  });

  it('books once when many book it at the same moment', async () => {
    const [organizationId = ''] = await books.organizations(1);
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () =>
        deposit(books.caudal.deps, { organizationId, amount: cents(700), reference: 'r', operator: 'test' }),
      ),
    );
    expect(outcomes.map((outcome) => outcome.kind).sort()).toEqual([
      ...Array.from({ length: 5 }, () => 'already_booked'),
      'booked',
    ]);
    expect(await books.amountsOf(organizationId)).toEqual([0, 700, 0]);
  });

  it('says that it was booked before when another books it between the look and the booking', async () => {
    const [organizationId = ''] = await books.organizations(1);
    const { deps } = books.caudal;
    const command = { organizationId, amount: cents(700), reference: 'r', operator: 'test' };
    // In an object: a promise returned from the transaction would be awaited before its commit.
    const { second } = await deps.system.transaction('deposit', async (tx) => {
      const id = books.newId();
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
        },
      ]);
      const waiting = deposit(deps, command);
      await books.untilOneWaits();
      return { second: waiting };
    });
    expect(await second).toMatchObject({ kind: 'already_booked', available: 700n });
  });

  it.each(['0', '0.00', '-1', '1e3', '1,5', '1.234', '.5', '12.', 'ten', '1'.repeat(14), ' 1'])(
    'does not take %j for an amount',
    async (amount) => {
      const [id = ''] = await books.organizations(1);
      const { code, stderr } = await command(id, amount, 'r');
      expect(code).toBe(2);
      expect(stderr).toMatch(/--amount/);
      expect(await books.amountsOf(id)).toEqual([0, 0, 0]);
    },
  );

  it('knows no organization by a wrong id, nor the house', async () => {
    for (const id of [books.newId(), OPERATOR_ORGANIZATION_ID]) {
      const { code, stderr } = await command(id, '1', 'r');
      expect(code).toBe(1);
      expect(stderr).toContain('there is no such organization');
    }
  });
});
