import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, ApiClient } from '../harness/api-client.ts';
import { type CredentialDriver, openCredentialDriver } from '../harness/credential-driver.ts';
import { createPayin, listPage, type PayinBody, problemOf, readPayin } from '../harness/payin-answers.ts';
import { brebPayin, CUSTOMER, newReference, psePayin, without } from '../harness/payin-requests.ts';
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
): Promise<Answer<PayinBody>> {
  return api.post<PayinBody>('/payins', body, headers);
}

function newKey(): { 'idempotency-key': string } {
  return { 'idempotency-key': `key-${newReference()}` };
}

function replayed(answer: Answer<unknown>): string | null {
  return answer.headers.get('idempotent-replayed');
}

const REFERENCE_TAKEN = { status: 409, code: 'reference_taken' };
const MISMATCH = { status: 422, code: 'idempotency_mismatch' };

/** Holds rows as a transaction that does not end would. */
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
  it('answers a second use of a reference with the id of the first', async () => {
    const request = brebPayin();
    const first = await createPayin(stack.api, request);
    const second = await post(request);
    expect(problemOf(second)).toEqual(REFERENCE_TAKEN);
    expect(second.body).toMatchObject({ existingId: first.id });
  });

  it.each([
    { what: 'another amount', changes: { amountInCents: 5 } },
    { what: 'another rail', changes: without(psePayin(), 'reference') },
    { what: 'no customer', changes: { inlineCustomer: undefined } },
  ])('answers so whatever else the second request says: $what', async ({ changes }) => {
    const request = brebPayin();
    const first = await createPayin(stack.api, request);
    const second = await post({ ...request, ...('pse' in changes ? { breb: undefined } : {}), ...changes });
    expect(problemOf(second)).toEqual(REFERENCE_TAKEN);
    expect(second.body).toMatchObject({ existingId: first.id });
    expect(await readPayin(stack.api, first.id)).toEqual(first);
  });

  it('lets another organization use the same reference', async () => {
    const request = brebPayin();
    const [ours, theirs] = [await createPayin(stack.api, request), await createPayin(other, request)];
    expect(theirs.id).not.toBe(ours.id);
    expect(theirs.organizationId).not.toBe(ours.organizationId);
    expect(theirs.reference).toBe(ours.reference);
  });

  it('tells references apart by every character: case, spaces and how accents are written', async () => {
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

  it('lets one of twenty creations at once have the reference; the others are told which', async () => {
    const reference = newReference();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post(brebPayin({ reference, amountInCents: 100 + index }))),
    );
    const winners = answers.filter((answer) => answer.status === 201);
    const losers = answers.filter((answer) => answer.status !== 201);
    expect(winners).toHaveLength(1);
    for (const loser of losers) {
      expect(problemOf(loser)).toEqual(REFERENCE_TAKEN);
      expect(loser.body).toMatchObject({ existingId: winners[0]?.body.id });
    }
    const { data } = await listPage(stack.api, `?reference=${reference}`);
    expect(data.map(({ id }) => id)).toEqual([winners[0]?.body.id]);
  });

  it('is told even with an Idempotency-Key, and the key stays free for another request', async () => {
    const taken = await createPayin(stack.api, brebPayin());
    const key = newKey();
    const refused = await post(brebPayin({ reference: taken.reference }), key);
    expect(problemOf(refused)).toEqual(REFERENCE_TAKEN);
    const created = await post(brebPayin({ amountInCents: 1 }), key);
    expect(created.status).toBe(201);
    expect(replayed(created)).toBeNull();
  });
});

describe('Idempotency-Key', () => {
  it.each([
    { what: 'a BRE_B payin', request: () => brebPayin() },
    { what: 'a BRE_B payin with its QR code', request: () => brebPayin({ breb: { keyType: 'QR_CODE' } }) },
    { what: 'a PSE payin with its bank page', request: () => psePayin() },
    { what: 'a PSE payin without a customer', request: () => without(psePayin(), 'inlineCustomer') },
  ])('gives a repeat the same 201, byte for byte, and says so: $what', async ({ request }) => {
    const body = request();
    const key = newKey();
    const first = await post(body, key);
    const second = await post(body, key);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
    expect([replayed(first), replayed(second)]).toEqual([null, 'true']);
  });

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

  it('creates one payin for twenty equal requests at once, and every one is answered with it', async () => {
    const body = brebPayin();
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(body, key)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
  });

  it('lets one of twenty different requests at once have the key; the others are mismatches', async () => {
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post(brebPayin({ amountInCents: 100 + index }), key)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const refused of answers.filter(({ status }) => status !== 201))
      expect(problemOf(refused)).toEqual(MISMATCH);
  });

  it('does not mind the order of members, white space or how numbers and letters are written', async () => {
    const key = newKey();
    const body = brebPayin({ amountInCents: 120, callbackUrl: 'https://shop.example.com/ñ' });
    const first = await post(body, key);
    const reversed = (value: unknown): unknown =>
      value !== null && typeof value === 'object'
        ? Object.fromEntries(
            Object.entries(value)
              .map(([name, member]) => [name, reversed(member)] as const)
              .toReversed(),
          )
        : value;
    const forms = [
      JSON.stringify(reversed(body)),
      JSON.stringify(body, null, '\t'),
      `\n ${JSON.stringify(body)} \r\n`,
      JSON.stringify(body).replace(':120,', ':1.2e2,'),
      JSON.stringify(body).replaceAll('ñ', '\\u00f1').replace('"COP"', '"\\u0043OP"'),
    ];
    expect(new Set([...forms, JSON.stringify(body)]).size).toBe(6);
    for (const raw of forms) {
      const repeat = await stack.api.request<PayinBody>('POST', '/payins', { raw, headers: key });
      expect([repeat.status, replayed(repeat), repeat.text]).toEqual([201, 'true', first.text]);
    }
  });

  it.each([
    { what: 'the amount', changes: { amountInCents: 4_980_001 } },
    { what: 'the reference', changes: { reference: 'another' } },
    { what: 'a letter of the name', changes: { inlineCustomer: { ...CUSTOMER, name: 'Ana Maria Rojas' } } },
    { what: 'the kind of key', changes: { breb: { keyType: 'QR_CODE' } } },
    { what: 'a field more', changes: { callbackUrl: 'https://shop.example.com/' } },
    { what: 'a field less', changes: { inlineCustomer: undefined } },
    { what: 'a member that is not used', changes: { breb: { keyType: 'SINGLE_USE', keyString: '@X' } } },
  ])('answers 422 when the body differs in $what, and creates nothing', async ({ changes }) => {
    const body = brebPayin();
    const key = newKey();
    const first = await createPayin(stack.api, body, key);
    const [newest] = (await listPage(stack.api, '?pageSize=1')).data;
    const second = await post({ ...body, ...changes }, key);
    expect(problemOf(second)).toEqual(MISMATCH);
    expect(second.text).not.toContain(first.id);
    expect((await listPage(stack.api, '?pageSize=1')).data[0]?.id).toBe(newest?.id);
  });

  it('still gives the first request its answer after a mismatch', async () => {
    const body = brebPayin();
    const key = newKey();
    const first = await post(body, key);
    await post({ ...body, amountInCents: 1 }, key);
    expect((await post(body, key)).text).toBe(first.text);
  });

  it('belongs to one organization: another one’s equal key is a key of its own', async () => {
    const body = brebPayin();
    const key = newKey();
    const ours = await post(body, key);
    const theirs = await post(body, key, other);
    expect([ours.status, theirs.status]).toEqual([201, 201]);
    expect(replayed(theirs)).toBeNull();
    expect(theirs.body.id).not.toBe(ours.body.id);
    expect((await post({ ...body, reference: newReference() }, key, other)).status).toBe(422);
  });

  it('tells keys apart by every character', async () => {
    const { 'idempotency-key': key } = newKey();
    const ids = new Set<string>();
    for (const each of [key, key.toUpperCase(), `${key}.`, `"${key}"`])
      ids.add((await createPayin(stack.api, brebPayin(), { 'idempotency-key': each })).id);
    expect(ids.size).toBe(4);
  });

  it('is the organization’s, not the credential’s: a repeat with another of its keys is a repeat', async () => {
    const { organizationId } = stack.organization;
    const made = await driver.newKey(organizationId);
    const body = brebPayin();
    const key = newKey();
    const first = await post(body, key);
    const second = await post(body, key, stack.api.as(made.apiKey));
    expect([second.text, replayed(second)]).toEqual([first.text, 'true']);
  });

  it('does not remember a refused request: 400 first, then 201 with the same key', async () => {
    const key = newKey();
    const body = brebPayin();
    expect((await post({ ...body, amountInCents: 0 }, key)).status).toBe(400);
    expect((await post({ ...body, note: 'x' }, key)).status).toBe(400);
    const created = await post(body, key);
    expect([created.status, replayed(created)]).toEqual([201, null]);
  });

  it('frees the other requests of a batch when the first with their key came to nothing', async () => {
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

  it('renders the payin as it was created, never a later state', async () => {
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
    expect([repeat.text, replayed(repeat)]).toEqual([first.text, 'true']);
  });

  it('keeps saying 201 and the same page for a PSE payin that was declined since', async () => {
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

  it('makes a repeat of a PSE payin still PENDING wait for the bank page with the first', async () => {
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

  it('answers 409 idempotency_in_flight when the first request holds on for too long, and the repeat then succeeds', async () => {
    const body = brebPayin();
    const key = newKey();
    const first = await post(body, key);
    await whileLocked(
      'select 1 from caudal.idempotency_keys where resource_id = $1 for update',
      [first.body.id],
      async () => {
        expect(problemOf(await post(body, key))).toEqual({ status: 409, code: 'idempotency_in_flight' });
      },
    );
    expect((await post(body, key)).text).toBe(first.text);
  });

  it('answers 503 with Retry-After when a request without a key cannot be decided in time', async () => {
    const body = brebPayin();
    const first = await createPayin(stack.api, body);
    await whileLocked(
      'select 1 from caudal.resource_references where resource_id = $1 for update',
      [first.id],
      async () => {
        const answer = await post(body);
        expect(problemOf(answer)).toEqual({ status: 503, code: 'service_unavailable' });
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      },
    );
    expect((await post(body)).status).toBe(409);
  });

  it('holds up nobody else meanwhile', async () => {
    const body = brebPayin();
    const key = newKey();
    const first = await post(body, key);
    await whileLocked(
      'select 1 from caudal.idempotency_keys where resource_id = $1 for update',
      [first.body.id],
      async () => {
        const answers = await Promise.all([post(body, key), post(brebPayin()), post(brebPayin(), {}, other)]);
        expect(answers.map(({ status }) => status)).toEqual([409, 201, 201]);
      },
    );
  });

  it('is accepted and ignored where nothing is created', async () => {
    const key = newKey();
    const first = await stack.api.get('/payins?pageSize=1', key);
    await createPayin(stack.api, brebPayin());
    const second = await stack.api.get('/payins?pageSize=1', key);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.text).not.toBe(first.text);
    expect((await stack.api.get('/pse/banks', { 'idempotency-key': 'ñ'.repeat(300) })).status).toBe(200);
  });

  it('still gives a repeat its answer 29 days and 23 hours later, and without the key a 409', async () => {
    const body = brebPayin();
    const key = newKey();
    const first = await post(body, key);
    await stack.database.query(`select caudal.shift_time('29 days 23 hours')`);
    const repeat = await post(body, key);
    expect([repeat.text, replayed(repeat)]).toEqual([first.text, 'true']);
    expect(problemOf(await post(body))).toEqual(REFERENCE_TAKEN);
  });
});
