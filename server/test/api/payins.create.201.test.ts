import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { expectWithin, stopwatch } from '../../../scripts/testing/expect-within.ts';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import { uuidToBase32 } from '../../src/kit/ids.ts';
import { crc16, parseTlv } from '../../src/rails/breb/emvco.ts';
import type { ApiResponse } from '../harness/api-client.ts';
import { brebPayin, CUSTOMER, newReference, psePayin, without } from '../harness/payin-requests.ts';
import { createPayin, type PayinBody, readPayin } from '../harness/payin-responses.ts';
import { readPseReference } from '../harness/pse-reference.ts';
import { readMetric } from '../harness/read-metric.ts';
import { readQr } from '../harness/read-qr.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UTC_WITH_MILLISECONDS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const HOUR_MS = 3_600_000;
const CELL = 1;

let stack: Stack;
/** One payin of each kind, for the tests of every field. */
let samples: Record<'singleUse' | 'qrCode' | 'pse' | 'pseWithoutCustomer', ApiResponse<PayinBody>>;

beforeAll(async () => {
  stack = await startStack({ workers: 1 });
  const post = (body: unknown) => stack.api.post<PayinBody>('/payins', body);
  const [singleUse, qrCode, pse, pseWithoutCustomer] = await Promise.all([
    post(brebPayin()),
    post(brebPayin({ breb: { keyType: 'QR_CODE' }, callbackUrl: 'https://shop.example.com/thanks' })),
    post(psePayin()),
    post(without(psePayin(), 'inlineCustomer')),
  ]);
  samples = { singleUse, qrCode, pse, pseWithoutCustomer };
});
afterAll(() => stack?.stop());

function allSamples(): PayinBody[] {
  return Object.values(samples).map((answer) => answer.body);
}

function expectString(value: string | null | undefined): string {
  expect(value).toEqual(expect.any(String));
  return value ?? '';
}

async function fetchFromSimulator<T>(path: string): Promise<T> {
  const response = await fetch(stack.simulatorUrl + path);
  if (response.status !== 200) throw new Error(`the simulator answered ${response.status}`);
  return (await response.json()) as T;
}

describe('POST /payins on BRE_B', () => {
  it('returns 201 PROCESSING with the generated key and a checkout page for SINGLE_USE, without an image', () => {
    const { status, headers, body } = samples.singleUse;
    expect(status).toBe(201);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('idempotent-replayed')).toBeNull();
    expect(body.status).toBe('PROCESSING');
    expect(Object.keys(body.sourceData)).toEqual(['keyType', 'keyString', 'checkoutUrl', 'endToEndId']);
    expect(body.sourceData.keyType).toBe('SINGLE_USE');
  });

  it('returns 201 PROCESSING with key, checkout page and a QR image for QR_CODE', () => {
    const { status, body } = samples.qrCode;
    expect(status).toBe(201);
    expect(body.status).toBe('PROCESSING');
    expect(Object.keys(body.sourceData)).toEqual([
      'keyType',
      'keyString',
      'qrString',
      'checkoutUrl',
      'endToEndId',
    ]);
    expect(body.sourceData.keyType).toBe('QR_CODE');
    expect(body.sourceData.qrString).toMatch(/^data:image\/png;base64,iVBORw0KGgo[A-Za-z0-9+/]+=*$/);
  });

  it.each([
    { amountInCents: 1, written: '0.01' },
    { amountInCents: 100, written: '1' },
    { amountInCents: 4_980_050, written: '49800.50' },
    { amountInCents: 999_999_999_999, written: '9999999999.99' },
  ])('returns a QR code that decodes to the key and $written pesos', async ({ amountInCents, written }) => {
    const payin = await createPayin(
      stack.api,
      brebPayin({
        amountInCents,
        breb: { keyType: 'QR_CODE' },
        reference: `pedido ñandú ${newReference()}`,
      }),
    );
    const content = readQr(expectString(payin.sourceData.qrString));
    const fields = parseTlv(content);
    expect(parseTlv(fields.get('26') ?? '').get('04')).toBe(payin.sourceData.keyString);
    expect(fields.get('54')).toBe(written);
    expect(fields.get('53')).toBe('170');
    expect(fields.get('58')).toBe('CO');
    expect(fields.get('01')).toBe('12');
    expect(fields.get('59')).toBe('Tienda Aurora');
    expect(parseTlv(fields.get('90') ?? '').get('01')).toBe(payin.sourceData.keyString?.slice(1));
    expect(content.slice(-4)).toBe(crc16(content.slice(0, -4)));
  });

  it('returns a QR code even when no character of the reference is encodable', async () => {
    const payin = await createPayin(
      stack.api,
      brebPayin({ breb: { keyType: 'QR_CODE' }, reference: '🎉🎊' }),
    );
    const fields = parseTlv(readQr(expectString(payin.sourceData.qrString)));
    expect(parseTlv(fields.get('26') ?? '').get('04')).toBe(payin.sourceData.keyString);
  });

  it('registers the returned key at the rail with the amount of the payin', async () => {
    const payin = await createPayin(stack.api, brebPayin({ amountInCents: 123_456 }));
    const key = encodeURIComponent(expectString(payin.sourceData.keyString));
    const registered = await until('the key is registered at the rail', () =>
      fetchFromSimulator<{ internalId: string; amount: string; expiresAt: string }>(`/control/keys/${key}`),
    );
    expect(registered).toMatchObject({
      internalId: payin.id,
      amount: '1234.56',
      expiresAt: payin.expiresAt,
    });
  });

  it('creates a unique key of 6 to 19 upper-case letters and digits for each of sixty concurrent payins', async () => {
    const payins = await Promise.all(Array.from({ length: 60 }, () => createPayin(stack.api, brebPayin())));
    const keys = payins.map((payin) => expectString(payin.sourceData.keyString));
    for (const key of keys) expect(key).toMatch(/^@[A-Z0-9]{6,19}$/);
    expect(new Set(keys).size).toBe(60);
  });

  it('accepts breb.keyString of the shared schema and ignores it', async () => {
    const payin = await createPayin(
      stack.api,
      brebPayin({ breb: { keyType: 'SINGLE_USE', keyString: '@MERCHANTOWN' } }),
    );
    expect(payin.sourceData.keyString).toMatch(/^@[A-Z0-9]{6,19}$/);
    expect(payin.sourceData.keyString).not.toBe('@MERCHANTOWN');
  });

  it('accepts a payin without inlineCustomer', async () => {
    const payin = await createPayin(stack.api, without(brebPayin(), 'inlineCustomer'));
    expect(payin.status).toBe('PROCESSING');
    expect(payin.inlineCustomer).toBeNull();
  });
});

describe('POST /payins on PSE', () => {
  it('returns 201 PROCESSING with the bank page URL and the bank', async () => {
    const { status, body } = samples.pse;
    expect(status).toBe(201);
    expect(body.status).toBe('PROCESSING');
    expect(Object.keys(body.sourceData)).toEqual(['pseUrl', 'bank', 'cus']);
    expect(body.sourceData.bank).toBe('CO_BANCOLOMBIA');
    const page = await fetch(expectString(body.sourceData.pseUrl));
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  });

  it.each([
    { personType: 'INDIVIDUAL', sent: 0 },
    { personType: 'BUSINESS', sent: 1 },
  ])('sends PSE the given amount, bank and payer, and $personType as $sent', async ({ personType, sent }) => {
    const payin = await createPayin(
      stack.api,
      psePayin({ amountInCents: 1_234_507, pse: { bank: 'CO_NEQUI', personType } }),
    );
    const transaction = await fetchFromSimulator<object>(
      `/control/transactions/${await readPseReference(stack.database, payin.id)}`,
    );
    expect(transaction).toMatchObject({
      amount: '12345.07',
      bankCode: '1507',
      personType: sent,
      payer: {
        documentNumber: CUSTOMER.idNumber,
        name: CUSTOMER.name,
        email: CUSTOMER.email,
        phone: CUSTOMER.phone,
      },
      bankUrl: payin.sourceData.pseUrl,
    });
  });

  it('stays PENDING without inlineCustomer, with our own page as pseUrl, also when read', async () => {
    const { body } = samples.pseWithoutCustomer;
    expect(body.status).toBe('PENDING');
    expect(body.inlineCustomer).toBeNull();
    expect(body.sourceData.bank).toBe('CO_BANCOLOMBIA');
    const checkout = expectString(stack.settings['CAUDAL_CHECKOUT_URL']);
    expect(body.sourceData.pseUrl?.startsWith(`${checkout}/p/`)).toBe(true);
    expect(await readPayin(stack.api, body.id)).toEqual(body);
  });

  it('returns PENDING with pseUrl null after three seconds without the bank, and the page appears later', async () => {
    await fetch(`${stack.simulatorUrl}/control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ rail: 'PSE', operation: 'create', fault: 'slow', ms: 4500, times: 1 }),
    });
    // The processes of the other tests wait longer.
    const settings = { ...stack.settings, CAUDAL_PORT: '0', CAUDAL_TEST_DEADLINE_FACTOR: '1' };
    const server = await startServer('api', settings);
    const api = stack.api.at(`http://127.0.0.1:${String(server.ready['port'])}`);
    onTestFinished(async () => void (await server.stop()));
    const elapsed = stopwatch();
    const payin = await createPayin(api, psePayin());
    const tookMs = elapsed();
    expect(payin.status).toBe('PENDING');
    expect(payin.sourceData).toEqual({ pseUrl: null, bank: 'CO_BANCOLOMBIA', cus: null });
    expect(tookMs).toBeGreaterThanOrEqual(2900);
    expectWithin('a creation without the bank', tookMs, 4500);
    const later = await until('the bank page is known', async () => {
      const now = await readPayin(stack.api, payin.id);
      return now.status === 'PROCESSING' && now;
    });
    expect(later.sourceData.pseUrl).toMatch(/^http/);
  });

  it('returns PENDING for an amount that PSE rejects; the rejection is the later outcome', async () => {
    const payin = await createPayin(stack.api, psePayin({ amountInCents: 1 }));
    expect(payin.status).toBe('PENDING');
    expect(payin.errorCode).toBeNull();
    expect(payin.resultAt).toBeNull();
    const later = await until('the outcome is known', async () => {
      const now = await readPayin(stack.api, payin.id);
      return now.status !== 'PENDING' && now;
    });
    expect(later).toMatchObject({ status: 'DECLINED', errorCode: 'LIMIT_EXCEEDED', settlementStatus: null });
    expect(later.resultAt).toMatch(UTC_WITH_MILLISECONDS);
  });
});

describe('the payin object', () => {
  const isString = (value: unknown): value is string => typeof value === 'string';
  const isNumber = (value: unknown) => typeof value === 'number';
  const isUuid = (value: unknown) => isString(value) && UUID.test(value);
  const isTime = (value: unknown) => isString(value) && UTC_WITH_MILLISECONDS.test(value);
  const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

  /** The documented fields of a payin. */
  const ROWS = [
    { field: 'id', type: 'a UUID', is: isUuid, nullable: false },
    { field: 'amount', type: 'a number', is: isNumber, nullable: false },
    { field: 'amountInCents', type: 'a number', is: isNumber, nullable: false },
    { field: 'confirmedAmount', type: 'a number', is: isNumber, nullable: true },
    { field: 'confirmedAmountInCents', type: 'a number', is: isNumber, nullable: true },
    { field: 'currency', type: 'a string', is: isString, nullable: false },
    { field: 'status', type: 'a string', is: isString, nullable: false },
    { field: 'settlementStatus', type: 'a string', is: isString, nullable: true },
    { field: 'rail', type: 'a string', is: isString, nullable: false },
    { field: 'reference', type: 'a string', is: isString, nullable: false },
    { field: 'paymentLinkId', type: 'a UUID', is: isUuid, nullable: true },
    { field: 'inlineCustomer', type: 'an object', is: isObject, nullable: true },
    { field: 'errorCode', type: 'a string', is: isString, nullable: true },
    { field: 'createdAt', type: 'a time', is: isTime, nullable: false },
    { field: 'updatedAt', type: 'a time', is: isTime, nullable: false },
    { field: 'expiresAt', type: 'a time', is: isTime, nullable: false },
    { field: 'resultAt', type: 'a time', is: isTime, nullable: true },
    { field: 'chargebackAt', type: 'a time', is: isTime, nullable: true },
    { field: 'organizationId', type: 'a UUID', is: isUuid, nullable: false },
    { field: 'sourceData', type: 'an object', is: isObject, nullable: true },
    { field: 'callbackUrl', type: 'a string', is: isString, nullable: true },
    { field: 'metadata', type: 'an object', is: isObject, nullable: false },
  ] as const;

  it.each(ROWS)('has $field, $type, null only where documented', ({ field, is, nullable }) => {
    for (const payin of allSamples()) {
      expect(payin).toHaveProperty(field);
      const value: unknown = payin[field];
      expect([payin.rail, value, is(value) || (nullable && value === null)]).toEqual([
        payin.rail,
        value,
        true,
      ]);
    }
  });

  it('has these fields in this order and no others', () => {
    for (const payin of allSamples()) expect(Object.keys(payin)).toEqual(ROWS.map((row) => row.field));
  });

  it('has null for everything that has not happened yet', () => {
    for (const payin of allSamples()) {
      expect(payin).toMatchObject({
        confirmedAmount: null,
        confirmedAmountInCents: null,
        settlementStatus: null,
        paymentLinkId: null,
        errorCode: null,
        resultAt: null,
        chargebackAt: null,
      });
    }
  });

  it('has the requested currency and rail, and the organization of the API key', () => {
    expect(allSamples().map((payin) => payin.rail)).toEqual(['BRE_B', 'BRE_B', 'PSE', 'PSE']);
    for (const payin of allSamples()) {
      expect(payin.currency).toBe('COP');
      expect(payin.organizationId).toBe(stack.organization.organizationId);
    }
  });

  it.each([
    { amountInCents: 1, amount: 0.01 },
    { amountInCents: 7, amount: 0.07 },
    { amountInCents: 29, amount: 0.29 },
    { amountInCents: 100, amount: 1 },
    { amountInCents: 101, amount: 1.01 },
    { amountInCents: 113_999, amount: 1139.99 },
    { amountInCents: 4_980_000, amount: 49_800 },
    { amountInCents: 999_999_999_998, amount: 9_999_999_999.98 },
    { amountInCents: 999_999_999_999, amount: 9_999_999_999.99 },
  ])(
    'returns $amountInCents cents as the amount $amount, digit by digit',
    async ({ amountInCents, amount }) => {
      const answer = await stack.api.post<PayinBody>('/payins', brebPayin({ amountInCents }));
      expect(answer.text).toContain(`"amount":${amount},"amountInCents":${amountInCents},`);
      expect(await readPayin(stack.api, answer.body.id)).toMatchObject({ amount, amountInCents });
    },
  );

  it('has times in UTC with milliseconds: created by the database clock, expiring an hour later', async () => {
    const clock = async () => {
      const [row] = await stack.database.query<{ now: Date }>('select caudal.now() as now');
      return row?.now.getTime() ?? Number.NaN;
    };
    const before = await clock();
    const payin = await createPayin(stack.api, brebPayin());
    const after = await clock();
    for (const time of [payin.createdAt, payin.updatedAt, payin.expiresAt])
      expect(time).toMatch(UTC_WITH_MILLISECONDS);
    const createdAt = Date.parse(payin.createdAt);
    expect(createdAt).toBeGreaterThanOrEqual(before);
    expect(createdAt).toBeLessThanOrEqual(after);
    expect(payin.updatedAt).toBe(payin.createdAt);
    expect(Date.parse(payin.expiresAt) - createdAt).toBe(HOUR_MS);
  });

  it('has a UUIDv7 ID with the creation time and the cell', () => {
    for (const { id, createdAt } of allSamples()) {
      const [high = '', low = '', version = '', variantAndCell = ''] = id.split('-');
      expect(version.charAt(0)).toBe('7');
      const bits = Number.parseInt(variantAndCell, 16);
      expect(bits >> 14).toBe(0b10);
      expect((bits >> 4) & 1023).toBe(CELL);
      // The process assigns the ID before the database assigns the time.
      const apartMs = Math.abs(Number.parseInt(high + low, 16) - Date.parse(createdAt));
      expectWithin('the time between ID and creation', apartMs, 1000);
      expect(apartMs).toBeLessThan(PATIENCE_MS);
    }
  });

  it('has IDs that sort in creation order', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 8; count += 1) ids.push((await createPayin(stack.api, brebPayin())).id);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has IDs that still sort in that order while the database clock goes back, as after a failover', async () => {
    const [process] = stack.apis;
    if (!process) throw new Error('no API process');
    const ids = [(await createPayin(stack.api, brebPayin())).id];
    await stack.database.query(`select caudal.shift_time('-5 seconds')`);
    const elapsed = stopwatch();
    const hasMetStep = async () => {
      const elapsedSeconds = elapsed() / 1000;
      return (await readMetric(process, 'caudal_clock_age_seconds')) < elapsedSeconds;
    };
    while (!(await hasMetStep())) ids.push((await createPayin(stack.api, brebPayin())).id);
    for (let count = 0; count < 5; count += 1) ids.push((await createPayin(stack.api, brebPayin())).id);
    await stack.database.query(`select caudal.shift_time('5 seconds')`);
    expect(ids.length).toBeGreaterThan(5);
    expect(ids.toSorted()).toEqual(ids);
  });

  it('has a checkoutUrl with its own secret and without the ID', () => {
    const payins = [samples.singleUse.body, samples.qrCode.body];
    const tokens = payins.map(({ id, sourceData }) => {
      const url = new URL(expectString(sourceData.checkoutUrl));
      const [, token = ''] = /^\/checkout\/p\/([A-Za-z0-9_-]+)$/.exec(url.pathname) ?? [];
      expect(url.search).toBe('');
      expect(url.origin).toBe(stack.apis[0]?.url);
      const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
      const visible = Buffer.from(token.slice(2), 'base64url');
      for (const written of [id, bytes.toString('hex'), bytes.toString('base64url'), uuidToBase32(id)])
        expect(token.toLowerCase()).not.toContain(written.toLowerCase());
      expect(visible.includes(bytes.subarray(8))).toBe(false);
      // The first two digits are the cell; the following 128 bits are unguessable.
      expect(token.slice(0, 2)).toBe('01');
      expect(visible.length).toBeGreaterThanOrEqual(16);
      return token;
    });
    expect(new Set(tokens.map((token) => token.slice(2, 10))).size).toBe(tokens.length);
  });
});

describe('POST /payins returns the request values', () => {
  it.each([
    { what: 'accents and ñ', changes: { name: 'María Ñúñez Peña de Güell' } },
    { what: 'emoji beyond the basic plane', changes: { name: 'Ana 👩🏽‍🚀 Rojas 🇨🇴' } },
    { what: 'combining accents', changes: { name: 'Jose\u0301 Pen\u0303a' } },
    { what: 'quotes, backslashes and markup', changes: { name: `O'Neil "El \\ Rápido" <b>&amp;</b>` } },
    { what: 'leading and trailing spaces', changes: { name: ' Ana ' } },
    { what: 'right-to-left script', changes: { name: 'محمد بن علي' } },
    { what: 'a name of 120 characters', changes: { name: 'é'.repeat(120) } },
    { what: 'a foreigner', changes: { idType: 'CO_CE', idNumber: 'E123456' } },
    { what: 'a NIT with its check digit', changes: { idType: 'CO_NIT', idNumber: '890903938-8' } },
    { what: 'a NIT without it', changes: { idType: 'CO_NIT', idNumber: '890903938' } },
    { what: 'a Mexican company', changes: { idType: 'MXN_RFC', idNumber: 'ABC680524P76' } },
    { what: 'a Mexican person', changes: { idType: 'MXN_RFC', idNumber: 'GODE561231GR8' } },
    { what: 'a passport', changes: { idType: 'PASSPORT', idNumber: 'AV123456' } },
    { what: 'a foreign phone number', changes: { phone: '+14155550132' } },
    { what: 'an email address with a plus', changes: { email: 'ana+tienda@mail.example.com.co' } },
  ])('returns inlineCustomer unchanged: $what', async ({ changes }) => {
    const inlineCustomer = { ...CUSTOMER, ...changes };
    const payin = await createPayin(stack.api, brebPayin({ inlineCustomer }));
    expect(payin.inlineCustomer).toEqual(inlineCustomer);
    expect((await readPayin(stack.api, payin.id)).inlineCustomer).toEqual(inlineCustomer);
  });

  it.each([
    { what: '255 characters', start: 'x'.repeat(230) },
    { what: 'emoji and accents', start: 'pedido-🎁-ñandú-' },
    { what: 'markup and SQL', start: `'; drop table payins; -- <script>` },
    { what: 'spaces inside and at the start', start: '  order  ' },
  ])('returns the reference unchanged: $what', async ({ start }) => {
    const reference = (start + newReference()).padEnd(start.startsWith('x') ? 255 : 0, 'y');
    const payin = await createPayin(stack.api, brebPayin({ reference }));
    expect(payin.reference).toBe(reference);
    expect((await readPayin(stack.api, payin.id)).reference).toBe(reference);
  });

  it.each([
    { given: 'https://shop.example.com/thanks', kept: 'https://shop.example.com/thanks' },
    { given: 'HTTPS://Shop.Example.COM:443', kept: 'https://shop.example.com/' },
    { given: 'https://shop.example.com/a/../b/./c?x=1#end', kept: 'https://shop.example.com/b/c?x=1#end' },
    { given: 'https://niño.example/gracias/ñ', kept: 'https://xn--nio-8ma.example/gracias/%C3%B1' },
    { given: 'https:\\\\shop.example.com\\x', kept: 'https://shop.example.com/x' },
    { given: 'http://localhost:3000/thanks', kept: 'http://localhost:3000/thanks' },
    { given: 'http://127.0.0.1/thanks', kept: 'http://127.0.0.1/thanks' },
    { given: 'http://2130706433/thanks', kept: 'http://127.0.0.1/thanks' },
    { given: 'http://[::1]:8080/', kept: 'http://[::1]:8080/' },
    {
      given: `https://shop.example.com/${'a'.repeat(2048 - 25)}`,
      kept: `https://shop.example.com/${'a'.repeat(2048 - 25)}`,
    },
  ])('normalizes callbackUrl: $given', async ({ given, kept }) => {
    const payin = await createPayin(stack.api, brebPayin({ callbackUrl: given }));
    expect(payin.callbackUrl).toBe(kept);
    expect((await readPayin(stack.api, payin.id)).callbackUrl).toBe(kept);
  });

  it('returns null for omitted inlineCustomer and callbackUrl', async () => {
    const payin = await createPayin(stack.api, without(brebPayin(), 'inlineCustomer'));
    expect(payin).toMatchObject({ inlineCustomer: null, callbackUrl: null });
  });

  it('creates each of a hundred concurrent payins with its own values', async () => {
    const requests = Array.from({ length: 100 }, (_, index) =>
      brebPayin({
        amountInCents: 1000 + index,
        inlineCustomer: { ...CUSTOMER, name: `Payer ${index}` },
        breb: { keyType: index % 2 === 0 ? 'SINGLE_USE' : 'QR_CODE' },
      }),
    );
    const payins = await Promise.all(requests.map((request) => createPayin(stack.api, request)));
    const stored = await Promise.all(payins.map(({ id }) => readPayin(stack.api, id)));
    for (const [index, request] of requests.entries()) {
      for (const payin of [payins[index], stored[index]]) {
        expect(payin).toMatchObject({
          amountInCents: request['amountInCents'],
          reference: request['reference'],
          inlineCustomer: request['inlineCustomer'],
        });
      }
      expect(stored[index]).toEqual(payins[index]);
    }
    expect(new Set(payins.map(({ id }) => id)).size).toBe(100);
  });
});

describe('accepted request formats', () => {
  it.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset=UTF-8'])(
    'include the content type %s',
    async (contentType) => {
      const payin = await createPayin(stack.api, brebPayin(), { 'content-type': contentType });
      expect(payin.status).toBe('PROCESSING');
    },
  );

  it('include a body of exactly 64 KiB', async () => {
    const raw = Buffer.alloc(64 * 1024, ' ');
    raw.write(JSON.stringify(brebPayin()));
    const answer = await stack.api.request('POST', '/payins', { raw });
    expect(answer.status).toBe(201);
  });

  it('include a whole amount written as a decimal or with an exponent', async () => {
    const raw = JSON.stringify(brebPayin({ amountInCents: 77 })).replace(':77,', ':7.70e1,');
    expect(raw).toContain('7.70e1');
    const answer = await stack.api.request<PayinBody>('POST', '/payins', { raw });
    expect(answer.body.amountInCents).toBe(77);
  });
});
