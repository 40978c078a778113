import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deposit } from '../../src/flows/ledger/deposit.ts';
import { reversePosting } from '../../src/flows/ledger/reverse-posting.ts';
import { settleBalances } from '../../src/flows/ledger/settle-balances.ts';
import { createKey } from '../../src/flows/operations/manage-organizations.ts';
import { cents } from '../../src/kit/money.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { problemOf } from '../harness/payin-answers.ts';
import { type ServedBooks, serveBooks } from '../ledger/served-books.ts';

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

let books: ServedBooks;
/** An organization with one entry of each type, that no test adds to. */
let shop: { readonly id: string; readonly api: ApiClient; readonly payin: string; readonly anomaly: string };

beforeAll(async () => {
  books = await serveBooks();
  const { id, api } = await books.newShop();
  const anomaly = books.newId();
  const [payin = ''] = await books.confirm([{ organizationId: id, amount: 4_980_033, rail: 'PSE' }]);
  await settleBalances(books.caudal.deps);
  await deposit(books.caudal.deps, {
    organizationId: id,
    amount: cents(500),
    reference: 'bank 1',
    operator: 'test',
  });
  const suspended = { organizationId: id, amount: 70, resourceId: anomaly } as const;
  await books.post({
    ...suspended,
    debit: 'clearing_bre_b',
    credit: 'suspense',
    cause: { kind: 'payment', id: 'BRE_B:late' },
  });
  await books.post({
    ...suspended,
    debit: 'suspense',
    credit: 'available',
    cause: { kind: 'anomaly', id: anomaly },
  });
  shop = { id, api, payin, anomaly };
});
afterAll(async () => {
  await books?.close();
});

async function page(api: ApiClient, query = ''): Promise<PageBody> {
  const answer = await api.get<PageBody>(`/ledger/entries${query}`);
  expect(answer.status).toBe(200);
  return answer.body;
}

const anyText = expect.any(String) as string;
const typesOf = ({ data }: PageBody) => data.map(({ type }) => type);

describe('a reversal', () => {
  it('is an entry of type REVERSAL that names the entry it reverses', async () => {
    const other = await books.newShop();
    const command = { organizationId: other.id, operator: 'test' };
    await deposit(books.caudal.deps, { ...command, amount: cents(900), reference: 'bank 1' });
    await reversePosting(books.caudal.deps, {
      ...command,
      posting: { depositReference: 'bank 1' },
      amount: cents(400),
      reason: 'typo',
    });
    const { data } = await page(other.api);
    const [reversal, reversed] = data;
    expect(typesOf({ data } as PageBody)).toEqual(['REVERSAL', 'DEPOSIT']);
    expect(reversal).toMatchObject({
      debitAccount: 'AVAILABLE',
      creditAccount: 'TREASURY',
      amountInCents: 400,
      resourceId: reversed?.id,
    });
  });
});

describe('GET /ledger/entries', () => {
  it('lists every movement of the organization’s money, newest first, and none between our own accounts', async () => {
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
  ])('by account: $account', async ({ account, types }) => {
    expect(typesOf(await page(shop.api, `?account=${account}`))).toEqual(types);
  });

  it('by time: from a moment on, and before it', async () => {
    const { data } = await page(shop.api);
    const moment = encodeURIComponent(data[1]?.createdAt ?? '');
    const from = typesOf(await page(shop.api, `?createdFrom=${moment}`));
    const to = typesOf(await page(shop.api, `?createdTo=${moment}`));
    expect([...from, ...to]).toEqual(['CORRECTION', 'DEPOSIT', 'SETTLEMENT', 'PAYIN']);
    expect(from).toContain('DEPOSIT');
    expect(to).not.toContain('DEPOSIT');
  });

  it('leads through all pages and back by cursors', async () => {
    const { data } = await page(shop.api);
    const first = await page(shop.api, '?pageSize=3');
    const second = await page(shop.api, `?pageSize=3&cursor=${first.pageInfo.nextCursor}`);
    expect([...first.data, ...second.data]).toEqual(data);
    expect(second.pageInfo).toMatchObject({ hasNext: false, hasPrevious: true, nextCursor: null });
    expect(await page(shop.api, `?pageSize=3&cursor=${second.pageInfo.previousCursor}`)).toEqual(first);
  });

  it('refuses a cursor of other filters, of another organization and of another list', async () => {
    const { pageInfo } = await page(shop.api, '?pageSize=1');
    const invalid = { status: 400, code: 'cursor_invalid' };
    const cursor = `cursor=${pageInfo.nextCursor}`;
    expect(problemOf(await shop.api.get(`/ledger/entries?account=HELD&${cursor}`))).toEqual(invalid);
    expect(problemOf(await shop.api.get(`/payins?${cursor}`))).toEqual(invalid);
    const { api } = await books.newShop();
    expect(problemOf(await api.get(`/ledger/entries?${cursor}`))).toEqual(invalid);
  });

  it('is empty for an organization whose money never moved, whatever others did', async () => {
    const { api } = await books.newShop();
    expect((await page(api)).data).toEqual([]);
  });

  it.each([
    '?account=SUSPENSE',
    '?account=available',
    '?pageSize=0',
    '?pageSize=101',
    '?createdFrom=now',
    '?x=1',
  ])('answers 400 to %s', async (query) => {
    expect(problemOf(await shop.api.get(`/ledger/entries${query}`))).toMatchObject({ status: 400 });
  });

  it('answers 403 to a key without the scope', async () => {
    const key = { name: 'test', scopes: ['payins:read'], lifetimeSeconds: null };
    const credential = await createKey(books.caudal.deps, 'test', shop.id, key);
    expect(problemOf(await books.nobody.as(credential?.text ?? '').get('/ledger/entries'))).toEqual({
      status: 403,
      code: 'insufficient_scope',
    });
  });
});
