import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient } from '../harness/api-client.ts';
import { type CredentialDriver, openCredentialDriver } from '../harness/credential-driver.ts';
import {
  createPayin,
  listPage,
  type PayinBody,
  type PayinPage,
  problemOf,
  readPayin,
} from '../harness/payin-answers.ts';
import { brebPayin, CUSTOMER, newReference, psePayin, without } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const CURSOR_INVALID = { status: 400, code: 'cursor_invalid' };
const LINK_ID = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

let stack: Stack;
let driver: CredentialDriver;
/** An organization with 25 payins, newest first, that no test adds to. */
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

function idsOf(payins: readonly { readonly id: string }[]): string[] {
  return payins.map(({ id }) => id);
}

function query(parameters: Readonly<Record<string, string | number>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) search.set(name, String(value));
  return `?${search.toString()}`;
}

/** Follows `nextCursor` to the end. */
async function walk(
  api: ApiClient,
  parameters: Readonly<Record<string, string | number>>,
): Promise<PayinPage[]> {
  const pages = [await listPage(api, query(parameters))];
  for (let cursor = pages[0]?.pageInfo.nextCursor; cursor; cursor = pages.at(-1)?.pageInfo.nextCursor)
    pages.push(await listPage(api, query({ ...parameters, cursor })));
  return pages;
}

describe('GET /payins', () => {
  it('lists the payins of the organization, newest first, ten to a page', async () => {
    const { data, pageInfo } = await listPage(shop.api);
    expect(idsOf(data)).toEqual(idsOf(shop.payins.slice(0, 10)));
    expect(pageInfo).toEqual({
      hasNext: true,
      hasPrevious: false,
      nextCursor: expect.any(String) as string,
      previousCursor: null,
    });
  });

  it('shows each payin as GET /payins/{id} does, but inlineCustomer as the JSON text of the object', async () => {
    const { data } = await listPage(shop.api);
    for (const item of data) {
      const { inlineCustomer, ...rest } = await readPayin(shop.api, item.id);
      expect(item).toEqual({ ...rest, inlineCustomer: JSON.stringify(inlineCustomer) });
      expect(Object.keys(item)).toEqual(Object.keys(shop.payins[0] ?? {}));
      expect(JSON.parse(item.inlineCustomer ?? '')).toEqual(CUSTOMER);
    }
    expect(data.some(({ sourceData }) => sourceData.qrString !== undefined)).toBe(true);
  });

  it('shows inlineCustomer as null when there is none', async () => {
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

  it('is an empty page without cursors for an organization that has no payins', async () => {
    const api = await newOrganization();
    expect(await listPage(api)).toEqual({
      data: [],
      pageInfo: { hasNext: false, hasPrevious: false, nextCursor: null, previousCursor: null },
    });
  });

  it('never shows a payin of another organization', async () => {
    const [ours, theirs] = [await newOrganization(), await newOrganization()];
    const [mine, yours] = await Promise.all([
      createPayin(ours, brebPayin()),
      createPayin(theirs, brebPayin()),
    ]);
    expect(idsOf((await listPage(ours, '?pageSize=100')).data)).toEqual([mine.id]);
    expect(idsOf((await listPage(theirs, '?pageSize=100')).data)).toEqual([yours.id]);
    expect((await listPage(ours, query({ reference: yours.reference }))).data).toEqual([]);
  });
});

describe('pageSize', () => {
  it.each([1, 2, 24, 25, 26, 100])('gives pages of %i', async (pageSize) => {
    const { data, pageInfo } = await listPage(shop.api, query({ pageSize }));
    expect(idsOf(data)).toEqual(idsOf(shop.payins.slice(0, pageSize)));
    expect(pageInfo.hasNext).toBe(pageSize < 25);
    expect(pageInfo.nextCursor === null).toBe(pageSize >= 25);
  });

  it('gives as many as a hundred', async () => {
    const api = await newOrganization();
    await Promise.all(Array.from({ length: 103 }, () => createPayin(api, brebPayin())));
    const pages = await walk(api, { pageSize: 100 });
    expect(pages.map(({ data }) => data.length)).toEqual([100, 3]);
    expect(new Set(pages.flatMap(({ data }) => idsOf(data))).size).toBe(103);
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
  ])('refuses the size "$value"', async ({ value, error }) => {
    expect(problemOf(await shop.api.get(`/payins${query({ pageSize: value })}`))).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: [`query.pageSize ${error}`],
    });
  });

  it('may differ from one page to the next', async () => {
    const first = await listPage(shop.api, '?pageSize=3');
    const second = await listPage(shop.api, query({ pageSize: 7, cursor: first.pageInfo.nextCursor ?? '' }));
    expect(idsOf(second.data)).toEqual(idsOf(shop.payins.slice(3, 10)));
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
  ])('refuses the parameter %s, which is misspelt or does not exist', async (name) => {
    expect(problemOf(await shop.api.get(`/payins?${name}=1`))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: [`query.${name} unknown_field`],
    });
  });

  it.each(['pageSize', 'status', 'rail', 'reference', 'cursor', 'createdFrom'])(
    'refuses %s given twice',
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
  ])('refuses $parameter=$value', async ({ parameter, value, error }) => {
    expect(problemOf(await shop.api.get(`/payins${query({ [parameter]: value })}`))).toEqual({
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
  ])('says in %s of %s what is expected', async (language, search, message) => {
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
  ])('takes the moment %s, however far away, in both filters', async (moment) => {
    const distant = moment.startsWith('9');
    const from = await listPage(shop.api, query({ createdFrom: moment, pageSize: 100 }));
    const to = await listPage(shop.api, query({ createdTo: moment, pageSize: 100 }));
    expect([from.data.length, to.data.length]).toEqual(distant ? [0, 25] : [25, 0]);
  });
});

describe('cursors', () => {
  it.each([1, 4, 5, 7])(
    'lead through all payins in pages of %i, none twice and none missed',
    async (pageSize) => {
      const pages = await walk(shop.api, { pageSize });
      expect(pages.flatMap(({ data }) => idsOf(data))).toEqual(idsOf(shop.payins));
      expect(pages.map(({ pageInfo }) => pageInfo.hasNext)).toEqual(
        pages.map((_, index) => index < pages.length - 1),
      );
      expect(pages.map(({ pageInfo }) => pageInfo.hasPrevious)).toEqual(pages.map((_, index) => index > 0));
      for (const { pageInfo } of pages) {
        expect(pageInfo.nextCursor !== null).toBe(pageInfo.hasNext);
        expect(pageInfo.previousCursor !== null).toBe(pageInfo.hasPrevious);
      }
    },
  );

  it('lead back through the same pages, to a first page without previousCursor', async () => {
    const forth = await walk(shop.api, { pageSize: 4 });
    const back: PayinPage[] = [];
    for (
      let cursor = forth.at(-1)?.pageInfo.previousCursor;
      cursor;
      cursor = back[0]?.pageInfo.previousCursor
    )
      back.unshift(await listPage(shop.api, query({ pageSize: 4, cursor })));
    expect(back.map(({ data }) => idsOf(data))).toEqual(forth.slice(0, -1).map(({ data }) => idsOf(data)));
    expect(back[0]?.pageInfo).toMatchObject({ hasNext: true, hasPrevious: false, previousCursor: null });
    for (const { pageInfo } of back) expect(pageInfo.hasNext).toBe(true);
  });

  it('lead back and forth between two pages as often as one likes', async () => {
    const first = await listPage(shop.api, '?pageSize=6');
    let second = await listPage(shop.api, query({ pageSize: 6, cursor: first.pageInfo.nextCursor ?? '' }));
    for (let turn = 0; turn < 3; turn += 1) {
      const back = await listPage(
        shop.api,
        query({ pageSize: 6, cursor: second.pageInfo.previousCursor ?? '' }),
      );
      expect(idsOf(back.data)).toEqual(idsOf(first.data));
      second = await listPage(shop.api, query({ pageSize: 6, cursor: back.pageInfo.nextCursor ?? '' }));
      expect(idsOf(second.data)).toEqual(idsOf(shop.payins.slice(6, 12)));
    }
  });

  it('give the old payins once each, and the same pages on the way back, while others are being created', async () => {
    const api = await newOrganization();
    const old: string[] = [];
    for (let count = 0; count < 23; count += 1) old.unshift((await createPayin(api, brebPayin())).id);
    const added: string[] = [];
    const paging = new AbortController();
    const creating = Promise.all(
      Array.from({ length: 3 }, async () => {
        while (!paging.signal.aborted) added.push((await createPayin(api, brebPayin())).id);
      }),
    );
    const forth = [await listPage(api, '?pageSize=5')];
    // From here on every page is taken after more payins have come in.
    const grown = async () => {
      const before = added.length;
      while (added.length < before + 3) await createPayin(api, brebPayin()).then(({ id }) => added.push(id));
    };
    for (let cursor = forth[0]?.pageInfo.nextCursor; cursor; cursor = forth.at(-1)?.pageInfo.nextCursor) {
      await grown();
      forth.push(await listPage(api, query({ pageSize: 5, cursor })));
    }
    const back: PayinPage[] = [];
    let cursor = forth.at(-1)?.pageInfo.previousCursor;
    while (back.length < forth.length - 1 && cursor) {
      await grown();
      back.unshift(await listPage(api, query({ pageSize: 5, cursor })));
      cursor = back[0]?.pageInfo.previousCursor;
    }
    paging.abort();
    await creating;
    const seen = forth.flatMap(({ data }) => idsOf(data));
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => old.includes(id))).toEqual(old);
    expect(back.map(({ data }) => idsOf(data))).toEqual(forth.slice(0, -1).map(({ data }) => idsOf(data)));
    // What came in meanwhile lies before the first page, not in it.
    expect(back[0]?.pageInfo.hasPrevious).toBe(true);
    const newer = await listPage(
      api,
      query({ pageSize: 100, cursor: back[0]?.pageInfo.previousCursor ?? '' }),
    );
    expect(newer.data.length).toBeGreaterThan(0);
    expect(idsOf(newer.data).every((id) => added.includes(id))).toBe(true);
  });

  it('work on their own: nothing about them is remembered between requests', async () => {
    const { nextCursor } = (await listPage(shop.api, '?pageSize=5')).pageInfo;
    const parameters = query({ pageSize: 5, cursor: nextCursor ?? '' });
    const [one, two] = await Promise.all([listPage(shop.api, parameters), listPage(shop.api, parameters)]);
    expect(one).toEqual(two);
  });

  it('are safe in a URL and do not show an id', async () => {
    const { nextCursor } = (await listPage(shop.api, '?pageSize=5')).pageInfo;
    expect(nextCursor).toMatch(/^[A-Za-z0-9_-]{20,200}$/);
    expect(nextCursor).not.toContain(shop.payins[4]?.id);
  });

  it('are refused when any of their letters is changed', async () => {
    const cursor = (await listPage(shop.api, '?pageSize=5')).pageInfo.nextCursor ?? '';
    const tampered = Array.from(cursor, (letter, at) => {
      // The highest of a letter's six bits: the lowest ones of the last letter carry nothing.
      const changed = BASE64URL.charAt(BASE64URL.indexOf(letter) ^ 32);
      return cursor.slice(0, at) + changed + cursor.slice(at + 1);
    });
    const answers = await Promise.all(
      tampered.map((each) => shop.api.get(`/payins${query({ pageSize: 5, cursor: each })}`)),
    );
    for (const answer of answers) expect(problemOf(answer)).toEqual(CURSOR_INVALID);
  });

  it.each([
    { what: 'empty', cursor: () => '' },
    { what: 'a word', cursor: () => 'next' },
    { what: 'the id of a payin', cursor: () => shop.payins[3]?.id ?? '' },
    { what: 'a number', cursor: () => '10' },
    { what: 'not base64', cursor: () => '{}%00ñ' },
    { what: '200 letters', cursor: () => 'A'.repeat(200) },
  ])('are refused when they are $what', async ({ cursor }) => {
    expect(problemOf(await shop.api.get(`/payins${query({ cursor: cursor() })}`))).toEqual(CURSOR_INVALID);
  });

  it('are refused when they are cut short or longer', async () => {
    const cursor = (await listPage(shop.api, '?pageSize=5')).pageInfo.nextCursor ?? '';
    for (const each of [cursor.slice(0, -4), cursor.slice(4), `${cursor}AAAA`, cursor + cursor])
      expect(problemOf(await shop.api.get(`/payins${query({ cursor: each })}`))).toEqual(CURSOR_INVALID);
  });

  it('are refused when they were made for another organization', async () => {
    const api = await newOrganization();
    const { nextCursor } = (await listPage(shop.api, '?pageSize=5')).pageInfo;
    expect(problemOf(await api.get(`/payins${query({ cursor: nextCursor ?? '' })}`))).toEqual(CURSOR_INVALID);
  });

  it('are refused under other filters than those they were made for', async () => {
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
      expect(problemOf(await shop.api.get(`/payins${query(parameters)}`))).toEqual(CURSOR_INVALID);
  });

  it('do not mind how the same filters are written', async () => {
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
    expect(idsOf(page.data)).toEqual(idsOf(shop.payins.slice(5, 10)));
  });
});

describe('filters', () => {
  /** Ten payins of every kind, newest first. */
  let mixed: { readonly api: ApiClient; readonly payins: readonly PayinBody[] };

  beforeAll(async () => {
    const api = await newOrganization();
    const made: PayinBody[] = [];
    const kinds = [() => brebPayin(), () => without(psePayin(), 'inlineCustomer')];
    for (let count = 0; count < 10; count += 1)
      made.unshift(await createPayin(api, (kinds[count % 2] ?? brebPayin)()));
    const move = (payin: PayinBody | undefined, changes: string) =>
      stack.database.query(`update caudal.payins set ${changes} where id = $1`, [payin?.id]);
    await move(
      made[1],
      `status = 'CONFIRMED', result_at = caudal.now(), confirmed_amount_in_cents = amount_in_cents`,
    );
    await move(made[3], `status = 'CONFIRMED', result_at = caudal.now(), confirmed_amount_in_cents = 1`);
    await move(made[4], `status = 'DECLINED', result_at = caudal.now(), error_code = 'INSUFFICIENT_FUNDS'`);
    await move(
      made[5],
      `status = 'CANCELED', result_at = caudal.now(), error_code = 'EXPIRED', payment_link_id = '${LINK_ID}'`,
    );
    await move(made[7], `payment_link_id = '${LINK_ID}'`);
    mixed = { api, payins: await Promise.all(made.map(({ id }) => readPayin(api, id))) };
  });

  async function expectOnly(
    parameters: Readonly<Record<string, string>>,
    belongs: (payin: PayinBody) => boolean,
  ): Promise<string[]> {
    const pages = await walk(mixed.api, { pageSize: 2, ...parameters });
    const found = pages.flatMap(({ data }) => idsOf(data));
    expect(found).toEqual(idsOf(mixed.payins.filter(belongs)));
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

  it('by reference, exactly as it was given', async () => {
    const reference = `pedido ñ+1&2 = 100% #${newReference()}`;
    const api = await newOrganization();
    const { id } = await createPayin(api, brebPayin({ reference }));
    await createPayin(api, brebPayin({ reference: `${reference}0` }));
    expect(idsOf((await listPage(api, query({ reference }))).data)).toEqual([id]);
    expect((await listPage(api, query({ reference: reference.toUpperCase() }))).data).toEqual([]);
    expect((await listPage(api, query({ reference: 'unknown' }))).data).toEqual([]);
    expect((await listPage(api, query({ reference: '%' }))).data).toEqual([]);
  });

  it('by paymentLinkId', async () => {
    const found = await expectOnly({ paymentLinkId: LINK_ID }, (payin) => payin.paymentLinkId === LINK_ID);
    expect(found).toHaveLength(2);
    await expectOnly({ paymentLinkId: mixed.payins[0]?.id ?? '' }, () => false);
  });

  it('by createdFrom, the moment itself included', async () => {
    for (const { createdAt } of [mixed.payins[0], mixed.payins[4], mixed.payins[9]].filter(
      (each) => each !== undefined,
    )) {
      const found = await expectOnly({ createdFrom: createdAt }, (payin) => payin.createdAt >= createdAt);
      expect(found).toContain(mixed.payins.find((payin) => payin.createdAt === createdAt)?.id);
      const next = new Date(Date.parse(createdAt) + 1).toISOString();
      await expectOnly({ createdFrom: next }, (payin) => payin.createdAt >= next);
    }
  });

  it('by createdTo, the moment itself excluded', async () => {
    for (const { createdAt } of [mixed.payins[0], mixed.payins[4], mixed.payins[9]].filter(
      (each) => each !== undefined,
    )) {
      const found = await expectOnly({ createdTo: createdAt }, (payin) => payin.createdAt < createdAt);
      expect(found).not.toContain(mixed.payins.find((payin) => payin.createdAt === createdAt)?.id);
      const next = new Date(Date.parse(createdAt) + 1).toISOString();
      await expectOnly({ createdTo: next }, (payin) => payin.createdAt < next);
    }
  });

  it('by a span of time that holds one millisecond, or none', async () => {
    const at = mixed.payins[5]?.createdAt ?? '';
    const next = new Date(Date.parse(at) + 1).toISOString();
    const found = await expectOnly({ createdFrom: at, createdTo: next }, (payin) => payin.createdAt === at);
    expect(found).toContain(mixed.payins[5]?.id);
    await expectOnly({ createdFrom: at, createdTo: at }, () => false);
    await expectOnly({ createdFrom: next, createdTo: at }, () => false);
  });

  it('by a time written with the offset of Bogotá, with more digits or fewer', async () => {
    const at = Date.parse(mixed.payins[5]?.createdAt ?? '');
    const bogota = new Date(at - 5 * 3_600_000).toISOString().replace('Z', '-05:00');
    const found = await expectOnly({ createdFrom: bogota }, (payin) => Date.parse(payin.createdAt) >= at);
    expect(found).toContain(mixed.payins[5]?.id);
    await expectOnly({ createdFrom: '2020-01-01T00:00:00Z' }, () => true);
    await expectOnly({ createdTo: '2020-01-01T00:00:00.123456Z' }, () => false);
  });

  it('by several at once: all of them must hold', async () => {
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

  it('in every combination, never with an error', async () => {
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
      else expect(idsOf(answer.body.data)).toContain(mixed.payins[5]?.id);
    }
    expect(failures).toEqual([]);
  });

  it('lead back to the same pages too', async () => {
    const filters = { rail: 'PSE', pageSize: 2 };
    const forth = await walk(mixed.api, filters);
    expect(forth.map(({ data }) => data.length)).toEqual([2, 2, 1]);
    const cursor = forth[2]?.pageInfo.previousCursor ?? '';
    expect(idsOf((await listPage(mixed.api, query({ ...filters, cursor }))).data)).toEqual(
      idsOf(forth[1]?.data ?? []),
    );
  });

  it('that a payin has left since leave an empty page that leads nowhere, not an error', async () => {
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
