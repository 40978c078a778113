import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient } from '../harness/api-client.ts';
import { type CredentialDriver, openCredentialDriver } from '../harness/credential-driver.ts';
import { brebPayin, CUSTOMER, newReference, psePayin, without } from '../harness/payin-requests.ts';
import {
  createPayin,
  listPage,
  type PayinBody,
  type PayinPage,
  readPayin,
  toProblem,
} from '../harness/payin-responses.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const CURSOR_INVALID = { status: 400, code: 'cursor_invalid' };
const LINK_ID = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

let stack: Stack;
let driver: CredentialDriver;
/** An organization with 25 payins, newest first; no test adds to it. */
let shop: { readonly api: ApiClient; readonly payins: readonly PayinBody[] };

beforeAll(async () => {
  stack = await startStack();
  driver = await openCredentialDriver(stack);
  const api = await newOrganization();
  const payins: PayinBody[] = [];
  for (let count = 0; count < 25; count += 1)
    payins.unshift(
      await createPayin(api, count % 5 === 0 ? brebPayin({ breb: { keyType: 'QR_CODE' } }) : brebPayin()),
    );
  shop = { api, payins };
});
afterAll(async () => {
  await driver?.close();
  await stack?.stop();
});

async function newOrganization(): Promise<ApiClient> {
  const { apiKey } = await driver.newOrganization();
  return stack.api.as(apiKey);
}

function toIds(payins: readonly { readonly id: string }[]): string[] {
  return payins.map(({ id }) => id);
}

function query(parameters: Readonly<Record<string, string | number>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) search.set(name, String(value));
  return `?${search.toString()}`;
}

/** Follows `nextCursor` to the end. */
async function fetchPages(
  api: ApiClient,
  parameters: Readonly<Record<string, string | number>>,
): Promise<PayinPage[]> {
  const pages = [await listPage(api, query(parameters))];
  for (let cursor = pages[0]?.pageInfo.nextCursor; cursor; cursor = pages.at(-1)?.pageInfo.nextCursor)
    pages.push(await listPage(api, query({ ...parameters, cursor })));
  return pages;
}

describe('GET /payins', () => {
  it('lists the payins of the organization, newest first, ten per page', async () => {
    const { data, pageInfo } = await listPage(shop.api);
    expect(toIds(data)).toEqual(toIds(shop.payins.slice(0, 10)));
    expect(pageInfo).toEqual({
      hasNext: true,
      hasPrevious: false,
      nextCursor: expect.any(String) as string,
      previousCursor: null,
    });
  });

  it('returns each payin like GET /payins/{id}, but inlineCustomer as JSON text', async () => {
    const { data } = await listPage(shop.api);
    for (const item of data) {
      const { inlineCustomer, ...rest } = await readPayin(shop.api, item.id);
      expect(item).toEqual({ ...rest, inlineCustomer: JSON.stringify(inlineCustomer) });
      expect(Object.keys(item)).toEqual(Object.keys(shop.payins[0] ?? {}));
      expect(JSON.parse(item.inlineCustomer ?? '')).toEqual(CUSTOMER);
    }
    expect(data.some(({ sourceData }) => sourceData.qrString !== undefined)).toBe(true);
  });

  it('returns inlineCustomer null when there is none', async () => {
    const api = await newOrganization();
    const created = await createPayin(api, without(psePayin(), 'inlineCustomer'));
    const { data } = await listPage(api);
    expect(data).toEqual([created]);
    expect(data[0]?.inlineCustomer).toBeNull();
  });

  it('keeps accents and emoji of the customer in that text', async () => {
    const api = await newOrganization();
    const inlineCustomer = { ...CUSTOMER, name: 'Peña "La Ñ" 👩🏽‍🚀 \\ O’Neil' };
    await createPayin(api, brebPayin({ inlineCustomer }));
    const { data } = await listPage(api);
    expect(JSON.parse(data[0]?.inlineCustomer ?? '')).toEqual(inlineCustomer);
  });

  it('returns an empty page without cursors for an organization without payins', async () => {
    const api = await newOrganization();
    expect(await listPage(api)).toEqual({
      data: [],
      pageInfo: { hasNext: false, hasPrevious: false, nextCursor: null, previousCursor: null },
    });
  });

  it('never returns a payin of another organization', async () => {
    const [ours, theirs] = [await newOrganization(), await newOrganization()];
    const [mine, yours] = await Promise.all([
      createPayin(ours, brebPayin()),
      createPayin(theirs, brebPayin()),
    ]);
    expect(toIds((await listPage(ours, '?pageSize=100')).data)).toEqual([mine.id]);
    expect(toIds((await listPage(theirs, '?pageSize=100')).data)).toEqual([yours.id]);
    expect((await listPage(ours, query({ reference: yours.reference }))).data).toEqual([]);
  });
});

describe('pageSize', () => {
  it.each([1, 2, 24, 25, 26, 100])('returns pages of %i', async (pageSize) => {
    const { data, pageInfo } = await listPage(shop.api, query({ pageSize }));
    expect(toIds(data)).toEqual(toIds(shop.payins.slice(0, pageSize)));
    expect(pageInfo.hasNext).toBe(pageSize < 25);
    expect(pageInfo.nextCursor === null).toBe(pageSize >= 25);
  });

  it('allows a hundred', async () => {
    const api = await newOrganization();
    await Promise.all(Array.from({ length: 103 }, () => createPayin(api, brebPayin())));
    const pages = await fetchPages(api, { pageSize: 100 });
    expect(pages.map(({ data }) => data.length)).toEqual([100, 3]);
    expect(new Set(pages.flatMap(({ data }) => toIds(data))).size).toBe(103);
  });

  it.each([
    { value: '0', error: 'too_small' },
    { value: '101', error: 'too_big' },
    { value: '1000000', error: 'too_big' },
    { value: 'abc', error: 'invalid_format' },
    { value: '-1', error: 'invalid_format' },
    { value: '1.5', error: 'invalid_format' },
    { value: '1e1', error: 'invalid_format' },
    { value: '0x10', error: 'invalid_format' },
    { value: '', error: 'invalid_format' },
    { value: ' 5', error: 'invalid_format' },
    { value: '٥', error: 'invalid_format' },
    { value: 'null', error: 'invalid_format' },
    { value: '99999999999999999999', error: 'invalid_format' },
  ])('rejects the size "$value"', async ({ value, error }) => {
    expect(toProblem(await shop.api.get(`/payins${query({ pageSize: value })}`))).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: [`query.pageSize ${error}`],
    });
  });

  it('may differ between pages', async () => {
    const first = await listPage(shop.api, '?pageSize=3');
    const second = await listPage(shop.api, query({ pageSize: 7, cursor: first.pageInfo.nextCursor ?? '' }));
    expect(toIds(second.data)).toEqual(toIds(shop.payins.slice(3, 10)));
  });
});

describe('the query string', () => {
  it.each([
    'pagesize',
    'page_size',
    'limit',
    'offset',
    'page',
    'Cursor',
    'state',
    '__proto__',
    'constructor',
  ])('rejects the parameter %s, which is misspelled or does not exist', async (name) => {
    expect(toProblem(await shop.api.get(`/payins?${name}=1`))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: [`query.${name} unknown_field`],
    });
  });

  it.each(['pageSize', 'status', 'rail', 'reference', 'cursor', 'createdFrom'])(
    'rejects %s given twice',
    async (name) => {
      const { nextCursor } = (await listPage(shop.api)).pageInfo;
      const values: Record<string, string> = {
        pageSize: '5',
        status: 'PENDING',
        rail: 'PSE',
        reference: 'x',
        cursor: nextCursor ?? '',
        createdFrom: '2026-01-01T00:00:00Z',
      };
      const once = `${name}=${values[name]}`;
      const answer = await shop.api.get(`/payins?${once}&${once}`);
      expect(answer.status).toBe(400);
      expect(answer.body['errors']).toMatchObject([{ path: `query.${name}` }]);
    },
  );

  it.each([
    { parameter: 'status', value: 'PAID', error: 'invalid_value' },
    { parameter: 'status', value: 'pending', error: 'invalid_value' },
    { parameter: 'status', value: '', error: 'invalid_value' },
    { parameter: 'rail', value: 'BREB', error: 'invalid_value' },
    { parameter: 'rail', value: '', error: 'invalid_value' },
    { parameter: 'reference', value: '', error: 'too_short' },
    { parameter: 'reference', value: 'x'.repeat(256), error: 'too_long' },
    { parameter: 'reference', value: 'a\u0000b', error: 'invalid_characters' },
    { parameter: 'paymentLinkId', value: 'x', error: 'invalid_format' },
    { parameter: 'paymentLinkId', value: '', error: 'invalid_format' },
    { parameter: 'createdFrom', value: 'yesterday', error: 'invalid_format' },
    { parameter: 'createdFrom', value: '2026-01-01', error: 'invalid_format' },
    { parameter: 'createdFrom', value: '2026-01-01T00:00:00', error: 'invalid_format' },
    { parameter: 'createdFrom', value: '2026-02-30T00:00:00Z', error: 'invalid_format' },
    { parameter: 'createdTo', value: '1763132645678', error: 'invalid_format' },
    { parameter: 'createdTo', value: '2026-13-01T00:00:00Z', error: 'invalid_format' },
    { parameter: 'createdTo', value: '', error: 'invalid_format' },
  ])('rejects $parameter=$value', async ({ parameter, value, error }) => {
    expect(toProblem(await shop.api.get(`/payins${query({ [parameter]: value })}`))).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: [`query.${parameter} ${error}`],
    });
  });

  it.each([
    ['en', 'createdFrom=2026-11-15', 'Must be a date and time with its zone, such as 2026-11-15T00:00:00Z.'],
    ['es', 'createdTo=ayer', 'Debe ser una fecha y hora con su zona, como 2026-11-15T00:00:00Z.'],
    ['en', 'paymentLinkId=x', 'Must be an identifier such as 019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10.'],
    ['en', 'pageSize=ten', 'Must be a whole number of at most nine digits.'],
    ['en', 'pagesize=10', 'There is no such field or parameter here.'],
  ])('explains in %s what is wrong with %s', async (language, search, message) => {
    const { body } = await shop.api.get(`/payins?${search}`, { 'accept-language': language });
    expect(body).toMatchObject({
      detail: expect.not.stringMatching(/payment|pago/) as string,
      errors: [{ message }],
    });
  });

  it.each([
    '0000-01-01T00:00:00Z',
    '0000-01-01T00:00:00+14:00',
    '1969-12-31T23:59:59.999Z',
    '9999-12-31T23:59:59.999Z',
    '9999-12-31T23:59:59-14:00',
  ])('accepts the time %s in both filters, however distant', async (moment) => {
    const distant = moment.startsWith('9');
    const from = await listPage(shop.api, query({ createdFrom: moment, pageSize: 100 }));
    const to = await listPage(shop.api, query({ createdTo: moment, pageSize: 100 }));
    expect([from.data.length, to.data.length]).toEqual(distant ? [0, 25] : [25, 0]);
  });
});

describe('cursors', () => {
  it.each([1, 4, 5, 7])('page through all payins by %i without gaps or duplicates', async (pageSize) => {
    const pages = await fetchPages(shop.api, { pageSize });
    expect(pages.flatMap(({ data }) => toIds(data))).toEqual(toIds(shop.payins));
    expect(pages.map(({ pageInfo }) => pageInfo.hasNext)).toEqual(
      pages.map((_, index) => index < pages.length - 1),
    );
    expect(pages.map(({ pageInfo }) => pageInfo.hasPrevious)).toEqual(pages.map((_, index) => index > 0));
    for (const { pageInfo } of pages) {
      expect(pageInfo.nextCursor !== null).toBe(pageInfo.hasNext);
      expect(pageInfo.previousCursor !== null).toBe(pageInfo.hasPrevious);
    }
  });

  it('page back through the same pages to a first page without previousCursor', async () => {
    const forward = await fetchPages(shop.api, { pageSize: 4 });
    const backward: PayinPage[] = [];
    for (
      let cursor = forward.at(-1)?.pageInfo.previousCursor;
      cursor;
      cursor = backward[0]?.pageInfo.previousCursor
    )
      backward.unshift(await listPage(shop.api, query({ pageSize: 4, cursor })));
    expect(backward.map(({ data }) => toIds(data))).toEqual(
      forward.slice(0, -1).map(({ data }) => toIds(data)),
    );
    expect(backward[0]?.pageInfo).toMatchObject({ hasNext: true, hasPrevious: false, previousCursor: null });
    for (const { pageInfo } of backward) expect(pageInfo.hasNext).toBe(true);
  });

  it('page back and forth between two pages repeatedly', async () => {
    const first = await listPage(shop.api, '?pageSize=6');
    let second = await listPage(shop.api, query({ pageSize: 6, cursor: first.pageInfo.nextCursor ?? '' }));
    for (let round = 0; round < 3; round += 1) {
      const backward = await listPage(
        shop.api,
        query({ pageSize: 6, cursor: second.pageInfo.previousCursor ?? '' }),
      );
      expect(toIds(backward.data)).toEqual(toIds(first.data));
      second = await listPage(shop.api, query({ pageSize: 6, cursor: backward.pageInfo.nextCursor ?? '' }));
      expect(toIds(second.data)).toEqual(toIds(shop.payins.slice(6, 12)));
    }
  });

  it('return old payins once, and the same pages backwards, during concurrent creations', async () => {
    const api = await newOrganization();
    const old: string[] = [];
    for (let count = 0; count < 23; count += 1) old.unshift((await createPayin(api, brebPayin())).id);
    // Before the creations: one that gets its ID earlier may commit later, and would then appear between the first payins.
    const forward = [await listPage(api, '?pageSize=5')];
    const added: string[] = [];
    const paging = new AbortController();
    const creating = Promise.all(
      Array.from({ length: 3 }, async () => {
        while (!paging.signal.aborted) added.push((await createPayin(api, brebPayin())).id);
      }),
    );
    // From here on every page is read after more payins were created.
    const addPayins = async () => {
      const before = added.length;
      while (added.length < before + 3) await createPayin(api, brebPayin()).then(({ id }) => added.push(id));
    };
    for (let cursor = forward[0]?.pageInfo.nextCursor; cursor; cursor = forward.at(-1)?.pageInfo.nextCursor) {
      await addPayins();
      forward.push(await listPage(api, query({ pageSize: 5, cursor })));
    }
    const backward: PayinPage[] = [];
    let cursor = forward.at(-1)?.pageInfo.previousCursor;
    while (backward.length < forward.length - 1 && cursor) {
      await addPayins();
      backward.unshift(await listPage(api, query({ pageSize: 5, cursor })));
      cursor = backward[0]?.pageInfo.previousCursor;
    }
    paging.abort();
    await creating;
    const listedIds = forward.flatMap(({ data }) => toIds(data));
    expect(new Set(listedIds).size).toBe(listedIds.length);
    expect(listedIds.filter((id) => old.includes(id))).toEqual(old);
    expect(backward.map(({ data }) => toIds(data))).toEqual(
      forward.slice(0, -1).map(({ data }) => toIds(data)),
    );
    // New payins precede the first page and are not in it.
    expect(backward[0]?.pageInfo.hasPrevious).toBe(true);
    const newer = await listPage(
      api,
      query({ pageSize: 100, cursor: backward[0]?.pageInfo.previousCursor ?? '' }),
    );
    expect(newer.data.length).toBeGreaterThan(0);
    expect(toIds(newer.data).every((id) => added.includes(id))).toBe(true);
  });

  it('are stateless', async () => {
    const { nextCursor } = (await listPage(shop.api, '?pageSize=5')).pageInfo;
    const parameters = query({ pageSize: 5, cursor: nextCursor ?? '' });
    const [one, two] = await Promise.all([listPage(shop.api, parameters), listPage(shop.api, parameters)]);
    expect(one).toEqual(two);
  });

  it('are URL-safe and do not contain an ID', async () => {
    const { nextCursor } = (await listPage(shop.api, '?pageSize=5')).pageInfo;
    expect(nextCursor).toMatch(/^[A-Za-z0-9_-]{20,200}$/);
    expect(nextCursor).not.toContain(shop.payins[4]?.id);
  });

  it('are rejected when any character is changed', async () => {
    const cursor = (await listPage(shop.api, '?pageSize=5')).pageInfo.nextCursor ?? '';
    const tampered = Array.from(cursor, (letter, at) => {
      // Flips the highest of six bits: the lowest bits of the last character are unused.
      const changed = BASE64URL.charAt(BASE64URL.indexOf(letter) ^ 32);
      return cursor.slice(0, at) + changed + cursor.slice(at + 1);
    });
    const answers = await Promise.all(
      tampered.map((each) => shop.api.get(`/payins${query({ pageSize: 5, cursor: each })}`)),
    );
    for (const answer of answers) expect(toProblem(answer)).toEqual(CURSOR_INVALID);
  });

  it.each([
    { what: 'empty', cursor: () => '' },
    { what: 'a word', cursor: () => 'next' },
    { what: 'the id of a payin', cursor: () => shop.payins[3]?.id ?? '' },
    { what: 'a number', cursor: () => '10' },
    { what: 'not base64', cursor: () => '{}%00ñ' },
    { what: '200 letters', cursor: () => 'A'.repeat(200) },
  ])('are rejected when they are $what', async ({ cursor }) => {
    expect(toProblem(await shop.api.get(`/payins${query({ cursor: cursor() })}`))).toEqual(CURSOR_INVALID);
  });

  it('are rejected when they are truncated or extended', async () => {
    const cursor = (await listPage(shop.api, '?pageSize=5')).pageInfo.nextCursor ?? '';
    for (const each of [cursor.slice(0, -4), cursor.slice(4), `${cursor}AAAA`, cursor + cursor])
      expect(toProblem(await shop.api.get(`/payins${query({ cursor: each })}`))).toEqual(CURSOR_INVALID);
  });

  it('are rejected for another organization', async () => {
    const api = await newOrganization();
    const { nextCursor } = (await listPage(shop.api, '?pageSize=5')).pageInfo;
    expect(toProblem(await api.get(`/payins${query({ cursor: nextCursor ?? '' })}`))).toEqual(CURSOR_INVALID);
  });

  it('are rejected with other filters', async () => {
    const createdFrom = shop.payins.at(-1)?.createdAt ?? '';
    const plain = (await listPage(shop.api, '?pageSize=5')).pageInfo.nextCursor ?? '';
    const filtered =
      (await listPage(shop.api, query({ pageSize: 5, rail: 'BRE_B', createdFrom }))).pageInfo.nextCursor ??
      '';
    const wrong: Readonly<Record<string, string>>[] = [
      { cursor: plain, rail: 'BRE_B' },
      { cursor: plain, status: 'PROCESSING' },
      { cursor: plain, reference: 'x' },
      { cursor: plain, paymentLinkId: LINK_ID },
      { cursor: plain, createdFrom },
      { cursor: plain, createdTo: '2099-01-01T00:00:00Z' },
      { cursor: filtered },
      { cursor: filtered, rail: 'BRE_B' },
      { cursor: filtered, rail: 'PSE', createdFrom },
      { cursor: filtered, rail: 'BRE_B', createdFrom: '2020-01-01T00:00:00Z' },
      { cursor: filtered, rail: 'BRE_B', createdTo: createdFrom },
    ];
    for (const parameters of wrong)
      expect(toProblem(await shop.api.get(`/payins${query(parameters)}`))).toEqual(CURSOR_INVALID);
  });

  it('are accepted with the same filters in another notation', async () => {
    const createdFrom = '2020-01-01T00:00:00.000Z';
    const { nextCursor } = (await listPage(shop.api, query({ pageSize: 5, rail: 'BRE_B', createdFrom })))
      .pageInfo;
    const page = await listPage(
      shop.api,
      query({
        cursor: nextCursor ?? '',
        createdFrom: '2019-12-31T19:00:00-05:00',
        rail: 'BRE_B',
        pageSize: 5,
      }),
    );
    expect(toIds(page.data)).toEqual(toIds(shop.payins.slice(5, 10)));
  });
});

describe('filters of GET /payins', () => {
  /** Ten payins of every kind, newest first. */
  let mixed: { readonly api: ApiClient; readonly payins: readonly PayinBody[] };

  beforeAll(async () => {
    const api = await newOrganization();
    const created: PayinBody[] = [];
    const kinds = [() => brebPayin(), () => without(psePayin(), 'inlineCustomer')];
    for (let count = 0; count < 10; count += 1)
      created.unshift(await createPayin(api, (kinds[count % 2] ?? brebPayin)()));
    const update = (payin: PayinBody | undefined, changes: string) =>
      stack.database.query(`update caudal.payins set ${changes} where id = $1`, [payin?.id]);
    await update(
      created[1],
      `status = 'CONFIRMED', result_at = caudal.now(), confirmed_amount_in_cents = amount_in_cents`,
    );
    await update(created[3], `status = 'CONFIRMED', result_at = caudal.now(), confirmed_amount_in_cents = 1`);
    await update(
      created[4],
      `status = 'DECLINED', result_at = caudal.now(), error_code = 'INSUFFICIENT_FUNDS'`,
    );
    await update(
      created[5],
      `status = 'CANCELED', result_at = caudal.now(), error_code = 'EXPIRED', payment_link_id = '${LINK_ID}'`,
    );
    await update(created[7], `payment_link_id = '${LINK_ID}'`);
    mixed = { api, payins: await Promise.all(created.map(({ id }) => readPayin(api, id))) };
  });

  async function expectOnly(
    parameters: Readonly<Record<string, string>>,
    matches: (payin: PayinBody) => boolean,
  ): Promise<string[]> {
    const pages = await fetchPages(mixed.api, { pageSize: 2, ...parameters });
    const found = pages.flatMap(({ data }) => toIds(data));
    expect(found).toEqual(toIds(mixed.payins.filter(matches)));
    return found;
  }

  it.each(['PENDING', 'PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'])('by status %s', async (status) => {
    const found = await expectOnly({ status }, (payin) => payin.status === status);
    expect(found.length).toBeGreaterThan(0);
  });

  it.each(['BRE_B', 'PSE'])('by rail %s', async (rail) => {
    const found = await expectOnly({ rail }, (payin) => payin.rail === rail);
    expect(found).toHaveLength(5);
  });

  it('by exact reference', async () => {
    const reference = `pedido ñ+1&2 = 100% #${newReference()}`;
    const api = await newOrganization();
    const { id } = await createPayin(api, brebPayin({ reference }));
    await createPayin(api, brebPayin({ reference: `${reference}0` }));
    expect(toIds((await listPage(api, query({ reference }))).data)).toEqual([id]);
    expect((await listPage(api, query({ reference: reference.toUpperCase() }))).data).toEqual([]);
    expect((await listPage(api, query({ reference: 'unknown' }))).data).toEqual([]);
    expect((await listPage(api, query({ reference: '%' }))).data).toEqual([]);
  });

  it('by paymentLinkId', async () => {
    const found = await expectOnly({ paymentLinkId: LINK_ID }, (payin) => payin.paymentLinkId === LINK_ID);
    expect(found).toHaveLength(2);
    await expectOnly({ paymentLinkId: mixed.payins[0]?.id ?? '' }, () => false);
  });

  it('by createdFrom, inclusive', async () => {
    for (const { createdAt } of [mixed.payins[0], mixed.payins[4], mixed.payins[9]].filter(
      (each) => each !== undefined,
    )) {
      const found = await expectOnly({ createdFrom: createdAt }, (payin) => payin.createdAt >= createdAt);
      expect(found).toContain(mixed.payins.find((payin) => payin.createdAt === createdAt)?.id);
      const next = new Date(Date.parse(createdAt) + 1).toISOString();
      await expectOnly({ createdFrom: next }, (payin) => payin.createdAt >= next);
    }
  });

  it('by createdTo, exclusive', async () => {
    for (const { createdAt } of [mixed.payins[0], mixed.payins[4], mixed.payins[9]].filter(
      (each) => each !== undefined,
    )) {
      const found = await expectOnly({ createdTo: createdAt }, (payin) => payin.createdAt < createdAt);
      expect(found).not.toContain(mixed.payins.find((payin) => payin.createdAt === createdAt)?.id);
      const next = new Date(Date.parse(createdAt) + 1).toISOString();
      await expectOnly({ createdTo: next }, (payin) => payin.createdAt < next);
    }
  });

  it('by a time span of one millisecond, or none', async () => {
    const at = mixed.payins[5]?.createdAt ?? '';
    const next = new Date(Date.parse(at) + 1).toISOString();
    const found = await expectOnly({ createdFrom: at, createdTo: next }, (payin) => payin.createdAt === at);
    expect(found).toContain(mixed.payins[5]?.id);
    await expectOnly({ createdFrom: at, createdTo: at }, () => false);
    await expectOnly({ createdFrom: next, createdTo: at }, () => false);
  });

  it('by a time with the offset of Bogotá and any number of digits', async () => {
    const at = Date.parse(mixed.payins[5]?.createdAt ?? '');
    const bogota = new Date(at - 5 * 3_600_000).toISOString().replace('Z', '-05:00');
    const found = await expectOnly({ createdFrom: bogota }, (payin) => Date.parse(payin.createdAt) >= at);
    expect(found).toContain(mixed.payins[5]?.id);
    await expectOnly({ createdFrom: '2020-01-01T00:00:00Z' }, () => true);
    await expectOnly({ createdTo: '2020-01-01T00:00:00.123456Z' }, () => false);
  });

  it('by several, combined with AND', async () => {
    const createdFrom = mixed.payins[7]?.createdAt ?? '';
    const found = await expectOnly(
      { status: 'CONFIRMED', rail: mixed.payins[1]?.rail ?? '', createdFrom },
      (payin) =>
        payin.status === 'CONFIRMED' &&
        payin.rail === mixed.payins[1]?.rail &&
        payin.createdAt >= createdFrom,
    );
    expect(found).toHaveLength(2);
    await expectOnly({ status: 'PROCESSING', rail: 'PSE' }, () => false);
  });

  it('in every combination without an error', async () => {
    const all: Readonly<Record<string, string>> = {
      status: 'CANCELED',
      rail: mixed.payins[5]?.rail ?? '',
      reference: mixed.payins[5]?.reference ?? '',
      paymentLinkId: LINK_ID,
      createdFrom: mixed.payins.at(-1)?.createdAt ?? '',
      createdTo: '2099-01-01T00:00:00Z',
    };
    const names = Object.keys(all);
    const failures: string[] = [];
    for (let chosen = 0; chosen < 2 ** names.length; chosen += 1) {
      const filters = Object.fromEntries(
        names.filter((_, bit) => ((chosen >> bit) & 1) === 1).map((name) => [name, all[name] ?? '']),
      );
      const answer = await mixed.api.get<PayinPage>(`/payins${query(filters)}`);
      if (answer.status !== 200) failures.push(`${answer.status} ${Object.keys(filters).join()}`);
      else expect(toIds(answer.body.data)).toContain(mixed.payins[5]?.id);
    }
    expect(failures).toEqual([]);
  });

  it('page back to the same pages', async () => {
    const filters = { rail: 'PSE', pageSize: 2 };
    const forward = await fetchPages(mixed.api, filters);
    expect(forward.map(({ data }) => data.length)).toEqual([2, 2, 1]);
    const cursor = forward[2]?.pageInfo.previousCursor ?? '';
    expect(toIds((await listPage(mixed.api, query({ ...filters, cursor }))).data)).toEqual(
      toIds(forward[1]?.data ?? []),
    );
  });

  it('return an empty page when a payin no longer matches, not an error', async () => {
    const api = await newOrganization();
    for (let count = 0; count < 3; count += 1) await createPayin(api, brebPayin());
    const filters = { status: 'PROCESSING', pageSize: 2 };
    const { nextCursor } = (await listPage(api, query(filters))).pageInfo;
    await stack.database.query(
      `update caudal.payins set status = 'CANCELED', result_at = caudal.now() where organization_id = $1`,
      [(await listPage(api)).data[0]?.organizationId],
    );
    expect(await listPage(api, query({ ...filters, cursor: nextCursor ?? '' }))).toEqual({
      data: [],
      pageInfo: { hasNext: false, hasPrevious: false, nextCursor: null, previousCursor: null },
    });
  });
});
