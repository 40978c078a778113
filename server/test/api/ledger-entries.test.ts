import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deposit } from '../../src/flows/ledger/deposit.system.ts';
import { reversePosting } from '../../src/flows/ledger/reverse-posting.system.ts';
import { settleBalances } from '../../src/flows/ledger/settle-balances.system.ts';
import { createApiKey } from '../../src/flows/operations/manage-organizations.system.ts';
import { cents } from '../../src/kit/money.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { toProblem } from '../harness/payin-responses.ts';
import { type ServedLedger, serveLedger } from '../ledger/served-ledger.ts';

interface EntryBody {
  readonly id: string;
  readonly type: string;
  readonly debitAccount: string;
  readonly creditAccount: string;
  readonly amountInCents: number;
  readonly createdAt: string;
}
interface PageBody {
  readonly data: readonly EntryBody[];
  readonly pageInfo: { readonly nextCursor: string | null; readonly previousCursor: string | null };
}

let ledger: ServedLedger;
/** An organization with one entry of each type; no test adds to it. */
let shop: { readonly id: string; readonly api: ApiClient; readonly payin: string; readonly anomaly: string };

beforeAll(async () => {
  ledger = await serveLedger();
  const { id, api } = await ledger.newShop();
  const anomaly = ledger.newId();
  const [payin = ''] = await ledger.insertConfirmed([{ organizationId: id, amount: 4_980_033, rail: 'PSE' }]);
  await settleBalances(ledger.caudal.deps);
  await deposit(ledger.caudal.deps, {
    organizationId: id,
    amount: cents(500),
    reference: 'bank 1',
    operator: 'test',
  });
  const suspended = { organizationId: id, amount: 70, resourceId: anomaly } as const;
  await ledger.post({
    ...suspended,
    debit: 'clearing_bre_b',
    credit: 'suspense',
    cause: { kind: 'payment', id: 'BRE_B:late' },
  });
  await ledger.post({
    ...suspended,
    debit: 'suspense',
    credit: 'available',
    cause: { kind: 'anomaly', id: anomaly },
  });
  shop = { id, api, payin, anomaly };
});
afterAll(async () => {
  await ledger?.close();
});

async function page(api: ApiClient, query = ''): Promise<PageBody> {
  const answer = await api.get<PageBody>(`/ledger/entries${query}`);
  expect(answer.status).toBe(200);
  return answer.body;
}

const anyText = expect.any(String) as string;
const toTypes = ({ data }: PageBody) => data.map(({ type }) => type);

describe('a reversal', () => {
  it('is an entry of type REVERSAL with the reversed entry as resourceId', async () => {
    const other = await ledger.newShop();
    const command = { organizationId: other.id, operator: 'test' };
    await deposit(ledger.caudal.deps, { ...command, amount: cents(900), reference: 'bank 1' });
    await reversePosting(ledger.caudal.deps, {
      ...command,
      posting: { depositReference: 'bank 1' },
      amount: cents(400),
      reason: 'typo',
    });
    const { data } = await page(other.api);
    const [reversal, reversed] = data;
    expect(toTypes({ data } as PageBody)).toEqual(['REVERSAL', 'DEPOSIT']);
    expect(reversal).toMatchObject({
      debitAccount: 'AVAILABLE',
      creditAccount: 'TREASURY',
      amountInCents: 400,
      resourceId: reversed?.id,
    });
  });
});

describe('GET /ledger/entries', () => {
  it("lists every entry of the organization's money, newest first, and none between internal accounts", async () => {
    const { data } = await page(shop.api);
    const common = { id: anyText, currency: 'COP', createdAt: anyText };
    expect(data).toEqual([
      {
        ...common,
        type: 'CORRECTION',
        debitAccount: 'SUSPENSE',
        creditAccount: 'AVAILABLE',
        amount: 0.7,
        amountInCents: 70,
        resourceId: shop.anomaly,
      },
      {
        ...common,
        type: 'DEPOSIT',
        debitAccount: 'TREASURY',
        creditAccount: 'AVAILABLE',
        amount: 5,
        amountInCents: 500,
        resourceId: null,
      },
      {
        ...common,
        type: 'SETTLEMENT',
        debitAccount: 'PENDING',
        creditAccount: 'AVAILABLE',
        amount: 49_800.33,
        amountInCents: 4_980_033,
        resourceId: anyText,
      },
      {
        ...common,
        type: 'PAYIN',
        debitAccount: 'RAIL',
        creditAccount: 'PENDING',
        amount: 49_800.33,
        amountInCents: 4_980_033,
        resourceId: shop.payin,
      },
    ]);
    expect(Object.keys(data[0] ?? {})).toEqual([
      'id',
      'type',
      'debitAccount',
      'creditAccount',
      'amount',
      'amountInCents',
      'currency',
      'resourceId',
      'createdAt',
    ]);
  });

  it('adds up to the balance', async () => {
    const { data } = await page(shop.api);
    const { body } = await shop.api.get<{ availableInCents: number }>('/balance');
    const sum = data.reduce(
      (total, entry) =>
        total +
        (entry.creditAccount === 'AVAILABLE' ? entry.amountInCents : 0) -
        (entry.debitAccount === 'AVAILABLE' ? entry.amountInCents : 0),
      0,
    );
    expect(sum).toBe(body.availableInCents);
  });

  it.each([
    { account: 'PENDING', types: ['SETTLEMENT', 'PAYIN'] },
    { account: 'AVAILABLE', types: ['CORRECTION', 'DEPOSIT', 'SETTLEMENT'] },
    { account: 'HELD', types: [] },
  ])('filters by account: $account', async ({ account, types }) => {
    expect(toTypes(await page(shop.api, `?account=${account}`))).toEqual(types);
  });

  it('filters by time: createdFrom inclusive, createdTo exclusive', async () => {
    const { data } = await page(shop.api);
    const moment = encodeURIComponent(data[1]?.createdAt ?? '');
    const from = toTypes(await page(shop.api, `?createdFrom=${moment}`));
    const to = toTypes(await page(shop.api, `?createdTo=${moment}`));
    expect([...from, ...to]).toEqual(['CORRECTION', 'DEPOSIT', 'SETTLEMENT', 'PAYIN']);
    expect(from).toContain('DEPOSIT');
    expect(to).not.toContain('DEPOSIT');
  });

  it('pages forward and back with cursors', async () => {
    const { data } = await page(shop.api);
    const first = await page(shop.api, '?pageSize=3');
    const second = await page(shop.api, `?pageSize=3&cursor=${first.pageInfo.nextCursor}`);
    expect([...first.data, ...second.data]).toEqual(data);
    expect(second.pageInfo).toMatchObject({ hasNext: false, hasPrevious: true, nextCursor: null });
    expect(await page(shop.api, `?pageSize=3&cursor=${second.pageInfo.previousCursor}`)).toEqual(first);
  });

  it('rejects a cursor of other filters, another organization or another list', async () => {
    const { pageInfo } = await page(shop.api, '?pageSize=1');
    const invalid = { status: 400, code: 'cursor_invalid' };
    const cursor = `cursor=${pageInfo.nextCursor}`;
    expect(toProblem(await shop.api.get(`/ledger/entries?account=HELD&${cursor}`))).toEqual(invalid);
    expect(toProblem(await shop.api.get(`/payins?${cursor}`))).toEqual(invalid);
    const { api } = await ledger.newShop();
    expect(toProblem(await api.get(`/ledger/entries?${cursor}`))).toEqual(invalid);
  });

  it('is empty for an organization without entries', async () => {
    const { api } = await ledger.newShop();
    expect((await page(api)).data).toEqual([]);
  });

  it.each([
    '?account=SUSPENSE',
    '?account=available',
    '?pageSize=0',
    '?pageSize=101',
    '?createdFrom=now',
    '?x=1',
  ])('returns 400 for %s', async (query) => {
    expect(toProblem(await shop.api.get(`/ledger/entries${query}`))).toMatchObject({ status: 400 });
  });

  it('returns 403 without the scope', async () => {
    const key = { name: 'test', scopes: ['payins:read'], lifetimeSeconds: null };
    const credential = await createApiKey(ledger.caudal.deps, 'test', shop.id, key);
    expect(toProblem(await ledger.anonymous.as(credential?.text ?? '').get('/ledger/entries'))).toEqual({
      status: 403,
      code: 'insufficient_scope',
    });
  });
});
