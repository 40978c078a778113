import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient, ApiResponse } from '../harness/api-client.ts';
import { type CredentialDriver, openCredentialDriver } from '../harness/credential-driver.ts';
import { brebPayin, CUSTOMER, newReference, psePayin, without } from '../harness/payin-requests.ts';
import { createPayin, listPage, type ProblemSummary, toProblem } from '../harness/payin-responses.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const LONE_HIGH_SURROGATE = '\ud83d';
const LONE_LOW_SURROGATE = '\ude00';

let stack: Stack;
let driver: CredentialDriver;
let pseOnly: ApiClient;
let brebOnly: ApiClient;
beforeAll(async () => {
  stack = await startStack();
  driver = await openCredentialDriver(stack);
  const organizations = await Promise.all([
    driver.newOrganization(['PSE']),
    driver.newOrganization(['BRE_B']),
  ]);
  [pseOnly = stack.api, brebOnly = stack.api] = organizations.map(({ apiKey }) => stack.api.as(apiKey));
});
afterAll(async () => {
  await driver?.close();
  await stack?.stop();
});

function post(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<ApiResponse> {
  return stack.api.post('/payins', body, headers);
}

function postRaw(raw: string | Buffer, headers: Readonly<Record<string, string>> = {}): Promise<ApiResponse> {
  return stack.api.request('POST', '/payins', { raw, headers });
}

/** The problem for a rejected body, in the format of `toProblem`. */
async function postRejected(body: unknown): Promise<ProblemSummary> {
  return toProblem(await post(body));
}

function invalid(...errors: readonly string[]): ProblemSummary {
  return { status: 400, code: 'invalid_request', errors };
}

function withCustomer(changes: Record<string, unknown>): Record<string, unknown> {
  return brebPayin({ inlineCustomer: { ...CUSTOMER, ...changes } });
}

describe('a missing required field', () => {
  it.each(['amountInCents', 'currency', 'rail', 'reference'])('rejects a payin without %s', async (field) => {
    expect(await postRejected(without(brebPayin(), field))).toEqual(invalid(`${field} required`));
    expect(await postRejected(without(psePayin(), field))).toEqual(invalid(`${field} required`));
  });

  it.each(['name', 'idType', 'idNumber', 'phone', 'email'])(
    'rejects inlineCustomer without %s',
    async (field) => {
      const inlineCustomer = without(CUSTOMER, field);
      expect(await postRejected(brebPayin({ inlineCustomer }))).toEqual(
        invalid(`inlineCustomer.${field} required`),
      );
    },
  );

  it('rejects rail PSE without pse', async () => {
    expect(await postRejected(without(psePayin(), 'pse'))).toEqual(invalid('pse required'));
  });

  it('rejects rail BRE_B without breb', async () => {
    expect(await postRejected(without(brebPayin(), 'breb'))).toEqual(invalid('breb required'));
  });

  it('rejects pse without bank', async () => {
    expect(await postRejected(psePayin({ pse: { personType: 'INDIVIDUAL' } }))).toEqual(
      invalid('pse.bank required'),
    );
  });

  it('rejects pse without personType', async () => {
    expect(await postRejected(psePayin({ pse: { bank: 'CO_NU' } }))).toEqual(
      invalid('pse.personType required'),
    );
  });

  it('rejects breb without keyType, even with the keyString that the shared schema requires', async () => {
    expect(await postRejected(brebPayin({ breb: {} }))).toEqual(invalid('breb.keyType required'));
    expect(await postRejected(brebPayin({ breb: { keyString: '@CDL123456' } }))).toEqual(
      invalid('breb.keyType required'),
    );
  });

  it('reports all errors together, including those across fields', async () => {
    const body = { currency: 'COP', rail: 'BRE_B', reference: newReference(), callbackUrl: 'javascript:1' };
    const { errors } = await postRejected(body);
    expect(errors?.toSorted()).toEqual([
      'amountInCents required',
      'breb required',
      'callbackUrl invalid_url',
    ]);
  });

  it('reports all missing fields together', async () => {
    expect(await postRejected({ inlineCustomer: {} })).toEqual(
      invalid(
        'amountInCents required',
        'currency required',
        'rail required',
        'reference required',
        'inlineCustomer.name required',
        'inlineCustomer.idType required',
        'inlineCustomer.idNumber required',
        'inlineCustomer.phone required',
        'inlineCustomer.email required',
      ),
    );
  });
});

describe('amountInCents', () => {
  it.each([
    { value: 0, error: 'too_small' },
    { value: -1, error: 'too_small' },
    { value: -4_980_000, error: 'too_small' },
    { value: 0.5, error: 'invalid_type' },
    { value: 100.01, error: 'invalid_type' },
    { value: '100', error: 'invalid_type' },
    { value: '', error: 'invalid_type' },
    { value: null, error: 'invalid_type' },
    { value: true, error: 'invalid_type' },
    { value: [100], error: 'invalid_type' },
    { value: { cents: 100 }, error: 'invalid_type' },
    { value: 1_000_000_000_000, error: 'too_big' },
    { value: Number.MAX_SAFE_INTEGER, error: 'too_big' },
  ])('rejects $value', async ({ value, error }) => {
    expect(await postRejected(brebPayin({ amountInCents: value }))).toEqual(
      invalid(`amountInCents ${error}`),
    );
    expect(await postRejected(psePayin({ amountInCents: value }))).toEqual(invalid(`amountInCents ${error}`));
  });

  it.each(['1e300', '1e999', '-0', '-1e999'])('rejects the number %s', async (written) => {
    const raw = JSON.stringify(brebPayin({ amountInCents: 77 })).replace(':77,', `:${written},`);
    const answer = await postRaw(raw);
    expect(answer.status).toBe(400);
    expect(answer.body['code']).toBe('invalid_request');
    expect(JSON.stringify(answer.body['errors'])).toContain('"path":"amountInCents"');
  });
});

describe('currency, rail and rail objects', () => {
  it.each(['USD', 'cop', 'COP ', '', null, 170])('rejects the currency %j', async (currency) => {
    expect(await postRejected(brebPayin({ currency }))).toEqual(invalid('currency invalid_value'));
  });

  it.each(['CARD', 'bre_b', 'BREB', 'PSE ', '', null, 1])('rejects the rail %j', async (rail) => {
    expect(await postRejected(brebPayin({ rail }))).toEqual(invalid('rail invalid_value'));
  });

  it('rejects pse on rail BRE_B', async () => {
    expect(await postRejected(brebPayin({ pse: { bank: 'CO_NU', personType: 'INDIVIDUAL' } }))).toEqual(
      invalid('pse not_for_this_rail'),
    );
  });

  it('rejects breb on rail PSE', async () => {
    expect(await postRejected(psePayin({ breb: { keyType: 'SINGLE_USE' } }))).toEqual(
      invalid('breb not_for_this_rail'),
    );
  });

  it('rejects the object of the other rail instead of its own', async () => {
    expect(await postRejected(brebPayin({ rail: 'PSE' }))).toEqual(
      invalid('pse required', 'breb not_for_this_rail'),
    );
    expect(await postRejected(psePayin({ rail: 'BRE_B' }))).toEqual(
      invalid('breb required', 'pse not_for_this_rail'),
    );
  });

  it.each(['single_use', 'STATIC', '', null, 1])('rejects breb.keyType %j', async (keyType) => {
    expect(await postRejected(brebPayin({ breb: { keyType } }))).toEqual(
      invalid('breb.keyType invalid_value'),
    );
  });

  it.each([{ breb: 'SINGLE_USE' }, { breb: ['SINGLE_USE'] }, { breb: 1 }])(
    'rejects breb that is not an object: %j',
    async ({ breb }) => {
      expect(await postRejected(brebPayin({ breb }))).toEqual(invalid('breb invalid_type'));
    },
  );

  it.each(['CO_UNKNOWN', 'BANCOLOMBIA', 'co_nequi', '1007', '', 'constructor', '__proto__'])(
    'rejects the bank %j',
    async (bank) => {
      expect(await postRejected(psePayin({ pse: { bank, personType: 'INDIVIDUAL' } }))).toEqual(
        invalid('pse.bank unsupported_bank'),
      );
    },
  );

  it.each([{ bank: null }, { bank: 1007 }, { bank: ['CO_NU'] }])(
    'rejects a bank that is not a string: %j',
    async ({ bank }) => {
      expect(await postRejected(psePayin({ pse: { bank, personType: 'INDIVIDUAL' } }))).toEqual(
        invalid('pse.bank invalid_type'),
      );
    },
  );

  it.each(['individual', 'NATURAL', '', null, 0])('rejects pse.personType %j', async (personType) => {
    expect(await postRejected(psePayin({ pse: { bank: 'CO_NU', personType } }))).toEqual(
      invalid('pse.personType invalid_value'),
    );
  });
});

describe('a rail that is not enabled for the organization', () => {
  it('rejects a BRE_B payin of an organization with only PSE, and accepts its PSE payin', async () => {
    expect(toProblem(await pseOnly.post('/payins', brebPayin()))).toEqual({
      status: 400,
      code: 'rail_not_enabled',
    });
    expect((await createPayin(pseOnly, without(psePayin(), 'inlineCustomer'))).rail).toBe('PSE');
  });

  it('rejects a PSE payin of an organization with only BRE_B, and accepts its BRE_B payin', async () => {
    expect(toProblem(await brebOnly.post('/payins', psePayin()))).toEqual({
      status: 400,
      code: 'rail_not_enabled',
    });
    expect((await createPayin(brebOnly, brebPayin())).rail).toBe('BRE_B');
  });
});

describe('an unknown field', () => {
  it.each([
    { where: 'at the top', body: () => brebPayin({ amountInCent: 100 }), path: 'amountInCent' },
    {
      where: 'that exists only in responses',
      body: () => brebPayin({ expiresAt: '2030-01-01' }),
      path: 'expiresAt',
    },
    {
      where: 'in inlineCustomer',
      body: () => withCustomer({ documentNumber: '1' }),
      path: 'inlineCustomer.documentNumber',
    },
    {
      where: 'in breb',
      body: () => brebPayin({ breb: { keyType: 'SINGLE_USE', keyValue: '@X' } }),
      path: 'breb.keyValue',
    },
    {
      where: 'in pse',
      body: () => psePayin({ pse: { bank: 'CO_NU', personType: 'INDIVIDUAL', bankCode: '1809' } }),
      path: 'pse.bankCode',
    },
    {
      where: 'named like an Object.prototype method',
      body: () => brebPayin({ constructor: 1 }),
      path: 'constructor',
    },
    { where: 'named toString', body: () => brebPayin({ toString: 'x' }), path: 'toString' },
    { where: 'with an empty name', body: () => brebPayin({ '': 1 }), path: '' },
  ])('is rejected $where', async ({ body, path }) => {
    expect(toProblem(await post(body()))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: [`${path} unknown_field`],
    });
  });

  it.each([
    {
      where: 'at the top',
      at: (raw: string) => raw.replace('{', '{"__proto__":{"amountInCents":1},'),
      path: '__proto__',
    },
    {
      where: 'in inlineCustomer',
      at: (raw: string) => raw.replace('"inlineCustomer":{', '"inlineCustomer":{"__proto__":{"name":"x"},'),
      path: 'inlineCustomer.__proto__',
    },
    {
      where: 'in breb',
      at: (raw: string) => raw.replace('"breb":{', '"breb":{"__proto__":null,'),
      path: 'breb.__proto__',
    },
  ])('called __proto__ is rejected $where', async ({ at, path }) => {
    expect(toProblem(await postRaw(at(JSON.stringify(brebPayin()))))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: [`${path} unknown_field`],
    });
  });

  it('called __proto__ does not supply a missing field', async () => {
    const raw = JSON.stringify(without(brebPayin(), 'amountInCents'));
    expect(toProblem(await postRaw(raw.replace('{', '{"__proto__":{"amountInCents":1},')))).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: ['amountInCents required', '__proto__ unknown_field'],
    });
  });

  it('is rejected in the query string, because POST /payins has none', async () => {
    expect(toProblem(await stack.api.post('/payins?dryRun=true', brebPayin()))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: ['query.dryRun unknown_field'],
    });
  });

  it('together with another error is reported as invalid_request, with both fields', async () => {
    expect(await postRejected(brebPayin({ amountInCents: 0, note: 'x' }))).toEqual(
      invalid('amountInCents too_small', 'note unknown_field'),
    );
  });

  it('is reported for each of several', async () => {
    expect(toProblem(await post(brebPayin({ a: 1, b: 2 })))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: ['a unknown_field', 'b unknown_field'],
    });
  });
});

describe('reference', () => {
  it.each([
    { what: 'empty', value: '', error: 'too_short' },
    { what: '256 characters long', value: 'x'.repeat(256), error: 'too_long' },
    { what: 'a number', value: 1001, error: 'invalid_type' },
    { what: 'null', value: null, error: 'invalid_type' },
    { what: 'a list', value: ['order-1'], error: 'invalid_type' },
    { what: 'with NUL in it', value: 'order\u0000-1', error: 'invalid_characters' },
    { what: 'with a line break', value: 'order\n-1', error: 'invalid_characters' },
    { what: 'with a C1 control character', value: 'order\u0085-1', error: 'invalid_characters' },
    {
      what: 'with a lone high surrogate',
      value: `order-${LONE_HIGH_SURROGATE}`,
      error: 'invalid_characters',
    },
    { what: 'with a lone low surrogate', value: `${LONE_LOW_SURROGATE}-order`, error: 'invalid_characters' },
    {
      what: 'with surrogates in the wrong order',
      value: LONE_LOW_SURROGATE + LONE_HIGH_SURROGATE,
      error: 'invalid_characters',
    },
  ])('is rejected when it is $what', async ({ value, error }) => {
    expect(await postRejected(brebPayin({ reference: value }))).toEqual(invalid(`reference ${error}`));
  });
});

describe('inlineCustomer', () => {
  it.each([
    { field: 'name', what: 'empty', value: '', error: 'too_short' },
    { field: 'name', what: '121 characters long', value: 'x'.repeat(121), error: 'too_long' },
    { field: 'name', what: 'a number', value: 7, error: 'invalid_type' },
    { field: 'name', what: 'with NUL in it', value: 'Ana\u0000', error: 'invalid_characters' },
    {
      field: 'name',
      what: 'with a lone surrogate',
      value: `Ana ${LONE_HIGH_SURROGATE}`,
      error: 'invalid_characters',
    },
    { field: 'name', what: 'with an escape character', value: 'Ana\u001b[2J', error: 'invalid_characters' },
    { field: 'idType', what: 'of an unknown kind', value: 'CC', error: 'invalid_value' },
    { field: 'idType', what: 'in lower case', value: 'co_cc', error: 'invalid_value' },
    { field: 'idType', what: 'null', value: null, error: 'invalid_value' },
    { field: 'idNumber', what: 'a number', value: 1_020_304_050, error: 'invalid_type' },
    { field: 'idNumber', what: 'too short', value: '12', error: 'too_short' },
    { field: 'idNumber', what: 'far too long', value: '1'.repeat(21), error: 'too_long' },
    { field: 'phone', what: 'without the plus sign', value: '573001234567', error: 'invalid_format' },
    { field: 'phone', what: 'a national number', value: '3001234567', error: 'invalid_format' },
    { field: 'phone', what: 'with spaces', value: '+57 300 123 4567', error: 'invalid_format' },
    { field: 'phone', what: 'starting with zero', value: '+0573001234', error: 'invalid_format' },
    { field: 'phone', what: 'too short', value: '+57300', error: 'invalid_format' },
    { field: 'phone', what: 'longer than E.164 allows', value: '+5730012345678901', error: 'invalid_format' },
    { field: 'phone', what: 'followed by a line break', value: '+573001234567\n', error: 'invalid_format' },
    { field: 'phone', what: 'a number', value: 573_001_234_567, error: 'invalid_type' },
    { field: 'phone', what: 'in non-Latin digits', value: '+٥٧٣٠٠١٢٣٤٥٦٧', error: 'invalid_format' },
    { field: 'email', what: 'without @', value: 'ana.example.com', error: 'invalid_format' },
    { field: 'email', what: 'without a domain', value: 'ana@', error: 'invalid_format' },
    { field: 'email', what: 'without a top-level domain', value: 'ana@localhost', error: 'invalid_format' },
    { field: 'email', what: 'with a space', value: 'ana maria@example.com', error: 'invalid_format' },
    { field: 'email', what: 'two addresses', value: 'a@example.com,b@example.com', error: 'invalid_format' },
    {
      field: 'email',
      what: 'with an injected header',
      value: 'a@example.com\nBcc: b@example.com',
      error: 'invalid_format',
    },
    { field: 'email', what: 'empty', value: '', error: 'invalid_format' },
    {
      field: 'email',
      what: 'longer than 254 characters',
      value: `ana@${'x'.repeat(60)}.${'y'.repeat(190)}.co`,
      error: 'too_long',
    },
  ])('is rejected with $field $what', async ({ field, value, error }) => {
    const answer = await post(withCustomer({ [field]: value }));
    expect(answer.status).toBe(400);
    expect(answer.body['code']).toBe('invalid_request');
    const errors = answer.body['errors'] as { path: string; code: string }[];
    expect(errors.map((each) => each.path)).toEqual(errors.map(() => `inlineCustomer.${field}`));
    expect(errors.map((each) => each.code)).toContain(error);
  });

  it.each([
    { idType: 'CO_CC', idNumber: '12345678901', why: 'has eleven digits' },
    { idType: 'CO_CC', idNumber: '10203A4050', why: 'has a letter' },
    { idType: 'CO_CC', idNumber: '1.020.304', why: 'has dots' },
    { idType: 'CO_CC', idNumber: '1020304050\n', why: 'ends in a line break' },
    { idType: 'CO_CC', idNumber: '١٠٢٠٣٠٤٠٥٠', why: 'is not in Latin digits' },
    { idType: 'CO_CE', idNumber: 'E-123456', why: 'has a hyphen' },
    { idType: 'CO_CE', idNumber: '1234567890123', why: 'has thirteen characters' },
    { idType: 'CO_NIT', idNumber: '890903938-7', why: 'has a wrong check digit' },
    { idType: 'CO_NIT', idNumber: '890903938-', why: 'has no digit after its hyphen' },
    { idType: 'CO_NIT', idNumber: '890.903.938-8', why: 'has dots' },
    { idType: 'CO_NIT', idNumber: '12345', why: 'is too short' },
    { idType: 'MXN_RFC', idNumber: 'ABC680524P7', why: 'has eleven characters' },
    { idType: 'MXN_RFC', idNumber: '1234567890123', why: 'is a number' },
    { idType: 'PASSPORT', idNumber: 'AV 123456', why: 'has a space' },
    { idType: 'PASSPORT', idNumber: 'AV12345678901', why: 'has thirteen characters' },
  ])('is rejected with the $idType $idNumber, which $why', async ({ idType, idNumber }) => {
    expect(await postRejected(withCustomer({ idType, idNumber }))).toEqual(
      invalid('inlineCustomer.idNumber invalid_document'),
    );
  });

  it.each([{ inlineCustomer: 'Ana' }, { inlineCustomer: [CUSTOMER] }, { inlineCustomer: 7 }])(
    'is rejected when it is not an object: %j',
    async ({ inlineCustomer }) => {
      expect(await postRejected(brebPayin({ inlineCustomer }))).toEqual(
        invalid('inlineCustomer invalid_type'),
      );
    },
  );

  it('is rejected as the string that the list returns', async () => {
    expect(await postRejected(brebPayin({ inlineCustomer: JSON.stringify(CUSTOMER) }))).toEqual(
      invalid('inlineCustomer invalid_type'),
    );
  });
});

describe('callbackUrl', () => {
  it.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'ftp://shop.example.com/x',
    'file:///etc/passwd',
    'http://shop.example.com/thanks',
    'http://127.0.0.1.evil.example/x',
    'http://localhost.evil.example/x',
    'http://10.0.0.1/x',
    'http://0.0.0.0/x',
    'https://user:password@shop.example.com/',
    'https://user@shop.example.com/',
    'http://user@localhost/',
    'https://shop.example.com@evil.example/',
    '//shop.example.com/x',
    '/thanks',
    'shop.example.com',
    'https://',
    'https://shop.example.com:99999/',
    'https://exa mple.com/',
    'https://shop.example.com/a b',
    'https://shop.example.com/\n',
    'ht\ntps://shop.example.com/',
    'https://shop.example.com/\u0000',
    'https://shop.example.com/\t/x',
    ' https://shop.example.com/',
    'https://shop.example.com/\u0085',
    `https://shop.example.com/${LONE_HIGH_SURROGATE}`,
    '',
  ])('is rejected when it is %j', async (callbackUrl) => {
    expect(await postRejected(brebPayin({ callbackUrl }))).toEqual(invalid('callbackUrl invalid_url'));
  });

  it('reports the broken rules', async () => {
    const answer = await post(brebPayin({ callbackUrl: 'http://ana:1@shop.example.com/' }));
    expect(answer.body['errors']).toEqual(
      ['Must begin with https://', 'Must not contain a user name or a password.'].map((message) => ({
        path: 'callbackUrl',
        code: 'invalid_url',
        message: expect.stringContaining(message) as string,
      })),
    );
  });

  it('is rejected above 2048 characters', async () => {
    const callbackUrl = 'https://shop.example.com/'.padEnd(2049, 'a');
    const { code, errors } = await postRejected(brebPayin({ callbackUrl }));
    expect(code).toBe('invalid_request');
    expect(errors).toContain('callbackUrl too_long');
  });

  it('is rejected when its normalized form is above 2048 characters', async () => {
    const callbackUrl = 'https://shop.example.com/'.padEnd(500, 'ñ');
    expect(await postRejected(brebPayin({ callbackUrl }))).toEqual(invalid('callbackUrl invalid_url'));
  });

  it.each([7, {}])('is rejected when it is %j', async (callbackUrl) => {
    expect(await postRejected(brebPayin({ callbackUrl }))).toEqual(invalid('callbackUrl invalid_type'));
  });
});

describe('Idempotency-Key', () => {
  it.each([
    { what: 'empty', key: '' },
    { what: 'only spaces', key: '   ' },
    { what: '256 characters long', key: 'k'.repeat(256) },
    { what: 'with a tab inside', key: 'a\tb' },
    { what: 'with a non-ASCII letter', key: 'pedido-ñ' },
  ])('is rejected when it is $what', async ({ key }) => {
    expect(toProblem(await post(brebPayin(), { 'idempotency-key': key }))).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: ['header.Idempotency-Key invalid_format'],
    });
  });

  it.each([
    { what: 'one character', key: () => 'k' },
    { what: '255 characters', key: () => newReference().padEnd(255, '~') },
    {
      what: 'any printable character',
      key: () => ` !"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~ ${newReference()}`.trim(),
    },
  ])('is accepted with $what', async ({ key }) => {
    const answer = await post(brebPayin(), { 'idempotency-key': key() });
    expect(answer.status).toBe(201);
  });
});

describe('a body that is not a JSON object', () => {
  it.each([
    { what: 'truncated', raw: '{"amountInCents": 100,' },
    { what: 'empty', raw: '' },
    { what: 'whitespace', raw: ' \n ' },
    { what: 'with a trailing comma', raw: '{"amountInCents":100,}' },
    { what: 'with single quotes', raw: "{'amountInCents':100}" },
    { what: 'two documents', raw: '{}{}' },
    { what: 'with NaN', raw: '{"amountInCents":NaN}' },
    { what: 'a form', raw: 'amountInCents=100&currency=COP' },
    { what: 'with a byte order mark', raw: '\ufeff{}' },
  ])('is malformed_json when it is $what', async ({ raw }) => {
    expect(toProblem(await postRaw(raw))).toEqual({ status: 400, code: 'malformed_json' });
  });

  it.each([
    { what: 'an invalid first byte', bytes: [0xff] },
    { what: 'a truncated sequence', bytes: [0xc3] },
    { what: 'Latin-1', bytes: [0xf1, 0x6f] },
    { what: 'an overlong form', bytes: [0xc0, 0xaf] },
    { what: 'an encoded surrogate', bytes: [0xed, 0xa0, 0xbd] },
  ])('is malformed_json when it is not UTF-8: $what', async ({ bytes }) => {
    const raw = JSON.stringify(withCustomer({ name: 'Ana %%% Rojas' }));
    const [before = '', after = ''] = raw.split('%%%');
    const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
    expect(toProblem(await postRaw(body))).toEqual({ status: 400, code: 'malformed_json' });
  });

  it.each(['[]', '[{}]', '"payin"', 'null', '7', 'true'])('is invalid_request when it is %s', async (raw) => {
    expect(toProblem(await postRaw(raw))).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: ['body invalid_type'],
    });
  });

  it.each([
    { what: 'lists', raw: '['.repeat(32_000) + ']'.repeat(32_000) },
    { what: 'objects', raw: `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}` },
    { what: 'lists in inlineCustomer', raw: `{"inlineCustomer":${'['.repeat(30_000)}${']'.repeat(30_000)}}` },
  ])('is only invalid_request when it nests thousands of $what', async ({ raw }) => {
    const answer = await postRaw(raw);
    expect(answer.status).toBe(400);
    expect(answer.body['code']).toBe('invalid_request');
  });

  it('is rejected with lone surrogates or NUL as JSON escapes, like as characters', async () => {
    const raw = JSON.stringify(brebPayin({ reference: 'REF' }));
    for (const escaped of ['\\ud83d', '\\u0000'])
      expect(toProblem(await postRaw(raw.replace('REF', escaped)))).toEqual({
        status: 400,
        code: 'invalid_request',
        errors: ['reference invalid_characters'],
      });
  });
});

describe('content type and size', () => {
  it.each([
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'json',
  ])('returns 415 for the content type %s', async (contentType) => {
    expect(toProblem(await postRaw(JSON.stringify(brebPayin()), { 'content-type': contentType }))).toEqual({
      status: 415,
      code: 'unsupported_media_type',
    });
  });

  it('returns 415 for a body without a content type, and for no body', async () => {
    const withoutType = { method: 'POST', headers: { 'x-api-key': stack.organization.apiKey } };
    const url = `${stack.apis[0]?.url}/payins`;
    for (const body of [Buffer.from(JSON.stringify(brebPayin())), null]) {
      const response = await fetch(url, { ...withoutType, body });
      expect(response.status).toBe(415);
      expect(await response.json()).toMatchObject({ code: 'unsupported_media_type', status: 415 });
    }
  });

  it('returns 413 for a body one byte above 64 KiB', async () => {
    const raw = Buffer.alloc(64 * 1024 + 1, ' ');
    raw.write(JSON.stringify(brebPayin()));
    expect(toProblem(await postRaw(raw))).toEqual({ status: 413, code: 'payload_too_large' });
  });

  it('returns 413 for a body above 64 KiB without a Content-Length', async () => {
    const headers = { 'x-api-key': stack.organization.apiKey, 'content-type': 'application/json' };
    const clientRequest = request(`${stack.apis[0]?.url}/payins`, { method: 'POST', headers });
    // The rest of the body is never sent: the response must not wait for it.
    clientRequest.write(`{"reference":"${'x'.repeat(64 * 1024)}`);
    const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    expect(await json(response)).toMatchObject({ code: 'payload_too_large', status: 413 });
    clientRequest.on('error', () => {}).destroy();
  });
});

describe('the problem of a rejected creation', () => {
  it('links to a page for every code', async () => {
    const answers = await Promise.all([
      post(brebPayin({ amountInCents: 0 })),
      post(brebPayin({ note: 'x' })),
      postRaw('{'),
      pseOnly.post('/payins', brebPayin()),
      postRaw('{}', { 'content-type': 'text/plain' }),
      postRaw(Buffer.alloc(70_000, ' ')),
    ]);
    for (const { body } of answers) {
      const page = await fetch(String(body['type']));
      expect(page.status).toBe(200);
      expect(await page.text()).toContain(String(body['code']));
    }
    expect(new Set(answers.map(({ body }) => body['type'])).size).toBe(answers.length);
  });

  it('has the path without the query string', async () => {
    const answer = await stack.api.post('/payins?x=1', brebPayin());
    expect(answer.body['instance']).toBe('/payins');
  });

  it('is in English by default', async () => {
    const answer = await post(brebPayin({ amountInCents: 0 }));
    expect(answer.headers.get('content-language')).toBe('en');
    expect(answer.body).toMatchObject({
      title: 'Invalid request',
      errors: [{ path: 'amountInCents', code: 'too_small', message: 'Must be at least 1.' }],
    });
  });

  it.each(['es', 'es-CO', 'ES-co,en;q=0.5', 'en;q=0.8, es;q=0.9', 'fr, es;q=0.1'])(
    'is in Spanish for Accept-Language: %s',
    async (language) => {
      const answer = await post(brebPayin({ amountInCents: 0 }), { 'accept-language': language });
      expect(answer.headers.get('content-language')).toBe('es');
      expect(answer.body).toMatchObject({
        code: 'invalid_request',
        title: 'Solicitud inválida',
        detail: 'Faltan datos o algunos no son válidos. `errors` indica cada campo.',
        errors: [{ path: 'amountInCents', code: 'too_small', message: 'Debe ser mínimo 1.' }],
      });
    },
  );

  it.each(['en', 'en-US,es;q=0.9', 'es;q=0, en', 'fr', '*', ';;q=,,'])(
    'is in English for Accept-Language: %s',
    async (language) => {
      const answer = await post(brebPayin({ amountInCents: 0 }), { 'accept-language': language });
      expect(answer.headers.get('content-language')).toBe('en');
      expect(answer.body['title']).toBe('Invalid request');
    },
  );

  it('is in Spanish for each kind of field error', async () => {
    const answer = await post(
      {
        currency: 'USD',
        rail: 'PSE',
        reference: '',
        amountInCents: 'x',
        extra: 1,
        inlineCustomer: { ...CUSTOMER, name: 'x'.repeat(121), phone: '1' },
        pse: { bank: 'X', personType: 'INDIVIDUAL' },
      },
      { 'accept-language': 'es' },
    );
    const errors = answer.body['errors'] as { path: string; message: string }[];
    expect(Object.fromEntries(errors.map(({ path, message }) => [path, message]))).toEqual({
      amountInCents: 'Debe ser un número.',
      currency: 'Debe ser uno de: COP.',
      reference: 'Debe tener mínimo 1 caracteres.',
      'inlineCustomer.name': 'Debe tener máximo 120 caracteres.',
      'inlineCustomer.phone':
        'Debe ser un número internacional, un signo más y de 7 a 15 dígitos, como +573001234567.',
      'pse.bank': 'No es un banco soportado; GET /pse/banks los lista.',
      extra: 'Ese campo o parámetro no existe aquí.',
    });
  });

  it('never contains the request values, which may be personal data', async () => {
    const answer = await post(
      withCustomer({ name: 'Secreta\u0000', email: 'not-an-address', idNumber: '99-88-77', phone: '0815' }),
    );
    expect(answer.status).toBe(400);
    for (const sent of ['Secreta', 'not-an-address', '99-88-77', '0815'])
      expect(answer.text).not.toContain(sent);
  });
});

describe('a rejected creation', () => {
  it('leaves nothing behind: no payin in the list, and its reference stays free', async () => {
    const { apiKey } = await driver.newOrganization();
    const api = stack.api.as(apiKey);
    const reference = newReference();
    const rejected = await Promise.all([
      api.post('/payins', brebPayin({ reference, amountInCents: 0 })),
      api.post('/payins', brebPayin({ reference, note: 1 })),
      api.post('/payins', brebPayin({ reference, callbackUrl: 'javascript:1' })),
      api.post('/payins', without(brebPayin({ reference }), 'breb')),
    ]);
    expect(rejected.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    expect((await listPage(api)).data).toEqual([]);
    await createPayin(api, brebPayin({ reference }));
  });
});
