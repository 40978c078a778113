import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PayinDriver } from '../harness/payin-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';

let stack: Stack;
let driver: PayinDriver;
beforeAll(async () => {
  stack = await startStack({
    apis: 1,
    workers: 1,
    settings: { CAUDAL_WORKER_POLL_MS: '20', CAUDAL_SETTLEMENT_DELAY_MINUTES: '600' },
  });
  driver = new PayinDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
});

const SECRET = 'dev-breb-notice-secret-of-one-machine';

interface SendOptions {
  readonly secret?: string;
  readonly timestamp?: number;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function send(body: string, options: SendOptions = {}): Promise<Response> {
  const timestamp = String(options.timestamp ?? Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', options.secret ?? SECRET)
    .update(`${timestamp}.${body}`)
    .digest('hex');
  return fetch((stack.apis[0]?.url ?? '') + (options.path ?? '/rail-notices/breb'), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-notice-timestamp': timestamp,
      'x-notice-signature': `v1=${signature}`,
      ...options.headers,
    },
    body,
  });
}

const settled = (key: string, changes: object = {}) => ({
  noticeId: randomUUID(),
  type: 'SETTLED',
  key,
  internalId: randomUUID(),
  executionId: randomUUID(),
  endToEndId: 'e2e',
  amount: '49800.00',
  currency: 'COP',
  code: null,
  at: new Date().toISOString(),
  ...changes,
});

const countStored = async () =>
  (await driver.query<{ count: number }>('select count(*)::int as count from caudal.rail_notices'))[0]
    ?.count ?? 0;

describe('a rejected notification request stores nothing', () => {
  it.each<[string, string, SendOptions, number]>([
    [
      'a signature with another secret',
      JSON.stringify({ notices: [settled('@X')] }),
      { secret: 'x'.repeat(40) },
      401,
    ],
    [
      'a PSE signature at the Bre-B endpoint',
      JSON.stringify({ notices: [settled('@X')] }),
      { secret: 'dev-pse-notice-secret-of-one-machine' },
      401,
    ],
    [
      'a body changed after signing',
      JSON.stringify({ notices: [settled('@X')] }),
      { headers: { 'x-notice-signature': `v1=${'0'.repeat(64)}` } },
      401,
    ],
    ['a malformed signature', '{}', { headers: { 'x-notice-signature': 'sha1=abc' } }, 401],
    ['a malformed timestamp', '{}', { headers: { 'x-notice-timestamp': 'now' } }, 401],
    [
      'a replay of a ten-minute-old request',
      JSON.stringify({ notices: [settled('@X')] }),
      { timestamp: Math.floor(Date.now() / 1000) - 600 },
      401,
    ],
    ['invalid JSON', '{"notices":', {}, 400],
    ['no list', '{"notices":{}}', {}, 400],
    ['an empty list', '{"notices":[]}', {}, 400],
    [
      'more than a hundred notifications',
      JSON.stringify({ notices: Array.from({ length: 101 }, () => settled('@X')) }),
      {},
      400,
    ],
    ['an empty body', '', {}, 400],
  ])('%s', async (_what, body, options, status) => {
    const before = await countStored();
    const answer = await send(body, options);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(await countStored()).toBe(before);
  });
});

describe('a notification nested five thousand levels deep', () => {
  const DEEP = 5000;
  const deep = `{"noticeId":"x","nested":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`;

  it('is rejected with 400, and the others of its request are stored', async () => {
    const good = [settled('@CDLBESIDEDEEPONE'), settled('@CDLBESIDEDEEPTWO')];
    const [first, second] = good.map((notice) => JSON.stringify(notice));
    const before = await countStored();
    const answer = await send(`{"notices":[${first},${deep},${second}]}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: 'notices.1', code: 'too_deep' }],
    });
    const stored = await driver.query<{ reference: string }>(
      'select reference from caudal.rail_notices where notice_id = any($1) order by reference',
      [good.map(({ noticeId }) => noticeId)],
    );
    expect(stored.map(({ reference }) => reference)).toEqual(['@CDLBESIDEDEEPONE', '@CDLBESIDEDEEPTWO']);
    expect(await countStored()).toBe(before + 2);
  });

  it('is rejected with 400 when it is alone', async () => {
    const before = await countStored();
    expect((await send(`{"notices":[${deep}]}`)).status).toBe(400);
    expect(await countStored()).toBe(before);
  });
});

it('rejects a request above 256 KiB and says that limit', async () => {
  const headers = { 'content-type': 'application/json', 'content-length': 256 * 1024 + 1 };
  const post = request(`${stack.apis[0]?.url}/rail-notices/breb`, { method: 'POST', headers });
  // The body is never sent: the server closes the connection after its answer, which a client that still writes may not read.
  post.flushHeaders();
  const [answer] = (await once(post, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(413);
  expect(await json(answer)).toMatchObject({ detail: expect.stringContaining('256 KiB') });
  post.on('error', () => {}).destroy();
});

describe('an accepted notification', () => {
  it('is stored encrypted before the 200 response', async () => {
    const notice = settled('@CDLNOBODYKNOWSTHIS');
    const answer = await send(JSON.stringify({ notices: [notice] }));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ accepted: 1 });
    const [row] = await driver.query<{ reference: string; raw: Buffer }>(
      'select reference, raw from caudal.rail_notices where notice_id = $1',
      [notice.noticeId],
    );
    expect(row?.reference).toBe('@CDLNOBODYKNOWSTHIS');
    expect(row?.raw.includes('NOBODYKNOWS')).toBe(false);
  });

  it('for an unknown key is verified by polls and becomes an anomaly without money', async () => {
    const notice = settled('@CDLNEVERREGISTERED');
    await send(JSON.stringify({ notices: [notice] }));
    await driver.passProcessingWindow(stack);
    const rows = await driver.query<{
      kind: string;
      amount_in_cents: string | null;
      payin_id: string | null;
    }>('select kind, amount_in_cents, payin_id from caudal.anomalies where execution_id = $1', [
      notice.executionId,
    ]);
    expect(rows).toEqual([{ kind: 'unmatched', amount_in_cents: null, payin_id: null }]);
  });

  it('of a payment the rail does not know confirms nothing when the amount differs', async () => {
    const { payin, key } = await driver.breb();
    await send(JSON.stringify({ notices: [settled(key, { amount: '1.00' })] }));
    await driver.passProcessingWindow(stack);
    expect((await driver.get(payin.id)).status).toBe('PROCESSING');
    expect(await driver.anomalies(payin.id)).toMatchObject([{ kind: 'unconfirmed', cents: null }]);
    expect(await driver.transfers(payin.id)).toEqual([]);
  });

  it('that cannot be parsed is kept for an operator, and the others of the request are applied', async () => {
    const { payin, key } = await driver.breb();
    const answer = await send(
      JSON.stringify({
        notices: [
          { type: 'SETTLED', surprise: true },
          settled(key),
          null,
          7,
          settled('@X', { amount: '-1.00' }),
        ],
      }),
    );
    expect(answer.status).toBe(200);
    await driver.waitForStatus(payin.id, 'CONFIRMED');
    const [row] = await driver.query<{ count: number }>(
      "select count(*)::int as count from caudal.rail_notices where kind = 'unreadable' and task is null",
    );
    expect(row?.count).toBe(4);
    expect(await stack.command('notices', 'unreadable')).toContain('{"type":"SETTLED","surprise":true}');
  });

  it('with a NUL character is kept as unreadable, and the others of the request are stored', async () => {
    const { payin, key } = await driver.breb();
    const answer = await send(JSON.stringify({ notices: [settled('@A\u0000B'), settled(key)] }));
    expect(answer.status).toBe(200);
    await driver.waitForStatus(payin.id, 'CONFIRMED');
  });

  it('delivered a hundred times is one payment', async () => {
    const { payin, key } = await driver.breb();
    // The rail lists the payment: otherwise it becomes an anomaly after the rail's processing time, which a slow test exceeds.
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
    const [paid] = await driver.simulator.pay({ key });
    const body = JSON.stringify({ notices: [settled(key, { executionId: paid?.executionId })] });
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await driver.waitForStatus(payin.id, 'CONFIRMED');
    await driver.waitUntilIdle();
    expect(await driver.transfers(payin.id)).toHaveLength(1);
    expect(await driver.events(payin.id)).toHaveLength(1);
    expect(await driver.anomalies(payin.id)).toEqual([]);
  });
});

it('a rejection that contradicts a payment is an anomaly and changes nothing', async () => {
  const { payin, key } = await driver.breb();
  await driver.simulator.pay({ key });
  const confirmed = await driver.waitForStatus(payin.id, 'CONFIRMED');
  await driver.simulator.endKey({ key, outcome: 'REJECTED', anyway: true });
  await driver.waitUntilIdle();
  expect(await driver.anomalies(payin.id)).toMatchObject([{ kind: 'contradiction', cents: null }]);
  const { body } = await stack.api.get(`/payins/${payin.id}`);
  expect(body).toMatchObject({
    ...confirmed,
    anomalies: [{ kind: 'CONTRADICTION', amount: null, resolvedAt: null }],
  });
});

it('a decline is applied only after a status poll confirms it', async () => {
  const { payin, key } = await driver.breb();
  // The payin is paid but its notification is lost; then a false decline arrives.
  await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
  await driver.simulator.pay({ key });
  await driver.simulator.endKey({ key, outcome: 'CANCELED', anyway: true });
  expect(await driver.waitForStatus(payin.id, 'CONFIRMED')).toMatchObject({
    confirmedAmountInCents: payin.amountInCents,
  });
});
