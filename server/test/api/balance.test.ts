import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settleBalances } from '../../src/flows/ledger/settle-balances.ts';
import { createKey } from '../../src/flows/operations/manage-organizations.ts';
import { problemOf } from '../harness/payin-answers.ts';
import { type ServedBooks, serveBooks } from '../ledger/served-books.ts';

let books: ServedBooks;
beforeAll(async () => {
  books = await serveBooks();
});
afterAll(async () => {
  await books?.close();
});

const anyTime = expect.any(String) as string;

describe('GET /balance', () => {
  it('answers 200 with nothing for a new organization', async () => {
    const { api } = await books.newShop();
    const answer = await api.get('/balance');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      currency: 'COP',
      available: 0,
      availableInCents: 0,
      pending: 0,
      pendingInCents: 0,
      held: 0,
      heldInCents: 0,
      updatedAt: anyTime,
    });
    expect(Object.keys(answer.body)).toEqual([
      'currency',
      'available',
      'availableInCents',
      'pending',
      'pendingInCents',
      'held',
      'heldInCents',
      'updatedAt',
    ]);
  });

  it('shows the money of a payin as pending, then as available, exactly to the cent', async () => {
    const { id, api } = await books.newShop();
    await books.confirm([{ organizationId: id, amount: 4_980_033 }]);
    const pending = await api.get<{ updatedAt: string }>('/balance');
    expect(pending.body).toMatchObject({
      pending: 49_800.33,
      pendingInCents: 4_980_033,
      availableInCents: 0,
    });
    while ((await settleBalances(books.caudal.deps)) > 0);
    const settled = await api.get<{ updatedAt: string }>('/balance');
    expect(settled.body).toMatchObject({
      pendingInCents: 0,
      available: 49_800.33,
      availableInCents: 4_980_033,
    });
    expect(settled.body.updatedAt > pending.body.updatedAt).toBe(true);
  });

  it('shows an organization its own money alone', async () => {
    const [rich, poor] = [await books.newShop(), await books.newShop()];
    await books.confirm([{ organizationId: rich.id, amount: 100 }]);
    expect((await poor.api.get('/balance')).body).toMatchObject({ pendingInCents: 0, availableInCents: 0 });
  });

  it('answers 401 without a credential', async () => {
    expect(problemOf(await books.nobody.get('/balance'))).toEqual({ status: 401, code: 'unauthorized' });
  });

  it('answers 403 to a key without the scope', async () => {
    const { id } = await books.newShop();
    const key = { name: 'test', scopes: ['payins:read'], lifetimeSeconds: null };
    const credential = await createKey(books.caudal.deps, 'test', id, key);
    expect(problemOf(await books.nobody.as(credential?.text ?? '').get('/balance'))).toEqual({
      status: 403,
      code: 'insufficient_scope',
    });
  });

  it('answers 500 rather than a balance that a number of JSON cannot hold exactly', async () => {
    const { id, api } = await books.newShop();
    const set = (amount: bigint) =>
      books.database.query(
        "update caudal.ledger_balances set balance_in_cents = $2 where organization_id = $1 and account = 'held'",
        [id, amount],
      );
    await set(BigInt(Number.MAX_SAFE_INTEGER));
    expect((await api.get('/balance')).body).toMatchObject({ heldInCents: Number.MAX_SAFE_INTEGER });
    await set(BigInt(Number.MAX_SAFE_INTEGER) + 1n);
    expect(problemOf(await api.get('/balance'))).toEqual({ status: 500, code: 'internal_error' });
  });

  it('answers 400 to a parameter it does not have', async () => {
    const { api } = await books.newShop();
    expect(problemOf(await api.get('/balance?account=HELD'))).toMatchObject({ status: 400 });
  });
});
