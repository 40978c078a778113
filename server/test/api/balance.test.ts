import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settleBalances } from '../../src/flows/ledger/settle-balances.system.ts';
import { createApiKey } from '../../src/flows/operations/manage-organizations.system.ts';
import { toProblem } from '../harness/payin-responses.ts';
import { type ServedLedger, serveLedger } from '../ledger/served-ledger.ts';

let ledger: ServedLedger;
beforeAll(async () => {
  ledger = await serveLedger();
});
afterAll(async () => {
  await ledger?.close();
});

const anyTime = expect.any(String) as string;

describe('GET /balance', () => {
  it('returns 200 with zero amounts for a new organization', async () => {
    const { api } = await ledger.newShop();
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

  it('returns the money of a payin as pending, then as available, exact to the cent', async () => {
    const { id, api } = await ledger.newShop();
    await ledger.insertConfirmed([{ organizationId: id, amount: 4_980_033 }]);
    const pending = await api.get<{ updatedAt: string }>('/balance');
    expect(pending.body).toMatchObject({
      pending: 49_800.33,
      pendingInCents: 4_980_033,
      availableInCents: 0,
    });
    while ((await settleBalances(ledger.caudal.deps)) > 0);
    const settled = await api.get<{ updatedAt: string }>('/balance');
    expect(settled.body).toMatchObject({
      pendingInCents: 0,
      available: 49_800.33,
      availableInCents: 4_980_033,
    });
    expect(settled.body.updatedAt > pending.body.updatedAt).toBe(true);
  });

  it("returns only the organization's own money", async () => {
    const [funded, unfunded] = [await ledger.newShop(), await ledger.newShop()];
    await ledger.insertConfirmed([{ organizationId: funded.id, amount: 100 }]);
    expect((await unfunded.api.get('/balance')).body).toMatchObject({
      pendingInCents: 0,
      availableInCents: 0,
    });
  });

  it('returns 401 without a credential', async () => {
    expect(toProblem(await ledger.anonymous.get('/balance'))).toEqual({ status: 401, code: 'unauthorized' });
  });

  it('returns 403 without the scope', async () => {
    const { id } = await ledger.newShop();
    const key = { name: 'test', scopes: ['payins:read'], lifetimeSeconds: null };
    const credential = await createApiKey(ledger.caudal.deps, 'test', id, key);
    expect(toProblem(await ledger.anonymous.as(credential?.text ?? '').get('/balance'))).toEqual({
      status: 403,
      code: 'insufficient_scope',
    });
  });

  it('returns 500 for a balance that JSON numbers cannot represent exactly', async () => {
    const { id, api } = await ledger.newShop();
    const set = (amount: bigint) =>
      ledger.database.query(
        "update caudal.ledger_balances set balance_in_cents = $2 where organization_id = $1 and account = 'held'",
        [id, amount],
      );
    await set(BigInt(Number.MAX_SAFE_INTEGER));
    expect((await api.get('/balance')).body).toMatchObject({ heldInCents: Number.MAX_SAFE_INTEGER });
    await set(BigInt(Number.MAX_SAFE_INTEGER) + 1n);
    expect(toProblem(await api.get('/balance'))).toEqual({ status: 500, code: 'internal_error' });
  });

  it('returns 400 for an unknown parameter', async () => {
    const { api } = await ledger.newShop();
    expect(toProblem(await api.get('/balance?account=HELD'))).toMatchObject({ status: 400 });
  });
});
