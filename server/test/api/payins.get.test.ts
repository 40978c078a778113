import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient, ApiResponse } from '../harness/api-client.ts';
import { type CredentialDriver, openCredentialDriver } from '../harness/credential-driver.ts';
import { brebPayin, CUSTOMER, psePayin, without } from '../harness/payin-requests.ts';
import { createPayin, type PayinBody, readPayin, toProblem } from '../harness/payin-responses.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const NOT_FOUND = { status: 404, code: 'not_found' };

let stack: Stack;
let driver: CredentialDriver;
let other: ApiClient;
beforeAll(async () => {
  stack = await startStack();
  driver = await openCredentialDriver(stack);
  const { apiKey } = await driver.newOrganization();
  other = stack.api.as(apiKey);
});
afterAll(async () => {
  await driver?.close();
  await stack?.stop();
});

/** Everything visible in a response except what differs per request. */
function comparable({ status, headers, text }: ApiResponse<unknown>): unknown {
  const { requestId, instance, ...rest } = JSON.parse(text) as Record<string, unknown>;
  expect([typeof requestId, typeof instance]).toEqual(['string', 'string']);
  const stableHeaders = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
  return { status, headers: stableHeaders, members: Object.keys(JSON.parse(text) as object), rest };
}

describe('GET /payins/{id}', () => {
  it.each([
    { what: 'a BRE_B payin', request: () => brebPayin() },
    { what: 'a BRE_B payin with its QR code', request: () => brebPayin({ breb: { keyType: 'QR_CODE' } }) },
    { what: 'a PSE payin', request: () => psePayin({ callbackUrl: 'https://shop.example.com/' }) },
    { what: 'a PSE payin without a customer', request: () => without(psePayin(), 'inlineCustomer') },
  ])('returns 200 with $what as in the creation response', async ({ request }) => {
    const created = await createPayin(stack.api, request());
    const answer = await stack.api.get<PayinBody>(`/payins/${created.id}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.body).toEqual({ ...created, anomalies: [] });
    expect(Object.keys(answer.body)).toEqual([...Object.keys(created), 'anomalies']);
  });

  it('returns inlineCustomer as an object, unlike the list', async () => {
    const { id } = await createPayin(stack.api, brebPayin());
    expect((await readPayin(stack.api, id)).inlineCustomer).toEqual(CUSTOMER);
  });

  it('returns the outcome of a payin: amounts, times, settlement and its payment link', async () => {
    const { id } = await createPayin(stack.api, brebPayin({ amountInCents: 10_000 }));
    const linkId = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';
    await stack.database.query(
      `update caudal.payins set status = 'CONFIRMED', confirmed_amount_in_cents = 9999, settlement_status = 'SETTLED', settlement_id = id,
         result_at = '2026-11-14T15:04:05.006Z', chargeback_at = '2026-11-20T00:00:00Z', payment_link_id = $2 where id = $1`,
      [id, linkId],
    );
    expect(await readPayin(stack.api, id)).toMatchObject({
      status: 'CONFIRMED',
      amount: 100,
      amountInCents: 10_000,
      confirmedAmount: 99.99,
      confirmedAmountInCents: 9999,
      settlementStatus: 'SETTLED',
      resultAt: '2026-11-14T15:04:05.006Z',
      chargebackAt: '2026-11-20T00:00:00.000Z',
      paymentLinkId: linkId,
      errorCode: null,
    });
  });

  it.each(['CANCELED', 'DECLINED'])('returns a payin that ended %s with its errorCode', async (status) => {
    const { id } = await createPayin(stack.api, brebPayin());
    await stack.database.query(
      `update caudal.payins set status = $2, error_code = 'EXPIRED', result_at = caudal.now() where id = $1`,
      [id, status],
    );
    expect(await readPayin(stack.api, id)).toMatchObject({
      status,
      errorCode: 'EXPIRED',
      confirmedAmount: null,
    });
  });

  it('accepts an upper-case ID', async () => {
    const created = await createPayin(stack.api, brebPayin());
    expect(await readPayin(stack.api, created.id.toUpperCase())).toEqual(created);
  });

  it('rejects a query parameter', async () => {
    const { id } = await createPayin(stack.api, brebPayin());
    expect(toProblem(await stack.api.get(`/payins/${id}?expand=customer`))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: ['query.expand unknown_field'],
    });
  });
});

describe('404 of GET /payins/{id}', () => {
  it('is the same for a payin of another organization and for an unknown ID', async () => {
    const { id } = await createPayin(stack.api, brebPayin());
    const unknown = id.replace(/.{6}$/, id.endsWith('000000') ? '000001' : '000000');
    const [foreign, unknownResponse] = await Promise.all([
      other.get(`/payins/${id}`),
      other.get(`/payins/${unknown}`),
    ]);
    expect(toProblem(foreign)).toEqual(NOT_FOUND);
    expect(comparable(foreign)).toEqual(comparable(unknownResponse));
    expect(foreign.text.length).toBe(unknownResponse.text.length);
    expect((await stack.api.get(`/payins/${id}`)).status).toBe(200);
  });

  it('is the same in Spanish', async () => {
    const { id } = await createPayin(stack.api, brebPayin());
    const spanish = { 'accept-language': 'es-CO' };
    const foreign = await other.get(`/payins/${id}`, spanish);
    const unknownResponse = await other.get('/payins/019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10', spanish);
    expect(comparable(foreign)).toEqual(comparable(unknownResponse));
    expect(foreign.headers.get('content-language')).toBe('es');
    expect(foreign.body['title']).toBe('No encontrado');
  });

  it.each([
    { what: 'a word', id: 'latest' },
    { what: 'a number', id: '1' },
    { what: 'a UUID without hyphens', id: '019b2c5e8f3a7c4180013f9d2b7a6c10' },
    { what: 'a UUID in braces', id: '%7B019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10%7D' },
    { what: 'a UUID followed by a line break', id: '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10%0A' },
    { what: 'a UUID with an invalid digit', id: '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c1g' },
    { what: 'of all zeros', id: '00000000-0000-0000-0000-000000000000' },
    { what: 'of all ones', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' },
    { what: 'a UUID of another version', id: '3d8f7e1a-52a9-4a3e-9f27-0a1b2c3d4e5f' },
    { what: 'a NUL', id: '%00' },
    { what: 'SQL', id: "x'%20or%20'1'='1" },
    { what: 'a path', id: '..%2F..%2Fetc%2Fpasswd' },
    { what: 'non-ASCII letters', id: 'ni%C3%B1o' },
    { what: 'nothing', id: '' },
    { what: 'two hundred characters long', id: 'a'.repeat(200) },
    { what: 'three hundred characters long', id: 'a'.repeat(300) },
    { what: 'an invalid percent escape', id: '%zz' },
    { what: 'bytes that are not UTF-8', id: '%ff%fe' },
  ])('is returned for an ID that is $what', async ({ id }) => {
    expect(toProblem(await stack.api.get(`/payins/${id}`))).toEqual(NOT_FOUND);
  });

  it('links to a page about it', async () => {
    const { body } = await stack.api.get('/payins/latest');
    const page = await fetch(String(body['type']));
    expect(page.status).toBe(200);
    expect(await page.text()).toContain(String(body['code']));
  });
});

describe('paths and methods', () => {
  it.each([
    '/',
    '/payin',
    '/Payins',
    '/payins/019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10/refunds',
    '/v1/payins',
    '/pse',
    '//payins',
  ])('returns 404 for the unknown path %s', async (path) => {
    const answer = await stack.api.get(path);
    expect(toProblem(answer)).toEqual(NOT_FOUND);
    expect(answer.body['instance']).toBe(path);
  });

  it.each([
    { method: 'PUT', path: '/payins', allow: 'GET, POST' },
    { method: 'PATCH', path: '/payins', allow: 'GET, POST' },
    { method: 'DELETE', path: '/payins', allow: 'GET, POST' },
    { method: 'POST', path: '/payins/019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10', allow: 'GET' },
    { method: 'PUT', path: '/payins/019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10', allow: 'GET' },
    { method: 'DELETE', path: '/payins/019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10', allow: 'GET' },
    { method: 'DELETE', path: '/payins?reference=x', allow: 'GET, POST' },
    { method: 'POST', path: '/pse/banks', allow: 'GET' },
    { method: 'GET', path: '/oauth/token', allow: 'POST' },
  ])('returns 405 for $method $path with Allow: $allow', async ({ method, path, allow }) => {
    const answer = await stack.api.request(method, path);
    expect(toProblem(answer)).toEqual({ status: 405, code: 'method_not_allowed' });
    expect(answer.headers.get('allow')).toBe(allow);
  });

  it('returns 405 also when the request has a body', async () => {
    const { id } = await createPayin(stack.api, brebPayin());
    for (const path of ['/payins', `/payins/${id}`]) {
      const answer = await stack.api.request('PATCH', path, { body: { status: 'CONFIRMED' } });
      expect(toProblem(answer)).toEqual({ status: 405, code: 'method_not_allowed' });
    }
  });

  it('answers HEAD like GET, without the body', async () => {
    const { id } = await createPayin(stack.api, brebPayin());
    const headers = { 'x-api-key': stack.organization.apiKey };
    const [head, get] = await Promise.all(
      ['HEAD', 'GET'].map((method) => fetch(`${stack.apis[0]?.url}/payins/${id}`, { method, headers })),
    );
    expect(head?.status).toBe(200);
    expect(head?.headers.get('content-length')).toBe(get?.headers.get('content-length'));
    expect(await head?.text()).toBe('');
  });

  it('returns a new request ID with every response, whatever the client sends', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => stack.api.get('/payins/x', { 'x-request-id': 'req_MINE' })),
    );
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(5);
    expect(ids).not.toContain('req_MINE');
  });

  it.each([
    {
      what: 'headers that are too large',
      raw: `GET /payins HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`,
    },
    { what: 'lines that are not HTTP', raw: 'GET /payins HTTP/1.1\r\nno header at all\r\n\r\n' },
  ])('answers a request with $what with a problem and its request ID', async ({ raw }) => {
    const socket = connect(Number(new URL(stack.apis[0]?.url ?? '').port), '127.0.0.1');
    socket.end(raw);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(head).toMatch(/^content-type: application\/problem\+json/im);
    const id = /^x-request-id: (req_\w+)\r?$/im.exec(head)?.[1];
    expect(JSON.parse(body)).toMatchObject({ requestId: id });
  });
});
