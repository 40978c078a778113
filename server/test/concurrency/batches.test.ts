import { setImmediate as immediately } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectWithin, stopwatch } from '../../../scripts/testing/expect-within.ts';
import { classifyFailure } from '../../src/db/failures.ts';
import { RolePool } from '../../src/db/pool.ts';
import { type BatchDb, batchDb } from '../../src/db/tenant.ts';
import { type CreatedPayin, type CreatePayin, createPayins } from '../../src/flows/payins/create-payins.ts';
import { PseOpener } from '../../src/flows/payins/open-pse-payins.ts';
import { PayinCreator, type PayinRequest } from '../../src/flows/payins/payin-creator.ts';
import { CollectionStarter } from '../../src/flows/payins/start-collection.ts';
import { PAYER } from '../../src/kit/actor.ts';
import { BusinessClock, monotonicMs } from '../../src/kit/clock.ts';
import { hmac } from '../../src/kit/crypto.ts';
import { multiplyDeadlines } from '../../src/kit/deadline.ts';
import { ApiError } from '../../src/kit/errors.ts';
import { newLeaseToken, uuidv7 } from '../../src/kit/ids.ts';
import { Metrics } from '../../src/kit/metrics.ts';
import { cents } from '../../src/kit/money.ts';
import type { Organization, OrganizationSecrets, Principal } from '../../src/organizations/organization.ts';
import { mintBrebKey } from '../../src/payins/breb-key.ts';
import { insertPayins } from '../../src/payins/payin.store.ts';
import { payinInvariantViolations, rowCounts } from '../harness/consistency.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';
import { CUSTOMER, newReference } from '../harness/payin-requests.ts';
import { until } from '../harness/until.ts';

let database: TestDatabase;
let caudal: InProcess;
let principal: Principal;
let organizationId: string;
const toClose: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  database = await cloneDatabase();
  caudal = await composeInProcess(settingsFor(database.ownerUrl));
});
afterAll(async () => {
  for (const close of toClose.toReversed()) await close();
  await caudal?.close();
  await database?.drop();
});
beforeEach(async () => {
  ({ principal } = await caudal.newOrganization());
  organizationId = principal.organization.id;
});

const customer = { ...CUSTOMER, idType: 'CO_CC' as const };

function request(changes: Partial<PayinRequest> = {}): PayinRequest {
  return {
    amount: cents(4_980_000),
    reference: newReference(),
    customer,
    metadata: null,
    callbackUrl: null,
    method: { rail: 'BRE_B', keyType: 'SINGLE_USE' },
    ...changes,
  };
}

function keyHash(secrets: OrganizationSecrets, key: string): Buffer {
  return hmac(secrets.hashKey, `payins.create\n${key}`).subarray(0, 16);
}

/**
 * A command as `PayinCreator` builds it; `key` and `body` are the merchant's idempotency key and request
 * body.
 */
function command(
  changes: Partial<CreatePayin> & { readonly key?: string; readonly body?: string } = {},
  owner: { organization: Organization; secrets: OrganizationSecrets } = principal,
): CreatePayin {
  const { key, body = 'body', ...rest } = changes;
  const { deps } = caudal;
  const now = deps.clock.now();
  return {
    id: uuidv7(now, deps.cell),
    leaseToken: newLeaseToken(),
    createdBy: PAYER,
    organization: owner.organization,
    apiKeyId: principal.keyId,
    secrets: owner.secrets,
    idempotency:
      key === undefined
        ? null
        : { keyHash: keyHash(owner.secrets, key), bodyHash: keyHash(owner.secrets, body) },
    trace: null,
    amount: cents(4_980_000),
    reference: newReference(),
    customer,
    metadata: null,
    callbackUrl: null,
    source: {
      rail: 'BRE_B',
      keyType: 'SINGLE_USE',
      key: mintBrebKey(deps.brebKeyPrefix, deps.cell, now),
    },
    ...rest,
  };
}

/** A creator with its own metrics, over the pools of this file or others. */
function creator(baseDeps: InProcess['deps'] = caudal.deps) {
  const deps = { ...baseDeps, metrics: new Metrics() };
  const pse = new PseOpener(deps);
  const payins = new PayinCreator(deps, pse, new CollectionStarter(pse, () => undefined));
  toClose.push(() => payins.close());
  return {
    create: (payinRequest: PayinRequest, key?: string) =>
      payins.create(
        principal,
        payinRequest,
        key === undefined ? null : { key, body: payinRequest.reference },
      ),
    /** Number of batches with this verdict. */
    batches: (verdict: 'done' | 'command' | 'retry' | 'internal_error') =>
      Number(
        new RegExp(`^caudal_payin_batch_seconds_count\\{verdict="${verdict}"\\} (\\d+)$`, 'm').exec(
          deps.metrics.render(),
        )?.[1] ?? 0,
      ),
  };
}

function errorCodes(results: readonly PromiseSettledResult<unknown>[]): (string | null)[] {
  return results.map((result) => {
    if (result.status === 'fulfilled') return null;
    return result.reason instanceof ApiError
      ? result.reason.code
      : `not an ApiError: ${String(result.reason)}`;
  });
}

function kinds(answers: readonly CreatedPayin[]): string[] {
  return answers.map((answer) => answer.kind);
}

/** Batches that wait for a lock as long as in production: a batch with a locked key is answered by a split, not by its own limit. */
function waitingBriefly(): InProcess['deps'] {
  const write: BatchDb['write'] = (name, ids, work, waitForLocks = true) =>
    caudal.deps.batch.write(
      name,
      ids,
      async (tx) => {
        if (waitForLocks)
          await tx.query({ name: 'test.lock-timeout', text: 'set local lock_timeout = 1500' });
        return work(tx);
      },
      waitForLocks,
    );
  return { ...caudal.deps, batch: { write } };
}

/** An additional session as the superuser. */
async function openSession(): Promise<Client> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  toClose.push(() => client.end());
  return client;
}

async function lockKey(client: Client, key: string): Promise<void> {
  await client.query('begin');
  await client.query(
    `insert into caudal.idempotency_keys (organization_id, key_hash, body_hash, resource_id, created_at)
     values ($1, $2, $3, gen_random_uuid(), caudal.now())`,
    [organizationId, keyHash(principal.secrets, key), keyHash(principal.secrets, 'another body')],
  );
}

async function holdReference(client: Client, reference: string): Promise<void> {
  await client.query('begin');
  await client.query(
    `insert into caudal.resource_references (organization_id, kind, reference, resource_id)
     values ($1, 'payin', $2, gen_random_uuid())`,
    [organizationId, reference],
  );
}

describe('a batch of creations', () => {
  it('handles replays, mismatches and taken references among its own commands', async () => {
    const earlier = command();
    await createPayins(caudal.deps, [earlier]);
    const { reference } = earlier;
    const first = command({ key: 'k1' });
    const answers = await createPayins(caudal.deps, [
      first,
      command({ key: 'k1', reference: first.reference }),
      command({ key: 'k1', body: 'other' }),
      command({ key: 'k2', reference }),
      command({ key: 'k2', body: 'other' }),
      command({ key: 'k2', reference }),
      command({ reference }),
    ]);
    expect(kinds(answers)).toEqual([
      'created',
      'replayed',
      'idempotency_mismatch',
      'reference_taken',
      // The first body under k2 created nothing, so the key was free for the next.
      'created',
      'reference_taken',
      'reference_taken',
    ]);
    expect(answers[1]).toMatchObject({ resource: { id: first.id } });
    for (const index of [3, 5, 6]) expect(answers[index]).toMatchObject({ existingId: earlier.id });
    expect(await rowCounts(database, organizationId)).toEqual({
      payins: 3,
      creations: 3,
      brebKeys: 3,
      references: 3,
      idempotencyKeys: 2,
    });
  });

  it('gives a reference to exactly one of its commands and returns its ID to the others', async () => {
    const reference = newReference();
    const commands = [
      command({ key: 'k1', reference }),
      command({ key: 'k2', reference }),
      command({ reference }),
      command({ key: 'k1', reference }),
    ];
    const answers = await createPayins(caudal.deps, commands);
    const winner = answers.findIndex((answer) => answer.kind === 'created');
    for (const [index, answer] of answers.entries()) {
      if (index === winner) continue;
      if (answer.kind === 'replayed') {
        expect(commands[index]?.idempotency?.keyHash).toEqual(commands[winner]?.idempotency?.keyHash);
        expect(answer.resource.id).toBe(commands[winner]?.id);
      } else {
        expect(answer).toEqual({ kind: 'reference_taken', existingId: commands[winner]?.id });
      }
    }
    const { payins, idempotencyKeys } = await rowCounts(database, organizationId);
    expect({ payins, idempotencyKeys }).toEqual({
      payins: 1,
      idempotencyKeys: commands[winner]?.idempotency ? 1 : 0,
    });
  });

  it('replays creations of earlier batches', async () => {
    const earlier = command({ key: 'k1' });
    await createPayins(caudal.deps, [earlier]);
    const answers = await createPayins(caudal.deps, [
      command({ key: 'k1', reference: earlier.reference }),
      command({ key: 'k1', body: 'other' }),
      command({ reference: earlier.reference }),
      command(),
    ]);
    expect(kinds(answers)).toEqual(['replayed', 'idempotency_mismatch', 'reference_taken', 'created']);
    expect(answers[0]).toMatchObject({ resource: { id: earlier.id, customer } });
    expect(answers[2]).toMatchObject({ existingId: earlier.id });
  });
});

describe('an invalid creation in a batch of fifty', () => {
  const INVALID_REQUESTS: { poison: string; changes: Partial<PayinRequest> }[] = [
    { poison: 'an amount that the table rejects', changes: { amount: cents(1_000_000_000_000) } },
    { poison: 'a reference that is not valid text for PostgreSQL', changes: { reference: 'nul\0nul' } },
    { poison: 'a reference that is too long', changes: { reference: 'x'.repeat(256) } },
  ];

  it.each(INVALID_REQUESTS)(
    'fails alone, because of $poison, and the other forty-nine are created',
    async ({ changes }) => {
      const { create, batches } = creator();
      const invalidIndex = 17;
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, (_, index) =>
          create(request(index === invalidIndex ? changes : {}), `key-${index}`),
        ),
      );
      const expected = Array.from({ length: 50 }, (_, index) =>
        index === invalidIndex ? 'internal_error' : null,
      );
      expect(errorCodes(results)).toEqual(expected);
      expect(await rowCounts(database, organizationId)).toEqual({
        payins: 49,
        creations: 49,
        brebKeys: 49,
        references: 49,
        idempotencyKeys: 49,
      });
      // Bisected until the invalid one is alone (50, 25, 13, 7, 4, 2, 1), not retried one by one.
      expect(batches('command')).toBeLessThanOrEqual(7);
      expect(batches('done')).toBeLessThanOrEqual(7);
    },
  );

  it('can occur several times: only the invalid ones fail', async () => {
    const { create } = creator();
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        create(request(index % 20 === 0 ? { amount: cents(1_000_000_000_000) } : {})),
      ),
    );
    const failed = [...errorCodes(results).entries()].filter(([, code]) => code !== null);
    expect(failed).toEqual([
      [0, 'internal_error'],
      [20, 'internal_error'],
      [40, 'internal_error'],
    ]);
    expect((await rowCounts(database, organizationId)).payins).toBe(47);
  });

  it('is distinguished from a Bre-B key collision, which mints another key', async () => {
    const twice = command();
    const collision: unknown = await createPayins(caudal.deps, [
      twice,
      command({ source: twice.source }),
    ]).catch((error: unknown) => error);
    expect(classifyFailure(collision)).toBe('command');
    // The creator recognizes a key collision by this constraint name.
    expect(collision).toMatchObject({ code: '23505', constraint: 'breb_key_once' });
    expect((await rowCounts(database, organizationId)).payins).toBe(0);
  });
});

describe('a batch of several hundred organizations', () => {
  let owners: Awaited<ReturnType<InProcess['newOrganizations']>>;
  beforeAll(async () => {
    owners = await caudal.newOrganizations(400);
  });

  it('is one transaction', async () => {
    const commands = owners.map((owner) => command({ key: 'the same key', reference: 'the same' }, owner));
    const answers = await createPayins(caudal.deps, commands);
    expect(new Set(kinds(answers))).toEqual(new Set(['created']));
    const rows = await database.query<{ organizations: number; transactions: number }>(
      `select count(distinct organization_id)::int as organizations, count(distinct xmin::text)::int as transactions
       from caudal.payins where reference = 'the same'`,
    );
    expect(rows).toEqual([{ organizations: 400, transactions: 1 }]);
  });

  it('cannot write for an organization outside its list, nor see its rows', async () => {
    const [outsider, ...others] = owners;
    if (!outsider) throw new Error('no organization');
    const foreign = command({}, outsider);
    await createPayins(caudal.deps, [foreign]);
    const list = new Set(others.map((owner) => owner.organization.id));
    const foreignCommand = command({}, outsider);
    const attempt: unknown = await caudal.deps.batch
      .write('create payins', list, (tx) =>
        insertPayins(tx, [
          {
            ...foreignCommand,
            organizationId: outsider.organization.id,
            dataKey: outsider.secrets.dataKey,
            hashKey: outsider.secrets.hashKey,
            paymentLinkId: null,
            expiresAt: null,
            traceContext: null,
          },
        ]),
      )
      .catch((error: unknown) => error);
    expect(attempt).toMatchObject({ code: '42501' });
    const visible = await caudal.deps.batch.write('create payins', list, (tx) =>
      tx.query({
        name: 'test.theirs',
        text: `select id from caudal.payins where organization_id = '${outsider.organization.id}'`,
      }),
    );
    expect(visible).toEqual([]);
    // With that organization in the list the same query sees the row.
    const own = await caudal.deps.batch.write('create payins', new Set([outsider.organization.id]), (tx) =>
      tx.query<{ organization_id: string; id: string }>({
        name: 'test.all',
        text: 'select organization_id, id from caudal.payins',
      }),
    );
    expect(own).toContainEqual({ organization_id: outsider.organization.id, id: foreign.id });
    expect(new Set(own.map((row) => row.organization_id)).size).toBe(1);
  });
});

describe('a month without partitions', () => {
  const TWO_YEARS_MS = 2 * 365 * 86_400_000;

  it('is a server fault, not a command error', async () => {
    const late = command({ id: uuidv7(caudal.deps.clock.now() + TWO_YEARS_MS, caudal.deps.cell) });
    const failure: unknown = await createPayins(caudal.deps, [late]).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: '23514' });
    expect(classifyFailure(failure)).toBe('internal_error');
    // A check constraint of the table has the same SQLSTATE but is a command error.
    const rejected: unknown = await createPayins(caudal.deps, [
      command({ amount: cents(1_000_000_000_000n) }),
    ]).catch((error: unknown) => error);
    expect(rejected).toMatchObject({ code: '23514' });
    expect(classifyFailure(rejected)).toBe('command');
  });

  it('fails the whole batch without bisecting it, and writes nothing', async () => {
    const clock = new BusinessClock();
    clock.sample(caudal.deps.clock.now() + TWO_YEARS_MS, monotonicMs());
    const { create, batches } = creator({ ...caudal.deps, clock });
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => create(request(), `key-${index}`)),
    );
    expect(new Set(errorCodes(results))).toEqual(new Set(['internal_error']));
    expect(batches('internal_error')).toBe(1);
    expect(batches('command')).toBe(0);
    expect(await rowCounts(database, organizationId)).toEqual({
      payins: 0,
      creations: 0,
      brebKeys: 0,
      references: 0,
      idempotencyKeys: 0,
    });
  });
});

describe('a creation whose idempotency key is locked', () => {
  it('returns idempotency_in_flight while the others of its batch are created', async () => {
    const holder = await openSession();
    await lockKey(holder, 'held');
    const { create } = creator(waitingBriefly());
    const waiting = request();
    const results = await Promise.allSettled([
      create(request(), 'free-1'),
      create(waiting, 'held'),
      create(request(), 'free-2'),
      create(request()),
    ]);
    expect(errorCodes(results)).toEqual([null, 'idempotency_in_flight', null, null]);
    expect((await rowCounts(database, organizationId)).payins).toBe(3);
    await holder.query('rollback');
    expect((await create(waiting, 'held')).replayed).toBe(false);
    expect((await create(waiting, 'held')).replayed).toBe(true);
  });

  it('is answered within seconds, also when every key of its batch is locked', async () => {
    // As after a failover: orphaned sessions lock the keys of all requests in flight, and all clients retry.
    const keys = Array.from({ length: 6 }, (_, index) => `held-${index}`);
    const holders = await Promise.all(keys.map(() => openSession()));
    await Promise.all(keys.map((key, index) => lockKey(holders[index] as Client, key)));
    const { create } = creator(waitingBriefly());
    const elapsedMs = stopwatch();
    const results = await Promise.allSettled(keys.map((key) => create(request(), key)));
    const ms = elapsedMs();
    await Promise.all(holders.map((holder) => holder.query('rollback')));
    expect(new Set(errorCodes(results))).toEqual(new Set(['idempotency_in_flight']));
    expectWithin('the answer while every key is locked', ms, 4000);
  });

  it('uses the result of the lock holder when it commits in time', async () => {
    const holder = await openSession();
    await lockKey(holder, 'held');
    const { create } = creator();
    const answer = Promise.allSettled([create(request(), 'held')]);
    await until('the batch waits for the key', async () => (await findLockWaiters()).length > 0);
    await holder.query('commit');
    expect(errorCodes(await answer)).toEqual(['idempotency_mismatch']);
  });

  it('returns service_unavailable when a reference is locked and there is no key', async () => {
    const holder = await openSession();
    await holdReference(holder, 'held');
    const { create } = creator(waitingBriefly());
    const results = await Promise.allSettled([create(request({ reference: 'held' })), create(request())]);
    expect(errorCodes(results)).toEqual(['service_unavailable', null]);
    await holder.query('rollback');
    expect((await create(request({ reference: 'held' }))).payin.reference).toBe('held');
  });
});

describe('a batch that PostgreSQL aborts in favor of another transaction', () => {
  it('is retried after a deadlock', async () => {
    // The server checks for a deadlock after 0.6 s, the other session after ten minutes: PostgreSQL aborts the
    // server's transaction.
    const { create, batches } = creator((await composeWithSetting("deadlock_timeout = '600ms'")).deps);
    const other = await openSession();
    await other.query("set application_name = 'other'; set deadlock_timeout = '10min'");
    const [first, second] = [request({ reference: 'deadlock-1' }), request({ reference: 'deadlock-2' })];
    // A session checks once for each wait. The gate holds the batch until the other session waits for its key, so that the
    // wait that the batch begins afterwards, for the second reference, is the one that completes the deadlock.
    const gate = await openSession();
    await holdReference(gate, first.reference);
    await holdReference(other, second.reference);
    const answers = Promise.all([create(first, 'gated'), create(second, 'mine')]);
    await until(
      'the batch has its keys and waits for the first reference',
      async () => (await findLockWaiters()).length > 0,
    );
    const deadlock = other.query(
      `insert into caudal.idempotency_keys (organization_id, key_hash, body_hash, resource_id, created_at)
       values ($1, $2, $2, gen_random_uuid(), caudal.now())`,
      [organizationId, keyHash(principal.secrets, 'mine')],
    );
    await until(
      'the other session waits for the key',
      async () => (await findLockWaiters('other')).length > 0,
    );
    await gate.query('rollback');
    await deadlock;
    await other.query('rollback');
    expect((await answers).map(({ replayed }) => replayed)).toEqual([false, false]);
    expect(batches('retry')).toBeGreaterThanOrEqual(1);
    expect(batches('command')).toBe(0);
    expect((await rowCounts(database, organizationId)).payins).toBe(2);
  });

  it('is retried after a serialization failure', async () => {
    const { create, batches } = creator(
      (await composeWithSetting("default_transaction_isolation = 'repeatable read'")).deps,
    );
    const other = await openSession();
    await lockKey(other, 'mine');
    const answer = Promise.allSettled([create(request(), 'mine')]);
    await until('the batch waits for the key', async () => (await findLockWaiters()).length > 0);
    await other.query('commit');
    // The second attempt returns this: it sees the row the first could not serialize with.
    expect(errorCodes(await answer)).toEqual(['idempotency_mismatch']);
    expect(batches('retry')).toBeGreaterThanOrEqual(1);
  });
});

describe('a batch without a reachable database', () => {
  // It has no other end than this limit: waiting longer would only take longer.
  beforeAll(() => multiplyDeadlines(1));
  afterAll(() => multiplyDeadlines(caudal.config.testDeadlineFactor));

  it('is abandoned three seconds after its oldest command arrived, however long it waited for a lane', async () => {
    const pool = new RolePool({
      role: 'batch',
      url: 'postgres://nobody:nothing@127.0.0.1:1/nowhere',
      connections: 4,
      deadlineMs: 1000,
      failures: caudal.deps.failures,
    });
    toClose.push(() => pool.close());
    const { create } = creator({ ...caudal.deps, batch: batchDb(pool) });
    const elapsedMs = stopwatch();
    const first: Promise<PromiseSettledResult<unknown>[]>[] = [];
    for (let lane = 0; lane < caudal.deps.batchLanes; lane += 1) {
      first.push(Promise.allSettled([create(request())]));
      // Each in its own batch: all lanes are busy, and later commands wait for them.
      await immediately();
      await immediately();
    }
    const waiting = await Promise.allSettled([create(request()), create(request())]);
    const ms = elapsedMs();
    expect(new Set(errorCodes(waiting))).toEqual(new Set(['service_unavailable']));
    expect(new Set(errorCodes((await Promise.all(first)).flat()))).toEqual(new Set(['service_unavailable']));
    expectWithin('the answer without a database', ms, 4500);
  });
});

/** Pools whose connections start with a changed PostgreSQL setting; other connections keep theirs. */
async function composeWithSetting(setting: string): Promise<InProcess> {
  await database.query(`alter database ${database.name} set ${setting}`);
  const composed = await composeInProcess(settingsFor(database.ownerUrl));
  toClose.push(() => composed.close());
  // Connections open on first use: after one batch the setting can be reset.
  await composed.deps.batch.write('create payins', new Set([organizationId]), (tx) =>
    tx.query({ name: 'test.one', text: 'select 1' }),
  );
  await database.query(`alter database ${database.name} reset ${setting.split(' ')[0] ?? ''}`);
  return composed;
}

function findLockWaiters(applicationName = 'caudal-batch'): Promise<object[]> {
  return database.query(
    `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
       and application_name = $1`,
    [applicationName],
  );
}

describe('after all tests', () => {
  it('the database rows are consistent', async () => {
    const violations = await payinInvariantViolations(database);
    // This file itself stores a key for a payin that does not exist.
    expect(violations.filter(({ what }) => what !== 'idempotency key without its payin')).toEqual([]);
  });
});
