import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
import type { ApiClient, ApiResponse } from '../harness/api-client.ts';
import { type CredentialDriver, openCredentialDriver } from '../harness/credential-driver.ts';
import { brebPayin, CUSTOMER, newReference, psePayin, without } from '../harness/payin-requests.ts';
import { createPayin, listPage, type PayinBody, readPayin, toProblem } from '../harness/payin-responses.ts';
import { type Stack, startStack } from '../harness/stack.ts';

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

function post(
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  api: ApiClient = stack.api,
): Promise<ApiResponse<PayinBody>> {
  return api.post<PayinBody>('/payins', body, headers);
}

function newKey(): { 'idempotency-key': string } {
  return { 'idempotency-key': `key-${newReference()}` };
}

function replayedHeader(answer: ApiResponse<unknown>): string | null {
  return answer.headers.get('idempotent-replayed');
}

const REFERENCE_TAKEN = { status: 409, code: 'reference_taken' };
const MISMATCH = { status: 422, code: 'idempotency_mismatch' };

/** Locks rows like a transaction that does not end. */
async function whileLocked(sql: string, values: unknown[], work: () => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: stack.database.url });
  await client.connect();
  try {
    await client.query('begin');
    const { rowCount } = await client.query(sql, values);
    expect(rowCount).toBe(1);
    await work();
    await client.query('rollback');
  } finally {
    await client.end();
  }
}

describe('409 reference_taken', () => {
  it('is returned for a second use of a reference, with the ID of the first', async () => {
    const request = brebPayin();
    const first = await createPayin(stack.api, request);
    const second = await post(request);
    expect(toProblem(second)).toEqual(REFERENCE_TAKEN);
    expect(second.body).toMatchObject({ existingId: first.id });
  });

  it.each([
    { what: 'another amount', changes: { amountInCents: 5 } },
    { what: 'another rail', changes: without(psePayin(), 'reference') },
    { what: 'no customer', changes: { inlineCustomer: undefined } },
  ])('is returned whatever else the second request contains: $what', async ({ changes }) => {
    const request = brebPayin();
    const first = await createPayin(stack.api, request);
    const second = await post({ ...request, ...('pse' in changes ? { breb: undefined } : {}), ...changes });
    expect(toProblem(second)).toEqual(REFERENCE_TAKEN);
    expect(second.body).toMatchObject({ existingId: first.id });
    expect(await readPayin(stack.api, first.id)).toEqual(first);
  });

  it('is not returned to another organization with the same reference', async () => {
    const request = brebPayin();
    const [ours, theirs] = [await createPayin(stack.api, request), await createPayin(other, request)];
    expect(theirs.id).not.toBe(ours.id);
    expect(theirs.organizationId).not.toBe(ours.organizationId);
    expect(theirs.reference).toBe(ours.reference);
  });

  it('compares references by every character: case, spaces and form of accents', async () => {
    const reference = newReference();
    const references = [
      reference,
      reference.toUpperCase(),
      `${reference} `,
      `${reference}é`,
      `${reference}e\u0301`,
    ];
    const payins = await Promise.all(
      references.map((each) => createPayin(stack.api, brebPayin({ reference: each }))),
    );
    expect(payins.map((payin) => payin.reference)).toEqual(references);
  });

  it('is returned to all but one of twenty concurrent creations, with the ID of the created one', async () => {
    const reference = newReference();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post(brebPayin({ reference, amountInCents: 100 + index }))),
    );
    const winners = answers.filter((answer) => answer.status === 201);
    const losers = answers.filter((answer) => answer.status !== 201);
    expect(winners).toHaveLength(1);
    for (const loser of losers) {
      expect(toProblem(loser)).toEqual(REFERENCE_TAKEN);
      expect(loser.body).toMatchObject({ existingId: winners[0]?.body.id });
    }
    const { data } = await listPage(stack.api, `?reference=${reference}`);
    expect(data.map(({ id }) => id)).toEqual([winners[0]?.body.id]);
  });

  it('is returned even with an Idempotency-Key, and the key stays free for another request', async () => {
    const taken = await createPayin(stack.api, brebPayin());
    const key = newKey();
    const rejected = await post(brebPayin({ reference: taken.reference }), key);
    expect(toProblem(rejected)).toEqual(REFERENCE_TAKEN);
    const created = await post(brebPayin({ amountInCents: 1 }), key);
    expect(created.status).toBe(201);
    expect(replayedHeader(created)).toBeNull();
  });
});

describe('a request that waits for a lock', () => {
  /** A process that gives up waiting for locks as soon as in production; it may wait longer for everything else. */
  let server: Child;
  let url: string;
  let api: ApiClient;
  beforeAll(async () => {
    const settings = { ...stack.settings, CAUDAL_PORT: '0', CAUDAL_TEST_DEADLINE_FACTOR: '1' };
    server = await startServer('api', settings);
    url = `http://127.0.0.1:${String(server.ready['port'])}`;
    api = stack.api.at(url);
  });
  afterAll(() => server?.stop());

  it('returns 409 idempotency_in_flight while the first request is locked, and the retry then succeeds', async () => {
    const body = brebPayin();
    const key = newKey();
    const first = await post(body, key);
    await whileLocked(
      'select 1 from caudal.idempotency_keys where resource_id = $1 for update',
      [first.body.id],
      async () => {
        expect(toProblem(await post(body, key, api))).toEqual({ status: 409, code: 'idempotency_in_flight' });
      },
    );
    expect((await post(body, key)).text).toBe(first.text);
  });

  it('returns 503 with Retry-After when a request without a key cannot be decided in time', async () => {
    const body = brebPayin();
    const first = await createPayin(stack.api, body);
    await whileLocked(
      'select 1 from caudal.resource_references where resource_id = $1 for update',
      [first.id],
      async () => {
        const answer = await post(body, {}, api.strict);
        expect(toProblem(answer)).toEqual({ status: 503, code: 'service_unavailable' });
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      },
    );
    expect((await post(body)).status).toBe(409);
  });

  it('does not delay other requests meanwhile', async () => {
    const body = brebPayin();
    const key = newKey();
    const first = await post(body, key);
    await whileLocked(
      'select 1 from caudal.idempotency_keys where resource_id = $1 for update',
      [first.body.id],
      async () => {
        const answers = await Promise.all([
          post(body, key, api),
          post(brebPayin(), {}, api),
          post(brebPayin(), {}, other.at(url)),
        ]);
        expect(answers.map(({ status }) => status)).toEqual([409, 201, 201]);
      },
    );
  });
});

describe('Idempotency-Key', () => {
  it.each([
    { what: 'a BRE_B payin', request: () => brebPayin() },
    { what: 'a BRE_B payin with its QR code', request: () => brebPayin({ breb: { keyType: 'QR_CODE' } }) },
    { what: 'a PSE payin with its bank page', request: () => psePayin() },
    { what: 'a PSE payin without a customer', request: () => without(psePayin(), 'inlineCustomer') },
  ])(
    'returns the same 201 byte for byte to a retry, with Idempotent-Replayed: $what',
    async ({ request }) => {
      const body = request();
      const key = newKey();
      const first = await post(body, key);
      const second = await post(body, key);
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(second.text).toBe(first.text);
      expect([replayedHeader(first), replayedHeader(second)]).toEqual([null, 'true']);
    },
  );

  it('creates one payin however often the request is repeated', async () => {
    const body = brebPayin();
    const key = newKey();
    for (let count = 0; count < 4; count += 1) await createPayin(stack.api, body, key);
    const { data } = await listPage(stack.api, `?reference=${String(body['reference'])}`);
    expect(data).toHaveLength(1);
    const [row] = await stack.database.query<{ keys: number }>(
      'select count(*)::int as keys from caudal.breb_keys where payin_id = $1',
      [data[0]?.id],
    );
    expect(row?.keys).toBe(1);
  });

  it('creates one payin for twenty equal concurrent requests, all with the same response', async () => {
    const body = brebPayin();
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(body, key)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => replayedHeader(answer) === null)).toHaveLength(1);
  });

  it('accepts one of twenty different concurrent requests; the others are mismatches', async () => {
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post(brebPayin({ amountInCents: 100 + index }), key)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const rejected of answers.filter(({ status }) => status !== 201))
      expect(toProblem(rejected)).toEqual(MISMATCH);
  });

  it('ignores member order, whitespace and the notation of numbers and letters', async () => {
    const key = newKey();
    const body = brebPayin({ amountInCents: 120, callbackUrl: 'https://shop.example.com/ñ' });
    const first = await post(body, key);
    const reverseMembers = (value: unknown): unknown =>
      value !== null && typeof value === 'object'
        ? Object.fromEntries(
            Object.entries(value)
              .map(([name, member]) => [name, reverseMembers(member)] as const)
              .toReversed(),
          )
        : value;
    const forms = [
      JSON.stringify(reverseMembers(body)),
      JSON.stringify(body, null, '\t'),
      `\n ${JSON.stringify(body)} \r\n`,
      JSON.stringify(body).replace(':120,', ':1.2e2,'),
      JSON.stringify(body).replaceAll('ñ', '\\u00f1').replace('"COP"', '"\\u0043OP"'),
    ];
    expect(new Set([...forms, JSON.stringify(body)]).size).toBe(6);
    for (const raw of forms) {
      const repeat = await stack.api.request<PayinBody>('POST', '/payins', { raw, headers: key });
      expect([repeat.status, replayedHeader(repeat), repeat.text]).toEqual([201, 'true', first.text]);
    }
  });

  it.each([
    { what: 'the amount', changes: { amountInCents: 4_980_001 } },
    { what: 'the reference', changes: { reference: 'another' } },
    { what: 'a letter of the name', changes: { inlineCustomer: { ...CUSTOMER, name: 'Ana Maria Rojas' } } },
    { what: 'the key type', changes: { breb: { keyType: 'QR_CODE' } } },
    { what: 'an additional field', changes: { callbackUrl: 'https://shop.example.com/' } },
    { what: 'a missing field', changes: { inlineCustomer: undefined } },
    { what: 'an unused member', changes: { breb: { keyType: 'SINGLE_USE', keyString: '@X' } } },
  ])('returns 422 when the body differs in $what, and creates nothing', async ({ changes }) => {
    const body = brebPayin();
    const key = newKey();
    const first = await createPayin(stack.api, body, key);
    const [newest] = (await listPage(stack.api, '?pageSize=1')).data;
    const second = await post({ ...body, ...changes }, key);
    expect(toProblem(second)).toEqual(MISMATCH);
    expect(second.text).not.toContain(first.id);
    expect((await listPage(stack.api, '?pageSize=1')).data[0]?.id).toBe(newest?.id);
  });

  it('still replays the first response after a mismatch', async () => {
    const body = brebPayin();
    const key = newKey();
    const first = await post(body, key);
    await post({ ...body, amountInCents: 1 }, key);
    expect((await post(body, key)).text).toBe(first.text);
  });

  it('is scoped to an organization', async () => {
    const body = brebPayin();
    const key = newKey();
    const ours = await post(body, key);
    const theirs = await post(body, key, other);
    expect([ours.status, theirs.status]).toEqual([201, 201]);
    expect(replayedHeader(theirs)).toBeNull();
    expect(theirs.body.id).not.toBe(ours.body.id);
    expect((await post({ ...body, reference: newReference() }, key, other)).status).toBe(422);
  });

  it('compares keys by every character', async () => {
    const { 'idempotency-key': key } = newKey();
    const ids = new Set<string>();
    for (const each of [key, key.toUpperCase(), `${key}.`, `"${key}"`])
      ids.add((await createPayin(stack.api, brebPayin(), { 'idempotency-key': each })).id);
    expect(ids.size).toBe(4);
  });

  it('belongs to the organization, not to the API key: a retry with another API key is replayed', async () => {
    const { organizationId } = stack.organization;
    const created = await driver.newKey(organizationId);
    const body = brebPayin();
    const key = newKey();
    const first = await post(body, key);
    const second = await post(body, key, stack.api.as(created.apiKey));
    expect([second.text, replayedHeader(second)]).toEqual([first.text, 'true']);
  });

  it('does not store a rejected request: 400 first, then 201 with the same key', async () => {
    const key = newKey();
    const body = brebPayin();
    expect((await post({ ...body, amountInCents: 0 }, key)).status).toBe(400);
    expect((await post({ ...body, note: 'x' }, key)).status).toBe(400);
    const created = await post(body, key);
    expect([created.status, replayedHeader(created)]).toEqual([201, null]);
  });

  it('is released for other requests of a batch when the first one with that key fails', async () => {
    const taken = await createPayin(stack.api, brebPayin());
    const key = newKey();
    const answers = await Promise.all([
      post(brebPayin({ reference: taken.reference }), key),
      post(brebPayin({ reference: taken.reference }), key),
      post(brebPayin(), key),
    ]);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { status } of answers) expect([201, 409, 422]).toContain(status);
  });

  it('replays the payin as created, never a later state', async () => {
    const key = newKey();
    const body = brebPayin();
    const first = await post(body, key);
    await stack.database.query(
      `update caudal.payins set status = 'CONFIRMED', confirmed_amount_in_cents = amount_in_cents, result_at = caudal.now(),
         settlement_status = 'PENDING_SETTLEMENT', updated_at = caudal.now() + interval '5 seconds' where id = $1`,
      [first.body.id],
    );
    expect((await readPayin(stack.api, first.body.id)).status).toBe('CONFIRMED');
    const repeat = await post(body, key);
    expect([repeat.text, replayedHeader(repeat)]).toEqual([first.text, 'true']);
  });

  it('replays 201 and the same page for a PSE payin that was declined since', async () => {
    const key = newKey();
    const body = psePayin();
    const first = await post(body, key);
    await stack.database.query(
      `update caudal.payins set status = 'DECLINED', error_code = 'INSUFFICIENT_FUNDS', result_at = caudal.now(),
         updated_at = caudal.now() + interval '5 seconds' where id = $1`,
      [first.body.id],
    );
    expect(first.body.sourceData.pseUrl).toMatch(/^http/);
    expect((await post(body, key)).text).toBe(first.text);
  });

  it('makes a retry of a PENDING PSE payin wait for the bank page together with the first request', async () => {
    await fetch(`${stack.simulatorUrl}/control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ rail: 'PSE', operation: 'create', fault: 'slow', ms: 1000, times: 1 }),
    });
    const body = psePayin();
    const key = newKey();
    const answers = await Promise.all([post(body, key), post(body, key), post(body, key)]);
    for (const answer of answers) {
      expect(answer.body.status).toBe('PROCESSING');
      expect(answer.body.sourceData.pseUrl).toMatch(/^http/);
    }
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('is accepted and ignored by operations that create nothing', async () => {
    const key = newKey();
    const first = await stack.api.get('/payins?pageSize=1', key);
    await createPayin(stack.api, brebPayin());
    const second = await stack.api.get('/payins?pageSize=1', key);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.text).not.toBe(first.text);
    expect((await stack.api.get('/pse/banks', { 'idempotency-key': 'ñ'.repeat(300) })).status).toBe(200);
  });

  it('still replays after 29 days and 23 hours, and without the key returns 409', async () => {
    const body = brebPayin();
    const key = newKey();
    const first = await post(body, key);
    await stack.database.query(`select caudal.shift_time('29 days 23 hours')`);
    const repeat = await post(body, key);
    expect([repeat.text, replayedHeader(repeat)]).toEqual([first.text, 'true']);
    expect(toProblem(await post(body))).toEqual(REFERENCE_TAKEN);
  });
});
