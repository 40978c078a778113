import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PayinDriver } from '../harness/payin-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';

let stack: Stack;
let driver: PayinDriver;
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 1, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayinDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
});

const SECRET = 'dev-breb-notice-secret-of-one-machine';

interface Sending {
  readonly secret?: string;
  readonly timestamp?: number;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function send(body: string, sending: Sending = {}): Promise<Response> {
  const timestamp = String(sending.timestamp ?? Math.floor(Date.now() / 1000));
  const digits = createHmac('sha256', sending.secret ?? SECRET)
    .update(`${timestamp}.${body}`)
    .digest('hex');
  return fetch((stack.apis[0]?.url ?? '') + (sending.path ?? '/rail-notices/breb'), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-notice-timestamp': timestamp,
      'x-notice-signature': `v1=${digits}`,
      ...sending.headers,
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

const stored = async () =>
  (await driver.query<{ count: number }>('select count(*)::int as count from caudal.rail_notices'))[0]
    ?.count ?? 0;

describe('what is refused leaves nothing behind', () => {
  it.each<[string, string, Sending, number]>([
    [
      'a signature of another secret',
      JSON.stringify({ notices: [settled('@X')] }),
      { secret: 'x'.repeat(40) },
      401,
    ],
    [
      'a signature of PSE at the door of Bre-B',
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
    ['a signature that is no such thing', '{}', { headers: { 'x-notice-signature': 'sha1=abc' } }, 401],
    ['no timestamp that is one', '{}', { headers: { 'x-notice-timestamp': 'now' } }, 401],
    [
      'a message of ten minutes ago, played again',
      JSON.stringify({ notices: [settled('@X')] }),
      { timestamp: Math.floor(Date.now() / 1000) - 600 },
      401,
    ],
    ['what is not JSON', '{"notices":', {}, 400],
    ['no list', '{"notices":{}}', {}, 400],
    ['an empty list', '{"notices":[]}', {}, 400],
    [
      'more than a hundred',
      JSON.stringify({ notices: Array.from({ length: 101 }, () => settled('@X')) }),
      {},
      400,
    ],
    ['nothing at all', '', {}, 400],
  ])('%s', async (_what, body, sending, status) => {
    const before = await stored();
    const answer = await send(body, sending);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(await stored()).toBe(before);
  });
});

describe('what is accepted', () => {
  it('is on disk when 200 is answered, encrypted as it came', async () => {
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

  it('about a key that nobody knows is asked about, and becomes an anomaly without money', async () => {
    const notice = settled('@CDLNEVERREGISTERED');
    await send(JSON.stringify({ notices: [notice] }));
    await driver.nothingMoreToHear(stack);
    const rows = await driver.query<{
      kind: string;
      amount_in_cents: string | null;
      payin_id: string | null;
    }>('select kind, amount_in_cents, payin_id from caudal.anomalies where execution_id = $1', [
      notice.executionId,
    ]);
    expect(rows).toEqual([{ kind: 'unmatched', amount_in_cents: null, payin_id: null }]);
  });

  it('announcing a payment that the rail knows nothing of confirms nothing when the amount is odd', async () => {
    const { payin, key } = await driver.breb();
    await send(JSON.stringify({ notices: [settled(key, { amount: '1.00' })] }));
    await driver.nothingMoreToHear(stack);
    expect((await driver.get(payin.id)).status).toBe('PROCESSING');
    expect(await driver.anomalies(payin.id)).toMatchObject([{ kind: 'unconfirmed', cents: null }]);
    expect(await driver.transfers(payin.id)).toEqual([]);
  });

  it('but cannot be read is kept for a person, and its neighbours are applied', async () => {
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
    await driver.reaches(payin.id, 'CONFIRMED');
    const [row] = await driver.query<{ count: number }>(
      "select count(*)::int as count from caudal.rail_notices where word = 'unreadable' and task is null",
    );
    expect(row?.count).toBe(4);
    expect(await stack.command('notices', 'unreadable')).toContain('{"type":"SETTLED","surprise":true}');
  });

  it('with a character that no database takes is kept as unreadable, and its neighbours are stored', async () => {
    const { payin, key } = await driver.breb();
    const answer = await send(JSON.stringify({ notices: [settled('@A\u0000B'), settled(key)] }));
    expect(answer.status).toBe(200);
    await driver.reaches(payin.id, 'CONFIRMED');
  });

  it('a hundred times over is one payment', async () => {
    const { payin, key } = await driver.breb();
    const body = JSON.stringify({ notices: [settled(key)] });
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await driver.reaches(payin.id, 'CONFIRMED');
    await driver.quiet();
    expect(await driver.transfers(payin.id)).toHaveLength(1);
    expect(await driver.events(payin.id)).toHaveLength(1);
    expect(await driver.anomalies(payin.id)).toEqual([]);
  });
});

it('an end without money that contradicts a payment is an anomaly, and changes nothing', async () => {
  const { payin, key } = await driver.breb();
  await driver.simulator.pay({ key });
  const confirmed = await driver.reaches(payin.id, 'CONFIRMED');
  await driver.simulator.endKey({ key, outcome: 'REJECTED', anyway: true });
  await driver.quiet();
  expect(await driver.anomalies(payin.id)).toMatchObject([{ kind: 'contradiction', cents: null }]);
  const { body } = await stack.api.get(`/payins/${payin.id}`);
  expect(body).toMatchObject({
    ...confirmed,
    anomalies: [{ kind: 'CONTRADICTION', amount: null, resolvedAt: null }],
  });
});

it('a decline is not believed before the rail, asked, stands by it', async () => {
  const { payin, key } = await driver.breb();
  // Paid, but the notice of it is lost; then a false decline comes.
  await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
  await driver.simulator.pay({ key });
  await driver.simulator.endKey({ key, outcome: 'CANCELED', anyway: true });
  expect(await driver.reaches(payin.id, 'CONFIRMED')).toMatchObject({
    confirmedAmountInCents: payin.amountInCents,
  });
});
