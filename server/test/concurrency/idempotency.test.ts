import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApiClient, ApiResponse } from '../harness/api-client.ts';
import { payinInvariantViolations, rowCounts } from '../harness/consistency.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { brebPayin, newReference, psePayin } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const TIMES = 100;
const ORGANIZATIONS = 20;

let stack: Stack;
let inProcess: InProcess;
/** A new organization per test, so that its rows can be counted. */
let organizationId: string;
let api: ApiClient;

beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 2 });
  inProcess = await composeInProcess(stack.settings);
});
afterAll(async () => {
  await inProcess?.close();
  await stack?.stop();
});
beforeEach(async () => {
  const created = await inProcess.newOrganization();
  organizationId = created.principal.organization.id;
  api = stack.api.as(created.apiKey);
});

const RAILS = [
  { rail: 'BRE_B', request: brebPayin, historyRows: 1 },
  { rail: 'PSE', request: psePayin, historyRows: 2 },
];

/** All in parallel, alternating between the two API processes. */
function inParallel<T>(items: readonly T[], send: (api: ApiClient, item: T) => Promise<ApiResponse>) {
  return Promise.all(items.map((item, index) => send(api.at(stack.apis[index % 2]?.url ?? ''), item)));
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function countByCode(answers: readonly ApiResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = status < 400 ? String(status) : `${status} ${String(body['code'])}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function distinct(values: readonly unknown[]): unknown[] {
  return [...new Set(values)];
}

function isReplay(answer: ApiResponse): boolean {
  return answer.headers.get('idempotent-replayed') === 'true';
}

describe.each(RAILS)('equal concurrent creations on $rail, over two API processes', (each) => {
  it('create one payin with a hundred equal responses when they share an Idempotency-Key', async () => {
    const body = each.request();
    const key = randomUUID();
    const answers = await inParallel(
      times(TIMES, () => body),
      (to) => to.post('/payins', body, { 'idempotency-key': key }),
    );
    expect(countByCode(answers)).toEqual({ 201: TIMES });
    expect(distinct(answers.map((answer) => answer.text))).toHaveLength(1);
    expect(answers.filter((answer) => !isReplay(answer))).toHaveLength(1);
    expect(answers[0]?.body['status']).toBe('PROCESSING');
    const later = await api.post('/payins', body, { 'idempotency-key': key });
    expect(later.text).toBe(answers[0]?.text);
    expect(await rowCounts(stack.database, organizationId)).toEqual({
      payins: 1,
      creations: 1,
      brebKeys: each.rail === 'BRE_B' ? 1 : 0,
      references: 1,
      idempotencyKeys: 1,
    });
    const transitions = await stack.database.query(
      'select from_status from caudal.payin_history where organization_id = $1',
      [organizationId],
    );
    expect(transitions).toHaveLength(each.historyRows);
  });

  it('create one payin with ninety-nine conflicts that name it when they share a reference without a key', async () => {
    const body = each.request();
    const answers = await inParallel(
      times(TIMES, () => body),
      (to) => to.post('/payins', body),
    );
    expect(countByCode(answers)).toEqual({ 201: 1, '409 reference_taken': TIMES - 1 });
    const created = answers.find((answer) => answer.status === 201);
    const existingIds = answers
      .filter((answer) => answer.status === 409)
      .map((answer) => answer.body['existingId']);
    expect(distinct(existingIds)).toEqual([created?.body['id']]);
    expect(await rowCounts(stack.database, organizationId)).toEqual({
      payins: 1,
      creations: 1,
      brebKeys: each.rail === 'BRE_B' ? 1 : 0,
      references: 1,
      idempotencyKeys: 0,
    });
  });
});

describe('conflicting concurrent creations, over two API processes', () => {
  it('let one of two bodies under one key win: its retries are replays and the other body is a mismatch', async () => {
    const bodies = [brebPayin({ amountInCents: 100_000 }), brebPayin({ amountInCents: 200_000 })];
    const key = randomUUID();
    // Not alternating with the processes: each body must reach both of them.
    const sent = times(TIMES, (index) => bodies[Math.floor(index / 2) % 2]);
    const answers = await inParallel(sent, (to, body) =>
      to.post('/payins', body, { 'idempotency-key': key }),
    );
    expect(countByCode(answers)).toEqual({ 201: TIMES / 2, '422 idempotency_mismatch': TIMES / 2 });
    const created = answers.filter((answer) => answer.status === 201);
    expect(distinct(created.map((answer) => answer.text))).toHaveLength(1);
    expect(created.filter((answer) => !isReplay(answer))).toHaveLength(1);
    const winners = sent.filter((_, index) => answers[index]?.status === 201);
    expect(distinct(winners)).toHaveLength(1);
    expect(created[0]?.body['amountInCents']).toBe(winners[0]?.['amountInCents']);
    expect(await rowCounts(stack.database, organizationId)).toEqual({
      payins: 1,
      creations: 1,
      brebKeys: 1,
      references: 1,
      idempotencyKeys: 1,
    });
  });

  it('have the same result when two bodies also share their reference', async () => {
    const first = brebPayin({ amountInCents: 100_000 });
    const bodies = [first, { ...first, amountInCents: 200_000 }];
    const key = randomUUID();
    const sent = times(40, (index) => bodies[Math.floor(index / 2) % 2]);
    const answers = await inParallel(sent, (to, body) =>
      to.post('/payins', body, { 'idempotency-key': key }),
    );
    expect(countByCode(answers)).toEqual({ 201: 20, '422 idempotency_mismatch': 20 });
    expect((await rowCounts(stack.database, organizationId)).payins).toBe(1);
  });

  it('do not store the keys of requests whose reference was taken', async () => {
    const body = brebPayin();
    const keys = times(60, () => randomUUID());
    const answers = await inParallel(keys, (to, key) => to.post('/payins', body, { 'idempotency-key': key }));
    expect(countByCode(answers)).toEqual({ 201: 1, '409 reference_taken': 59 });
    const winner = answers.findIndex((answer) => answer.status === 201);
    const losers = keys.filter((_, index) => index !== winner);
    const again = await inParallel(losers, (to, key) =>
      to.post('/payins', { ...body, reference: newReference() }, { 'idempotency-key': key }),
    );
    expect(countByCode(again)).toEqual({ 201: 59 });
    expect(again.filter(isReplay)).toEqual([]);
    const repeated = await api.post('/payins', body, { 'idempotency-key': keys[winner] ?? '' });
    expect(repeated.text).toBe(answers[winner]?.text);
    expect(isReplay(repeated)).toBe(true);
    expect(await rowCounts(stack.database, organizationId)).toEqual({
      payins: 60,
      creations: 60,
      brebKeys: 60,
      references: 60,
      idempotencyKeys: 60,
    });
  });

  it('release a key whose first body had a taken reference, for another body', async () => {
    const taken = brebPayin();
    const existing = await api.post('/payins', taken);
    const key = randomUUID();
    const fresh = brebPayin();
    const sent = times(40, (index) => (Math.floor(index / 2) % 2 === 0 ? taken : fresh));
    const answers = await inParallel(sent, (to, body) =>
      to.post('/payins', body, { 'idempotency-key': key }),
    );
    const freshAnswers = answers.filter((_, index) => sent[index] === fresh);
    expect(countByCode(freshAnswers)).toEqual({ 201: 20 });
    expect(distinct(freshAnswers.map((answer) => answer.text))).toHaveLength(1);
    for (const answer of answers.filter((_, index) => sent[index] === taken)) {
      // A conflict before the other body has the key, a mismatch afterwards.
      expect(['reference_taken', 'idempotency_mismatch']).toContain(answer.body['code']);
      expect([existing.body['id'], undefined]).toContain(answer.body['existingId']);
    }
    expect((await rowCounts(stack.database, organizationId)).payins).toBe(2);
  });
});

describe('concurrent creations of many organizations, over two API processes', () => {
  it('are independent: equal references and keys of twenty organizations create ten payins each', async () => {
    const organizations = await Promise.all(times(ORGANIZATIONS, () => inProcess.newOrganization()));
    const bodies = times(10, (index) => (index % 2 === 0 ? brebPayin() : psePayin()));
    const sent = bodies.flatMap((body) => organizations.map((organization) => ({ body, ...organization })));
    const answers = await inParallel(sent, (to, { body, apiKey }) =>
      to.post('/payins', body, { 'x-api-key': apiKey, 'idempotency-key': String(body['reference']) }),
    );
    expect(countByCode(answers)).toEqual({ 201: 200 });
    expect(answers.filter(isReplay)).toEqual([]);
    expect(distinct(answers.map((answer) => answer.body['id']))).toHaveLength(200);
    for (const [index, answer] of answers.entries())
      expect(answer.body['organizationId']).toBe(sent[index]?.principal.organization.id);
    for (const { principal } of organizations) {
      expect(await rowCounts(stack.database, principal.organization.id)).toEqual({
        payins: 10,
        creations: 10,
        brebKeys: 5,
        references: 10,
        idempotencyKeys: 10,
      });
    }
  });
});

describe('after all tests', () => {
  it('the database rows are consistent', async () => {
    expect(await payinInvariantViolations(stack.database)).toEqual([]);
  });

  it('Bre-B has every key once and PSE one transaction per payin', async () => {
    await until('every key is registered and every bank page is known', async () => {
      const [row] = await stack.database.query<{ waiting: number }>(
        `select ((select count(*) from caudal.breb_keys where registered_at is null)
           + (select count(*) from caudal.payins where status = 'PENDING'))::int as waiting`,
      );
      return row?.waiting === 0;
    });
    const [expected] = await stack.database.query<{ keys: number; transactions: number }>(
      `select count(*) filter (where rail = 'BRE_B')::int as keys,
         count(*) filter (where rail = 'PSE')::int as transactions from caudal.payins`,
    );
    const stats = (await (await fetch(`${stack.simulatorUrl}/control/stats`)).json()) as {
      keys: { registered: number };
      transactions: number;
    };
    expect({ keys: stats.keys.registered, transactions: stats.transactions }).toEqual(expected);
  });
});
