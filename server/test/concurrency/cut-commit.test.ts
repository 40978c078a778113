import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Answer } from '../harness/api-client.ts';
import { contradictions } from '../harness/consistency.ts';
import { brebPayin, psePayin } from '../harness/payin-requests.ts';
import { type Fate, PostgresProxy } from '../harness/postgres-proxy.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const DEADLINE_MS = 1000;

let proxy: PostgresProxy;
let stack: Stack;

beforeAll(async () => {
  proxy = await PostgresProxy.start(inject('postgres').adminUrl);
  stack = await startStack({
    settings: { CAUDAL_DATABASE_DEADLINE_MS: String(DEADLINE_MS) },
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

function create({ body, key }: Creation): Promise<Answer> {
  return stack.api.post('/payins', body, { 'idempotency-key': key });
}

function ops(path: string): Promise<Response> {
  return fetch(`${stack.apis[0]?.opsUrl ?? ''}${path}`);
}

async function readiness(): Promise<{ status: number; reasons: string[] }> {
  const response = await ops('/readyz');
  const { reasons } = (await response.json()) as { reasons: string[] };
  return { status: response.status, reasons };
}

function codes(answers: readonly Answer[]): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = status < 400 ? String(status) : `${status} ${String(body['code'])}`;
    counted[name] = (counted[name] ?? 0) + 1;
  }
  return counted;
}

function replays(answers: readonly Answer[]): number {
  return answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true').length;
}

/** How many payins there are of each creation's reference. */
async function payinsOf(list: readonly Creation[]): Promise<number[]> {
  const rows = await stack.database.query<{ reference: string; count: number }>(
    'select reference, count(*)::int as count from caudal.payins where reference = any($1) group by reference',
    [list.map(({ body }) => body['reference'])],
  );
  const counts = new Map(rows.map((row) => [row.reference, row.count]));
  return list.map(({ body }) => counts.get(String(body['reference'])) ?? 0);
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const started = performance.now();
  const result = await work();
  return { result, ms: performance.now() - started };
}

describe('a connection that is cut at COMMIT', () => {
  it('is told as outcome_unknown to every creation in it when PostgreSQL had committed, and repeats find the payins', async () => {
    const list = creations(30);
    proxy.trouble('caudal_batch', 'cut-after');
    const answers = await Promise.all(list.map(create));
    expect(codes(answers)).toEqual({ '503 outcome_unknown': 30 });
    for (const answer of answers) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    await until('all are committed', async () => (await payinsOf(list)).every((count) => count === 1));
    proxy.heal();
    const repeats = await Promise.all(list.map(create));
    expect(codes(repeats)).toEqual({ 201: 30 });
    expect(replays(repeats)).toBe(30);
    expect(await payinsOf(list)).toEqual(list.map(() => 1));
  });

  it('is told as outcome_unknown to every creation in it when PostgreSQL never heard of it, and repeats create the payins', async () => {
    const list = creations(30);
    proxy.trouble('caudal_batch', 'cut-before');
    const answers = await Promise.all(list.map(create));
    expect(codes(answers)).toEqual({ '503 outcome_unknown': 30 });
    expect(await payinsOf(list)).toEqual(list.map(() => 0));
    proxy.heal();
    const repeats = await Promise.all(list.map(create));
    expect(codes(repeats)).toEqual({ 201: 30 });
    expect(replays(repeats)).toBe(0);
    expect(await payinsOf(list)).toEqual(list.map(() => 1));
  });

  it('lets clients that repeat with the same key converge to one payin each, however often it happens', async () => {
    const fates: Fate[] = ['cut-after', 'pass', 'cut-before', 'notice', 'cut-after', 'cut-before', 'pass'];
    let commits = 0;
    proxy.trouble('caudal_batch', () => {
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
          expect(codes([answer])).toEqual({ '503 outcome_unknown': 1 });
          unknown += 1;
          return false;
        }),
      ),
    );
    expect(unknown).toBeGreaterThan(0);
    expect(codes(answers)).toEqual({ 201: 50 });
    expect(new Set(answers.map((answer) => answer.body['id'])).size).toBe(50);
    expect(await payinsOf(list)).toEqual(list.map(() => 1));
  });

  it('never lets a creation without a key make two payins: the repeat is told which one it made', async () => {
    const body = brebPayin();
    proxy.trouble('caudal_batch', 'cut-after');
    expect(codes([await stack.api.post('/payins', body)])).toEqual({ '503 outcome_unknown': 1 });
    proxy.heal();
    const [row] = await until('it is committed', async () => {
      const rows = await stack.database.query<{ id: string }>(
        'select id from caudal.payins where reference = $1',
        [body['reference']],
      );
      return rows.length > 0 ? rows : false;
    });
    const repeat = await stack.api.post('/payins', body);
    expect(codes([repeat])).toEqual({ '409 reference_taken': 1 });
    expect(repeat.body['existingId']).toBe(row?.id);
  });
});

describe('a connection that is cut before COMMIT', () => {
  it('is replaced and the batch tried again without the client noticing', async () => {
    const list = creations(10);
    proxy.cutAt('caudal_batch', 'begin', 2);
    expect(codes(await Promise.all(list.map(create)))).toEqual({ 201: 10 });
    expect(await payinsOf(list)).toEqual(list.map(() => 1));
  });

  it('is replaced and a read tried again without the client noticing', async () => {
    const created = await create(creations(1)[0] ?? { body: {}, key: '' });
    proxy.cutAt('caudal_read', 'begin', 1);
    expect((await stack.api.get(`/payins/${String(created.body['id'])}`)).status).toBe(200);
  });
});

describe('sessions that PostgreSQL itself ends', () => {
  it('are replaced without any client noticing', async () => {
    const created = await create(creations(1)[0] ?? { body: {}, key: '' });
    const path = `/payins/${String(created.body['id'])}`;
    // So that the pools hold several connections each.
    await Promise.all(Array.from({ length: 20 }, () => stack.api.get(path)));
    const list = creations(30);
    const [ended] = await stack.database.query<{ count: number }>(
      `select count(pg_terminate_backend(pid))::int as count from pg_stat_activity
       where datname = current_database() and usename like 'caudal\\_%'`,
    );
    expect(ended?.count).toBeGreaterThanOrEqual(5);
    const [writes, reads] = await Promise.all([
      Promise.all(list.map(create)),
      Promise.all(list.map(() => stack.api.get(path))),
    ]);
    expect([codes(writes), codes(reads)]).toEqual([{ 201: 30 }, { 200: 30 }]);
    expect(await payinsOf(list)).toEqual(list.map(() => 1));
  });
});

describe('a commit that has nothing to lose', () => {
  it('does not fail a read: one whose COMMIT was cut is read again or told to come back, never a 500', async () => {
    const created = await create(creations(1)[0] ?? { body: {}, key: '' });
    const fates: Fate[] = ['cut-after'];
    proxy.trouble('caudal_read', () => fates.shift() ?? 'pass');
    const answer = await stack.api.get(`/payins/${String(created.body['id'])}`);
    expect(fates).toEqual([]);
    expect(answer.status).not.toBe(500);
  });

  it('does not make a token request fail as if it were a mistake of ours: 503 and come back', async () => {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: stack.organization.keyId,
      client_secret: stack.organization.apiKey,
    }).toString();
    const ask = () =>
      stack.api.at(stack.apis[0]?.url ?? '').request('POST', '/oauth/token', {
        raw: form,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    expect((await ask()).status).toBe(200);
    proxy.trouble('caudal_system', 'cut-after');
    expect(codes([await ask()])).toEqual({ '503 outcome_unknown': 1 });
    proxy.heal();
    expect((await ask()).status).toBe(200);
  });
});

describe('a COMMIT whose standby has not confirmed it', () => {
  it('is answered outcome_unknown although PostgreSQL says it succeeded, and the repeat finds the payin', async () => {
    const list = creations(5);
    proxy.trouble('caudal_batch', 'notice');
    expect(codes(await Promise.all(list.map(create)))).toEqual({ '503 outcome_unknown': 5 });
    // A repeat is a promise as well: while the standby is away it is not given either.
    expect(codes(await Promise.all(list.map(create)))).toEqual({ '503 outcome_unknown': 5 });
    proxy.heal();
    const repeats = await Promise.all(list.map(create));
    expect(codes(repeats)).toEqual({ 201: 5 });
    expect(replays(repeats)).toBe(5);
    expect(await payinsOf(list)).toEqual(list.map(() => 1));
  });
});

describe('silence at COMMIT', () => {
  it('is answered outcome_unknown when the deadline passes, and the repeat converges once the session is gone', async () => {
    const list = creations(2);
    proxy.trouble('caudal_batch', 'swallow');
    const { result, ms } = await timed(() => Promise.all(list.map(create)));
    expect(codes(result)).toEqual({ '503 outcome_unknown': 2 });
    expect(ms).toBeGreaterThan(DEADLINE_MS * 0.9);
    expect(ms).toBeLessThan(DEADLINE_MS * 2);
    proxy.heal();
    const repeats = await Promise.all(list.map(create));
    expect(codes(repeats)).toEqual({ 201: 2 });
    expect(await payinsOf(list)).toEqual(list.map(() => 1));
  });
});

describe.each([
  { outage: 'gone silent', begin: () => proxy.goSilent() },
  { outage: 'down', begin: () => proxy.refuse() },
])('a database that is $outage', ({ begin }) => {
  it('gives 503 within the deadline, to requests under way and to new ones, and serves again by itself', async () => {
    // One for each lane: nothing waits behind another batch.
    const list = creations(2);
    const stranger = stack.api.as((await stack.newOrganization()).apiKey);
    expect((await readiness()).status).toBe(200);
    begin();
    const { result: answers, ms } = await timed(() => Promise.all(list.map(create)));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([503]));
    // Tried again for three seconds at most, and no attempt is longer than the deadline of its statement.
    expect(ms).toBeLessThan(3000 + 2 * DEADLINE_MS);

    await until(
      'the process knows that it is not ready',
      async () => (await readiness()).status === 503,
      3000,
    );
    expect((await readiness()).reasons).toEqual(['the database has not been heard for a second']);
    expect((await ops('/livez')).status).toBe(200);

    // A stale process answers at once: it does not ask the database whether it is there.
    const stale = await timed(() =>
      Promise.all([
        stack.api.get('/payins'),
        stack.api.get(`/payins/${randomUUID()}`),
        stack.api.post('/payins', brebPayin()),
      ]),
    );
    expect(codes(stale.result)).toEqual({ '503 service_unavailable': 3 });
    expect(stale.ms).toBeLessThan(500);
    for (const answer of stale.result) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);

    // A credential that cannot be looked up now is not called wrong.
    expect(codes([await stranger.get('/payins')])).toEqual({ '503 service_unavailable': 1 });

    proxy.heal();
    await until('the process is ready again', async () => (await readiness()).status === 200, 5000);
    expect((await stranger.get('/payins')).status).toBe(200);
    const repeats = await Promise.all(list.map(create));
    expect(codes(repeats)).toEqual({ 201: 2 });
    expect(await payinsOf(list)).toEqual(list.map(() => 1));
    const [sessions] = await stack.database.query<{ count: number }>(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and usename like 'caudal\\_%'",
    );
    // All pools together: 8 for reading, 3 for batches, 6 and 2 for the system.
    expect(sessions?.count).toBeLessThanOrEqual(19);
  });
});

describe('after all of it', () => {
  it('the rows of the database agree with each other', async () => {
    expect(await contradictions(stack.database)).toEqual([]);
  });
});
