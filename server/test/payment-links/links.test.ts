import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../harness/api-client.ts';
import {
  CheckoutDriver,
  type LinkBody,
  type LinkDetailsBody,
  linkRequest,
} from '../harness/checkout-driver.ts';
import { type CredentialDriver, openCredentialDriver } from '../harness/credential-driver.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { CUSTOMER, newReference, without } from '../harness/payin-requests.ts';
import { toProblem } from '../harness/payin-responses.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const MILLISECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

interface LinkPage {
  readonly data: readonly LinkDetailsBody[];
  readonly pageInfo: {
    readonly hasNext: boolean;
    readonly hasPrevious: boolean;
    readonly nextCursor: string | null;
    readonly previousCursor: string | null;
  };
}

let stack: Stack;
let driver: CheckoutDriver;
let credentials: CredentialDriver;
beforeAll(async () => {
  stack = await startStack({ workers: 1, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new CheckoutDriver(stack);
  credentials = await openCredentialDriver(stack);
});
afterAll(async () => {
  await credentials?.close();
  await stack?.stop();
});

function create(body: unknown, headers: Readonly<Record<string, string>> = {}, api = stack.api) {
  return api.post<LinkBody>('/payment-links', body, headers);
}

async function newOrganization(...rails: ('BRE_B' | 'PSE')[]): Promise<ApiClient> {
  const { apiKey } = await credentials.newOrganization(rails.length > 0 ? rails : undefined);
  return stack.api.as(apiKey);
}

async function countLinks(): Promise<number> {
  const [row] = await stack.database.query<{ count: number }>(
    'select count(*)::int as count from caudal.payment_links',
  );
  return row?.count ?? -1;
}

describe('POST /payment-links', () => {
  it.each<[string, Record<string, unknown>, Partial<LinkBody>]>([
    ['an open checkout', {}, {}],
    ['a restricted method', { rail: 'BRE_B' }, { rail: 'BRE_B' }],
    ['a preselected bank', { rail: 'PSE', pse: { bank: 'CO_NEQUI' } }, { rail: 'PSE' }],
    ['a pre-filled customer', { inlineCustomer: CUSTOMER }, { inlineCustomer: CUSTOMER }],
    [
      'restricted and pre-filled',
      { rail: 'PSE', inlineCustomer: CUSTOMER },
      { rail: 'PSE', inlineCustomer: CUSTOMER },
    ],
  ])('creates %s', async (_flow, changes, shown) => {
    const { status, body, headers } = await create(linkRequest(changes));
    expect(status).toBe(201);
    expect(headers.get('idempotent-replayed')).toBeNull();
    expect(Object.keys(body)).toEqual([
      'paymentLinkId',
      'paymentLinkUrl',
      'status',
      'createdAt',
      'expiresAt',
      'rail',
      'inlineCustomer',
      'metadata',
    ]);
    expect(body).toMatchObject({ status: 'PENDING', rail: null, inlineCustomer: null, ...shown });
    expect(body.paymentLinkId).toMatch(UUID);
    expect(body.createdAt).toMatch(MILLISECONDS);
    expect(Date.parse(body.expiresAt ?? '') - Date.parse(body.createdAt)).toBe(3_600_000);
    expect((await new PayerBrowser().open(body.paymentLinkUrl)).status).toBe(200);
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['no amountType', { amountType: undefined }, ['amountType required']],
    ['another amountType', { amountType: 'OPEN' }, ['amountType invalid_value']],
    ['no callbackUrl', { callbackUrl: undefined }, ['callbackUrl required']],
    ['a callbackUrl of another scheme', { callbackUrl: 'javascript:alert(1)' }, ['callbackUrl invalid_url']],
    ['a callbackUrl with a password', { callbackUrl: 'https://a:b@c.example/' }, ['callbackUrl invalid_url']],
    ['a callbackUrl without TLS', { callbackUrl: 'http://shop.example.com/' }, ['callbackUrl invalid_url']],
    ['no reference', { reference: undefined }, ['reference required']],
    ['nothing to pay', { amountInCents: 0 }, ['amountInCents too_small']],
    ['half a cent', { amountInCents: 1.5 }, ['amountInCents invalid_type']],
    ['more than a QR code holds', { amountInCents: 1_000_000_000_000 }, ['amountInCents too_big']],
    ['an amount as text', { amountInCents: '100' }, ['amountInCents invalid_type']],
    ['another currency', { currency: 'USD' }, ['currency invalid_value']],
    ['an unknown rail', { rail: 'VISA' }, ['rail invalid_value']],
    ['pse without a rail', { pse: { bank: 'CO_NEQUI' } }, ['pse not_for_this_rail']],
    ['pse on Bre-B', { rail: 'BRE_B', pse: { bank: 'CO_NEQUI' } }, ['pse not_for_this_rail']],
    ['pse without a bank', { rail: 'PSE', pse: {} }, ['pse.bank required']],
    ['an unknown bank', { rail: 'PSE', pse: { bank: 'CO_SUIZA' } }, ['pse.bank unsupported_bank']],
    ['an empty description', { description: '' }, ['description too_short']],
    ['half a customer', { inlineCustomer: without(CUSTOMER, 'email') }, ['inlineCustomer.email required']],
    [
      'several errors',
      { amountType: 'OPEN', callbackUrl: undefined, pse: { bank: 'CO_SUIZA' } },
      [
        'amountType invalid_value',
        'callbackUrl required',
        'pse not_for_this_rail',
        'pse.bank unsupported_bank',
      ],
    ],
  ])('rejects %s, and creates nothing', async (_fault, changes, errors) => {
    const before = await countLinks();
    const problem = toProblem(await create(linkRequest(changes)));
    expect({ ...problem, errors: problem.errors?.toSorted() }).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: errors.toSorted(),
    });
    expect(await countLinks()).toBe(before);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a misspelled field', { descripton: 'x' }, 'descripton'],
    ['a field of payins', { breb: { keyType: 'SINGLE_USE' } }, 'breb'],
    ['a field inside pse', { rail: 'PSE', pse: { bank: 'CO_NEQUI', branch: '1' } }, 'pse.branch'],
    ['a field inside the customer', { inlineCustomer: { ...CUSTOMER, age: 3 } }, 'inlineCustomer.age'],
  ])('rejects %s', async (_fault, changes, path) => {
    expect(toProblem(await create(linkRequest(changes)))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: [`${path} unknown_field`],
    });
  });

  it('accepts unused members of the shared schemas', async () => {
    const pse = { bank: 'CO_NEQUI', personType: 'INDIVIDUAL' };
    expect((await create(linkRequest({ rail: 'PSE', pse, currency: 'COP' }))).status).toBe(201);
  });

  it('rejects a rail that is not enabled, and offers the enabled one', async () => {
    const onlyBreb = await newOrganization('BRE_B');
    expect(toProblem(await create(linkRequest({ rail: 'PSE' }), {}, onlyBreb))).toEqual({
      status: 400,
      code: 'rail_not_enabled',
    });
    const { body } = await create(linkRequest(), {}, onlyBreb);
    const payer = new PayerBrowser();
    expect((await payer.open(body.paymentLinkUrl)).h1).toBe('Pague con Bre-B');
    // Neither by URL nor by form.
    expect((await payer.open(`${body.paymentLinkUrl}?m=PSE`)).h1).toBe('Pague con Bre-B');
    const forced = { method: 'PSE', bank: 'CO_NEQUI', personType: 'INDIVIDUAL' };
    await payer.post(`${body.paymentLinkUrl}/begin`, { ...forced, name: 'x' });
    expect((await onlyBreb.get(`/payins?paymentLinkId=${body.paymentLinkId}`)).body['data']).toEqual([]);
  });
});

describe('authorization of payment links', () => {
  it('accepts a bearer token of POST /oauth/token', async () => {
    const { keyId, apiKey } = stack.organization;
    const response = await fetch(`${stack.apis[0]?.url}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${keyId}:${apiKey}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { access_token } = (await response.json()) as { access_token: string };
    const bearer = new ApiClient(stack.apis[0]?.url ?? '', { authorization: `Bearer ${access_token}` });
    const { status, body } = await create(linkRequest(), {}, bearer);
    expect(status).toBe(201);
    const byToken = await bearer.get(`/payment-links/${body.paymentLinkId}`);
    expect(byToken.body).toEqual((await stack.api.get(`/payment-links/${body.paymentLinkId}`)).body);
  });

  it('requires a credential and the scope', async () => {
    const link = await driver.link();
    const anonymous = new ApiClient(stack.apis[0]?.url ?? '');
    const { apiKey } = await credentials.newKey(stack.organization.organizationId, {
      scopes: ['payment_links:read', 'payins:write'],
    });
    const reader = stack.api.as(apiKey);
    for (const [api, status] of [
      [anonymous, 401],
      [reader, 403],
    ] as const) {
      expect((await create(linkRequest(), {}, api)).status).toBe(status);
      expect((await api.post(`/payment-links/${link.paymentLinkId}/expire`, {})).status).toBe(status);
    }
    expect((await anonymous.get('/payment-links')).status).toBe(401);
    expect((await reader.get('/payment-links')).status).toBe(200);
    expect((await driver.get(link)).status).toBe('PENDING');
  });
});

describe('a repeated creation', () => {
  it('returns the link as created, even when it was completed meanwhile', async () => {
    const body = linkRequest({ inlineCustomer: CUSTOMER, rail: 'BRE_B' });
    const headers = { 'idempotency-key': randomUUID() };
    const first = await create(body, headers);
    const { key } = await driver.breb(first.body);
    const whileOpen = await create(body, headers);
    await driver.simulator.pay({ key });
    await driver.waitForStatus(first.body, 'COMPLETED');
    for (const repeat of [whileOpen, await create(body, headers)]) {
      expect(repeat.status).toBe(201);
      expect(repeat.headers.get('idempotent-replayed')).toBe('true');
      expect(repeat.body).toEqual(first.body);
    }
  });

  it('with another body is rejected; without the key its reference is taken', async () => {
    const body = linkRequest();
    const headers = { 'idempotency-key': randomUUID() };
    const { body: first } = await create(body, headers);
    expect(toProblem(await create({ ...body, amountInCents: 1 }, headers))).toEqual({
      status: 422,
      code: 'idempotency_mismatch',
    });
    for (const other of [{}, { 'idempotency-key': randomUUID() }] as Record<string, string>[]) {
      const taken = await create(body, other);
      expect(toProblem(taken)).toEqual({ status: 409, code: 'reference_taken' });
      expect(taken.body).toMatchObject({ existingId: first.paymentLinkId });
    }
  });

  it('of twenty concurrent requests creates one link', async () => {
    const body = linkRequest();
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(body, headers)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === null)).toHaveLength(1);
  });

  it('can use the reference of a payin', async () => {
    const reference = newReference();
    await driver.link({ reference });
    const payin = {
      amountInCents: 1,
      currency: 'COP',
      rail: 'BRE_B',
      reference,
      breb: { keyType: 'QR_CODE' },
    };
    expect((await stack.api.post('/payins', payin)).status).toBe(201);
  });
});

describe('GET /payment-links/{paymentLinkId}', () => {
  it('returns the link with all request values, fields in order', async () => {
    const sent = linkRequest({ description: 'Dos pares de zapatos', rail: 'PSE', amountInCents: 4_980_050 });
    const { body: created } = await create(sent);
    const link = await driver.get(created);
    expect(Object.entries(link)).toEqual(
      Object.entries({
        ...created,
        reference: sent['reference'],
        amount: 49_800.5,
        amountInCents: 4_980_050,
        paidAmount: 0,
        paidAmountInCents: 0,
        currency: 'COP',
        description: 'Dos pares de zapatos',
        callbackUrl: sent['callbackUrl'],
        completedAt: null,
        payinId: null,
        verificationCode: expect.stringMatching(/^\d{4}$/),
      }),
    );
  });

  it('returns the same 404 for a link of another organization and for an unknown one', async () => {
    const link = await driver.link();
    const other = await newOrganization();
    const comparable = (body: object) => JSON.stringify({ ...body, requestId: null, instance: null });
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', '/expire'],
    ] as const) {
      const theirs = await other.request(method, `/payment-links/${link.paymentLinkId}${suffix}`);
      const unknownResponse = await other.request(method, `/payment-links/${randomUUID()}${suffix}`);
      expect([theirs.status, unknownResponse.status]).toEqual([404, 404]);
      expect(comparable(theirs.body)).toBe(comparable(unknownResponse.body));
      expect((await other.request(method, `/payment-links/nothing${suffix}`)).status).toBe(404);
    }
    expect((await driver.get(link)).status).toBe('PENDING');
  });
});

describe('GET /payment-links', () => {
  it("pages through all links, newest first, in both directions, with filters, and never another organization's", async () => {
    const api = await newOrganization();
    const links: LinkBody[] = [];
    for (let count = 0; count < 7; count += 1)
      links.unshift((await create(linkRequest(count % 2 === 0 ? { rail: 'PSE' } : {}), {}, api)).body);
    const list = async (query = '') => (await api.get<LinkPage>(`/payment-links${query}`)).body;
    const ids = ({ data }: LinkPage) => data.map(({ paymentLinkId }) => paymentLinkId);
    const all = links.map(({ paymentLinkId }) => paymentLinkId);

    const whole = await list();
    expect(ids(whole)).toEqual(all);
    expect(whole.data[0]).toEqual((await api.get(`/payment-links/${all[0]}`)).body);
    expect(whole.pageInfo).toEqual({
      hasNext: false,
      hasPrevious: false,
      nextCursor: null,
      previousCursor: null,
    });

    const first = await list('?pageSize=3');
    const second = await list(`?pageSize=3&cursor=${first.pageInfo.nextCursor}`);
    const third = await list(`?pageSize=3&cursor=${second.pageInfo.nextCursor}`);
    expect([first, second, third].flatMap(ids)).toEqual(all);
    expect(third.pageInfo).toMatchObject({ hasNext: false, hasPrevious: true, nextCursor: null });
    expect(ids(await list(`?pageSize=3&cursor=${third.pageInfo.previousCursor}`))).toEqual(ids(second));

    expect(ids(await list('?rail=PSE'))).toEqual(all.filter((_, index) => index % 2 === 0));
    expect(ids(await list(`?reference=${whole.data[2]?.reference}`))).toEqual([all[2]]);
    expect(ids(await list('?status=COMPLETED'))).toEqual([]);
    expect(ids(await list('?status=PENDING'))).toEqual(all);
    const from = encodeURIComponent(links[2]?.createdAt ?? '');
    expect(ids(await list(`?createdFrom=${from}`))).toEqual(all.slice(0, 3));
    expect(ids(await list(`?createdTo=${from}`))).toEqual(all.slice(3));

    const other = await newOrganization();
    expect((await other.get<LinkPage>('/payment-links')).body.data).toEqual([]);
    for (const [query, api_] of [
      [`?pageSize=3&cursor=${first.pageInfo.nextCursor}`, other],
      [`?pageSize=3&rail=PSE&cursor=${first.pageInfo.nextCursor}`, api],
      [`?cursor=${'A'.repeat(39)}`, api],
    ] as const)
      expect(toProblem(await api_.get(`/payment-links${query}`)).code).toBe('cursor_invalid');
    expect(toProblem(await api.get('/payment-links?paymentLinkId=x')).code).toBe('unknown_field');
  });
});

describe('the page URL', () => {
  it('contains no ID and nothing of another link, and is invalid when any character is changed', async () => {
    const link = await driver.link();
    const url = new URL(link.paymentLinkUrl);
    const [, token = ''] = /^\/checkout\/l\/([\w-]{50})$/.exec(url.pathname) ?? [];
    const bytes = Buffer.from(token.slice(2), 'base64url');
    const id = link.paymentLinkId.replaceAll('-', '');
    expect(bytes.includes(Buffer.from(id, 'hex'))).toBe(false);
    for (const part of [id.slice(0, 12), id.slice(12)]) expect(bytes.toString('hex')).not.toContain(part);
    const other = await driver.link({ reference: newReference() });
    const common = token.split('').filter((character, at) => other.paymentLinkUrl.at(at - 50) === character);
    expect(common.length, 'equal characters by chance, except the cell').toBeLessThan(15);

    const payer = new PayerBrowser();
    const statuses = await Promise.all(
      Array.from(token, async (character, at) => {
        const wrong = BASE64URL[(BASE64URL.indexOf(character) + 1) % 64];
        const changed = token.slice(0, at) + wrong + token.slice(at + 1);
        return (await payer.open(link.paymentLinkUrl.replace(token, changed))).status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([404]));
    expect(statuses).toHaveLength(50);
    for (const wrong of [token.slice(1), `${token}A`, link.paymentLinkId, ''])
      expect((await payer.open(link.paymentLinkUrl.replace(token, wrong))).status).toBe(404);
    // It is not valid for another kind of page.
    for (const kind of ['p', 'r'])
      expect((await payer.open(link.paymentLinkUrl.replace('/l/', `/${kind}/`))).status).toBe(404);
    expect((await payer.open(link.paymentLinkUrl)).status).toBe(200);
  });
});
