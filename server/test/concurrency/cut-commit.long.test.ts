import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { expectWithin, stopwatch, within } from '../../../scripts/testing/expect-within.ts';
import { PRODUCTION_DEADLINES } from '../../../scripts/testing/patient-settings.ts';
import type { ApiResponse } from '../harness/api-client.ts';
import { payinInvariantViolations } from '../harness/consistency.ts';
import { brebPayin, psePayin } from '../harness/payin-requests.ts';
import { type CommitFate, PostgresProxy } from '../harness/postgres-proxy.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const DEADLINE_MS = 1000;

let proxy: PostgresProxy;
let stack: Stack;

beforeAll(async () => {
  proxy = await PostgresProxy.start(inject('postgres').adminUrl);
  stack = await startStack({
    settings: { ...PRODUCTION_DEADLINES, CAUDAL_DATABASE_DEADLINE_MS: String(DEADLINE_MS) },
    databaseUrl: (direct) => proxy.through(direct),
  });
});
afterEach(async () => {
  proxy?.heal();
  await until('the process is ready again', async () => (await readiness()).status === 200);
});
afterAll(async () => {
  proxy?.heal();
  await stack?.stop();
  await proxy?.close();
});

interface Creation {
  readonly body: Record<string, unknown>;
  readonly key: string;
}

function creations(count: number, make = brebPayin): Creation[] {
  return Array.from({ length: count }, () => ({ body: make(), key: randomUUID() }));
}

function create({ body, key }: Creation, api = stack.api): Promise<ApiResponse> {
  return api.post('/payins', body, { 'idempotency-key': key });
}

function ops(path: string): Promise<Response> {
  return fetch(`${stack.apis[0]?.opsUrl ?? ''}${path}`);
}

async function readiness(): Promise<{ status: number; reasons: string[] }> {
  const response = await ops('/readyz');
  const { reasons } = (await response.json()) as { reasons: string[] };
  return { status: response.status, reasons };
}

function countByCode(answers: readonly ApiResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = status < 400 ? String(status) : `${status} ${String(body['code'])}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function countReplays(answers: readonly ApiResponse[]): number {
  return answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true').length;
}

/** Number of payins per reference. */
async function countPayins(list: readonly Creation[]): Promise<number[]> {
  const rows = await stack.database.query<{ reference: string; count: number }>(
    'select reference, count(*)::int as count from caudal.payins where reference = any($1) group by reference',
    [list.map(({ body }) => body['reference'])],
  );
  const counts = new Map(rows.map((row) => [row.reference, row.count]));
  return list.map(({ body }) => counts.get(String(body['reference'])) ?? 0);
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const elapsedMs = stopwatch();
  const result = await work();
  return { result, ms: elapsedMs() };
}

describe('a connection cut at COMMIT', () => {
  it('returns outcome_unknown to every creation when PostgreSQL committed, and retries return the payins', async () => {
    const list = creations(30);
    proxy.injectCommitFault('caudal_batch', 'cut-after');
    const answers = await Promise.all(list.map((each) => create(each)));
    expect(countByCode(answers)).toEqual({ '503 outcome_unknown': 30 });
    for (const answer of answers) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    await until('all are committed', async () => (await countPayins(list)).every((count) => count === 1));
    proxy.heal();
    const repeats = await Promise.all(list.map((each) => create(each)));
    expect(countByCode(repeats)).toEqual({ 201: 30 });
    expect(countReplays(repeats)).toBe(30);
    expect(await countPayins(list)).toEqual(list.map(() => 1));
  });

  it('returns outcome_unknown to every creation when PostgreSQL did not commit, and retries create the payins', async () => {
    const list = creations(30);
    proxy.injectCommitFault('caudal_batch', 'cut-before');
    const answers = await Promise.all(list.map((each) => create(each)));
    expect(countByCode(answers)).toEqual({ '503 outcome_unknown': 30 });
    expect(await countPayins(list)).toEqual(list.map(() => 0));
    proxy.heal();
    const repeats = await Promise.all(list.map((each) => create(each)));
    expect(countByCode(repeats)).toEqual({ 201: 30 });
    expect(countReplays(repeats)).toBe(0);
    expect(await countPayins(list)).toEqual(list.map(() => 1));
  });

  it('lets retries with the same key converge to one payin each, however often it happens', async () => {
    const fates: CommitFate[] = [
      'cut-after',
      'pass',
      'cut-before',
      'notice',
      'cut-after',
      'cut-before',
      'pass',
    ];
    let commits = 0;
    proxy.injectCommitFault('caudal_batch', () => {
      commits += 1;
      return fates[commits % fates.length] ?? 'pass';
    });
    const list = [...creations(46), ...creations(4, psePayin)];
    let unknown = 0;
    const answers = await Promise.all(
      list.map((creation) =>
        until('the creation is answered', async () => {
          const answer = await create(creation);
          if (answer.status === 201) return answer;
          expect(countByCode([answer])).toEqual({ '503 outcome_unknown': 1 });
          unknown += 1;
          return false;
        }),
      ),
    );
    expect(unknown).toBeGreaterThan(0);
    expect(countByCode(answers)).toEqual({ 201: 50 });
    expect(new Set(answers.map((answer) => answer.body['id'])).size).toBe(50);
    expect(await countPayins(list)).toEqual(list.map(() => 1));
  });

  it('never lets a creation without a key create two payins: the retry gets the existing ID', async () => {
    const body = brebPayin();
    proxy.injectCommitFault('caudal_batch', 'cut-after');
    expect(countByCode([await stack.api.post('/payins', body)])).toEqual({ '503 outcome_unknown': 1 });
    proxy.heal();
    const [row] = await until('it is committed', async () => {
      const rows = await stack.database.query<{ id: string }>(
        'select id from caudal.payins where reference = $1',
        [body['reference']],
      );
      return rows.length > 0 ? rows : false;
    });
    const repeat = await stack.api.post('/payins', body);
    expect(countByCode([repeat])).toEqual({ '409 reference_taken': 1 });
    expect(repeat.body['existingId']).toBe(row?.id);
  });
});

describe('a connection cut before COMMIT', () => {
  it('is replaced and the batch is retried transparently', async () => {
    const list = creations(10);
    proxy.cutAt('caudal_batch', 'begin', 2);
    expect(countByCode(await Promise.all(list.map((each) => create(each))))).toEqual({ 201: 10 });
    expect(await countPayins(list)).toEqual(list.map(() => 1));
  });

  it('is replaced and a read is retried transparently', async () => {
    const created = await create(creations(1)[0] ?? { body: {}, key: '' });
    proxy.cutAt('caudal_read', 'begin', 1);
    expect((await stack.api.get(`/payins/${String(created.body['id'])}`)).status).toBe(200);
  });
});

describe('sessions terminated by PostgreSQL', () => {
  it('are replaced transparently', async () => {
    const created = await create(creations(1)[0] ?? { body: {}, key: '' });
    const path = `/payins/${String(created.body['id'])}`;
    // Opens several connections per pool.
    await Promise.all(Array.from({ length: 20 }, () => stack.api.get(path)));
    const list = creations(30);
    const [ended] = await stack.database.query<{ count: number }>(
      `select count(pg_terminate_backend(pid))::int as count from pg_stat_activity
       where datname = current_database() and usename like 'caudal\\_%'`,
    );
    expect(ended?.count).toBeGreaterThanOrEqual(5);
    const [writes, reads] = await Promise.all([
      Promise.all(list.map((each) => create(each))),
      Promise.all(list.map(() => stack.api.get(path))),
    ]);
    expect([countByCode(writes), countByCode(reads)]).toEqual([{ 201: 30 }, { 200: 30 }]);
    expect(await countPayins(list)).toEqual(list.map(() => 1));
  });
});

describe('a cut commit without a payment at stake', () => {
  it('retries a read or returns 503, never a 500', async () => {
    const created = await create(creations(1)[0] ?? { body: {}, key: '' });
    const fates: CommitFate[] = ['cut-after'];
    proxy.injectCommitFault('caudal_read', () => fates.shift() ?? 'pass');
    const answer = await stack.api.get(`/payins/${String(created.body['id'])}`);
    expect(fates).toEqual([]);
    expect(answer.status).not.toBe(500);
  });

  it('returns 503 outcome_unknown to a token request', async () => {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: stack.organization.keyId,
      client_secret: stack.organization.apiKey,
    }).toString();
    const requestToken = () =>
      stack.api.at(stack.apis[0]?.url ?? '').request('POST', '/oauth/token', {
        raw: form,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    expect((await requestToken()).status).toBe(200);
    proxy.injectCommitFault('caudal_system', 'cut-after');
    expect(countByCode([await requestToken()])).toEqual({ '503 outcome_unknown': 1 });
    proxy.heal();
    expect((await requestToken()).status).toBe(200);
  });
});

describe('a COMMIT that the standby has not confirmed', () => {
  it('returns outcome_unknown although PostgreSQL reports success, and the retry returns the payin', async () => {
    const list = creations(5);
    proxy.injectCommitFault('caudal_batch', 'notice');
    expect(countByCode(await Promise.all(list.map((each) => create(each))))).toEqual({
      '503 outcome_unknown': 5,
    });
    // A replayed response also requires durability: it is not returned while the standby is missing.
    expect(countByCode(await Promise.all(list.map((each) => create(each))))).toEqual({
      '503 outcome_unknown': 5,
    });
    proxy.heal();
    const repeats = await Promise.all(list.map((each) => create(each)));
    expect(countByCode(repeats)).toEqual({ 201: 5 });
    expect(countReplays(repeats)).toBe(5);
    expect(await countPayins(list)).toEqual(list.map(() => 1));
  });
});

describe('a COMMIT without an answer', () => {
  it('returns outcome_unknown at the deadline, and the retry converges once the session is gone', async () => {
    const list = creations(2);
    proxy.injectCommitFault('caudal_batch', 'swallow');
    const { result, ms } = await timed(() => Promise.all(list.map((each) => create(each))));
    expect(countByCode(result)).toEqual({ '503 outcome_unknown': 2 });
    expect(ms).toBeGreaterThan(DEADLINE_MS * 0.9);
    expectWithin('the answer to a COMMIT without an answer', ms, DEADLINE_MS * 2);
    proxy.heal();
    const repeats = await Promise.all(list.map((each) => create(each)));
    expect(countByCode(repeats)).toEqual({ 201: 2 });
    expect(await countPayins(list)).toEqual(list.map(() => 1));
  });
});

describe.each([
  { outage: 'silent', startOutage: () => proxy.goSilent() },
  { outage: 'down', startOutage: () => proxy.rejectConnections() },
])('a database that is $outage', ({ startOutage }) => {
  it('returns 503 within the deadline to requests in flight and to new ones, and recovers', async () => {
    // One for each lane: nothing waits behind another batch.
    const list = creations(2);
    const api = stack.api.strict;
    const otherOrganization = api.as((await stack.newOrganization()).apiKey);
    expect((await readiness()).status).toBe(200);
    startOutage();
    const { result: answers, ms } = await timed(() => Promise.all(list.map((each) => create(each, api))));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([503]));
    // Retried for at most three seconds, and no attempt exceeds its statement deadline.
    expectWithin('the answer during the outage', ms, 3000 + 2 * DEADLINE_MS);

    await within('the report that the process is not ready', 3000, () =>
      until('the process reports not ready', async () => (await readiness()).status === 503),
    );
    expect((await readiness()).reasons).toEqual([
      'the database has not answered heartbeats for more than a second',
    ]);
    expect((await ops('/livez')).status).toBe(200);

    // A stale process answers immediately, without querying the database.
    const stale = await timed(() =>
      Promise.all([api.get('/payins'), api.get(`/payins/${randomUUID()}`), api.post('/payins', brebPayin())]),
    );
    expect(countByCode(stale.result)).toEqual({ '503 service_unavailable': 3 });
    expectWithin('the answers of a stale process', stale.ms, 500);
    for (const answer of stale.result) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);

    // A credential that cannot be looked up is not reported as wrong.
    expect(countByCode([await otherOrganization.get('/payins')])).toEqual({ '503 service_unavailable': 1 });

    proxy.heal();
    await within('the recovery', 5000, () =>
      until('the process is ready again', async () => (await readiness()).status === 200),
    );
    expect((await otherOrganization.get('/payins')).status).toBe(200);
    const repeats = await Promise.all(list.map((each) => create(each)));
    expect(countByCode(repeats)).toEqual({ 201: 2 });
    expect(await countPayins(list)).toEqual(list.map(() => 1));
    const [sessions] = await stack.database.query<{ count: number }>(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and usename like 'caudal\\_%'",
    );
    // All pools together: 8 read, 3 batch, 6 and 2 system connections.
    expect(sessions?.count).toBeLessThanOrEqual(19);
  });
});

describe('after all tests', () => {
  it('the database rows are consistent', async () => {
    expect(await payinInvariantViolations(stack.database)).toEqual([]);
  });
});
