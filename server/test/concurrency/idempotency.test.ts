import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer, ApiClient } from '../harness/api-client.ts';
import { contradictions, rowCounts } from '../harness/consistency.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { brebPayin, newReference, psePayin } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const TIMES = 100;
const ORGANIZATIONS = 20;

let stack: Stack;
let inProcess: InProcess;
/** A new organization for every test, so that its rows can be counted. */
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
  const made = await inProcess.newOrganization();
  organizationId = made.principal.organization.id;
  api = stack.api.as(made.apiKey);
});

const RAILS = [
  { rail: 'BRE_B', request: brebPayin, historyRows: 1 },
  { rail: 'PSE', request: psePayin, historyRows: 2 },
];

/** All at once, every other one to the other API process. */
function inParallel<T>(items: readonly T[], send: (api: ApiClient, item: T) => Promise<Answer>) {
  return Promise.all(items.map((item, index) => send(api.at(stack.apis[index % 2]?.url ?? ''), item)));
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function codes(answers: readonly Answer[]): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = status < 400 ? String(status) : `${status} ${String(body['code'])}`;
    counted[name] = (counted[name] ?? 0) + 1;
  }
  return counted;
}

function distinct(values: readonly unknown[]): unknown[] {
  return [...new Set(values)];
}

function isReplay(answer: Answer): boolean {
  return answer.headers.get('idempotent-replayed') === 'true';
}

describe.each(RAILS)('equal creations at the same time on $rail, over two API processes', (each) => {
  it('make one payin and a hundred equal answers when they carry one Idempotency-Key', async () => {
    const body = each.request();
    const key = randomUUID();
    const answers = await inParallel(
      times(TIMES, () => body),
      (to) => to.post('/payins', body, { 'idempotency-key': key }),
    );
    expect(codes(answers)).toEqual({ 201: TIMES });
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
    const moves = await stack.database.query(
      'select from_status from caudal.payin_history where organization_id = $1',
      [organizationId],
    );
    expect(moves).toHaveLength(each.historyRows);
  });

  it('make one payin and ninety-nine conflicts that name it when they share a reference and carry no key', async () => {
    const body = each.request();
    const answers = await inParallel(
      times(TIMES, () => body),
      (to) => to.post('/payins', body),
    );
    expect(codes(answers)).toEqual({ 201: 1, '409 reference_taken': TIMES - 1 });
    const created = answers.find((answer) => answer.status === 201);
    const named = answers
      .filter((answer) => answer.status === 409)
      .map((answer) => answer.body['existingId']);
    expect(distinct(named)).toEqual([created?.body['id']]);
    expect(await rowCounts(stack.database, organizationId)).toEqual({
      payins: 1,
      creations: 1,
      brebKeys: each.rail === 'BRE_B' ? 1 : 0,
      references: 1,
      idempotencyKeys: 0,
    });
  });
});

describe('creations that contradict each other at the same time, over two API processes', () => {
  it('let one of two bodies under one key win: its repeats replay it and the other body is a mismatch', async () => {
    const bodies = [brebPayin({ amountInCents: 100_000 }), brebPayin({ amountInCents: 200_000 })];
    const key = randomUUID();
    // Not in turn with the processes: each body must reach both of them.
    const sent = times(TIMES, (index) => bodies[Math.floor(index / 2) % 2]);
    const answers = await inParallel(sent, (to, body) =>
      to.post('/payins', body, { 'idempotency-key': key }),
    );
    expect(codes(answers)).toEqual({ 201: TIMES / 2, '422 idempotency_mismatch': TIMES / 2 });
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

  it('let two bodies that also share their reference end the same way', async () => {
    const first = brebPayin({ amountInCents: 100_000 });
    const bodies = [first, { ...first, amountInCents: 200_000 }];
    const key = randomUUID();
    const sent = times(40, (index) => bodies[Math.floor(index / 2) % 2]);
    const answers = await inParallel(sent, (to, body) =>
      to.post('/payins', body, { 'idempotency-key': key }),
    );
    expect(codes(answers)).toEqual({ 201: 20, '422 idempotency_mismatch': 20 });
    expect((await rowCounts(stack.database, organizationId)).payins).toBe(1);
  });

  it('do not remember the keys of those that lost their reference', async () => {
    const body = brebPayin();
    const keys = times(60, () => randomUUID());
    const answers = await inParallel(keys, (to, key) => to.post('/payins', body, { 'idempotency-key': key }));
    expect(codes(answers)).toEqual({ 201: 1, '409 reference_taken': 59 });
    const winner = answers.findIndex((answer) => answer.status === 201);
    const losers = keys.filter((_, index) => index !== winner);
    const again = await inParallel(losers, (to, key) =>
      to.post('/payins', { ...body, reference: newReference() }, { 'idempotency-key': key }),
    );
    expect(codes(again)).toEqual({ 201: 59 });
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

  it('free a key whose first body found its reference taken for the other body that is sent with it', async () => {
    const taken = brebPayin();
    const existing = await api.post('/payins', taken);
    const key = randomUUID();
    const fresh = brebPayin();
    const sent = times(40, (index) => (Math.floor(index / 2) % 2 === 0 ? taken : fresh));
    const answers = await inParallel(sent, (to, body) =>
      to.post('/payins', body, { 'idempotency-key': key }),
    );
    const ofFresh = answers.filter((_, index) => sent[index] === fresh);
    expect(codes(ofFresh)).toEqual({ 201: 20 });
    expect(distinct(ofFresh.map((answer) => answer.text))).toHaveLength(1);
    for (const answer of answers.filter((_, index) => sent[index] === taken)) {
      // Before the other body has the key it is a conflict, afterwards a mismatch.
      expect(['reference_taken', 'idempotency_mismatch']).toContain(answer.body['code']);
      expect([existing.body['id'], undefined]).toContain(answer.body['existingId']);
    }
    expect((await rowCounts(stack.database, organizationId)).payins).toBe(2);
  });
});

describe('creations of many organizations at the same time, over two API processes', () => {
  it('never meet: equal references and keys of twenty organizations make ten payins each', async () => {
    const organizations = await Promise.all(times(ORGANIZATIONS, () => inProcess.newOrganization()));
    const bodies = times(10, (index) => (index % 2 === 0 ? brebPayin() : psePayin()));
    const sent = bodies.flatMap((body) => organizations.map((organization) => ({ body, ...organization })));
    const answers = await inParallel(sent, (to, { body, apiKey }) =>
      to.post('/payins', body, { 'x-api-key': apiKey, 'idempotency-key': String(body['reference']) }),
    );
    expect(codes(answers)).toEqual({ 201: 200 });
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

describe('after all of it', () => {
  it('the rows of the database agree with each other', async () => {
    expect(await contradictions(stack.database)).toEqual([]);
  });

  it('the network has every key once and PSE one transaction for each payin', async () => {
    await until('every key is registered and every bank page known', async () => {
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
