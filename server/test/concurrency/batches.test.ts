import { performance } from 'node:perf_hooks';
import { setImmediate as immediately } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verdictOf } from '../../src/db/failures.ts';
import { RolePool } from '../../src/db/pool.ts';
import { batchDb } from '../../src/db/tenant.ts';
import { type CreatedPayin, type CreatePayin, createPayins } from '../../src/flows/payins/create-payins.ts';
import { PseOpener } from '../../src/flows/payins/open-pse-payins.ts';
import { PayinCreator, type PayinRequest } from '../../src/flows/payins/payin-creator.ts';
import { CollectionStarter } from '../../src/flows/payins/start-collection.ts';
import { BusinessClock } from '../../src/kit/clock.ts';
import { hmac } from '../../src/kit/crypto.ts';
import { ApiError } from '../../src/kit/errors.ts';
import { freshToken, uuidv7 } from '../../src/kit/ids.ts';
import { Metrics } from '../../src/kit/metrics.ts';
import { cents } from '../../src/kit/money.ts';
import type { Organization, OrganizationSecrets, Principal } from '../../src/organizations/organization.ts';
import { mintBrebKey } from '../../src/payins/breb-key.ts';
import { insertPayins } from '../../src/payins/payin.store.ts';
import { contradictions, rowCounts } from '../harness/consistency.ts';
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
    amountInCents: 4_980_000,
    reference: newReference(),
    inlineCustomer: customer,
    callbackUrl: null,
    rail: { name: 'BRE_B', keyType: 'SINGLE_USE' },
    ...changes,
  };
}

function keyHash(secrets: OrganizationSecrets, key: string): Buffer {
  return hmac(secrets.hashKey, `payins.create\n${key}`).subarray(0, 16);
}

/** A command as `PayinCreator` makes it; `key` and `body` stand for what the merchant sent. */
function command(
  changes: Partial<CreatePayin> & { readonly key?: string; readonly body?: string } = {},
  owner: { organization: Organization; secrets: OrganizationSecrets } = principal,
): CreatePayin {
  const { key, body = 'body', ...rest } = changes;
  const { deps } = caudal;
  const now = deps.clock.now();
  return {
    id: uuidv7(now, deps.cell),
    leaseToken: freshToken(),
    organization: owner.organization,
    secrets: owner.secrets,
    idempotency:
      key === undefined
        ? null
        : { keyHash: keyHash(owner.secrets, key), bodyHash: keyHash(owner.secrets, body) },
    amount: cents(4_980_000),
    reference: newReference(),
    customer,
    callbackUrl: null,
    source: {
      rail: 'BRE_B',
      keyType: 'SINGLE_USE',
      key: mintBrebKey(deps.brebKeyPrefix, deps.cell, now),
    },
    ...rest,
  };
}

/** A creator with figures of its own, over the pools of the file or others. */
function creator(over: InProcess['deps'] = caudal.deps) {
  const deps = { ...over, metrics: new Metrics() };
  const pse = new PseOpener(deps);
  const payins = new PayinCreator(deps, pse, new CollectionStarter(pse, () => undefined));
  toClose.push(() => payins.close());
  return {
    create: (wanted: PayinRequest, key?: string) =>
      payins.create(principal, wanted, key === undefined ? null : { key, body: { ...wanted } }),
    /** How many batches ended this way. */
    batches: (verdict: 'done' | 'command' | 'again' | 'fault') =>
      Number(
        new RegExp(`^caudal_payin_batch_seconds_count\\{verdict="${verdict}"\\} (\\d+)$`, 'm').exec(
          deps.metrics.render(),
        )?.[1] ?? 0,
      ),
  };
}

function faultCodes(results: readonly PromiseSettledResult<unknown>[]): (string | null)[] {
  return results.map((result) => {
    if (result.status === 'fulfilled') return null;
    return result.reason instanceof ApiError ? result.reason.code : `not a Fault: ${String(result.reason)}`;
  });
}

function kinds(answers: readonly CreatedPayin[]): string[] {
  return answers.map((answer) => answer.kind);
}

/** A session beside the server's, as the superuser. */
async function session(): Promise<Client> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  toClose.push(() => client.end());
  return client;
}

async function holdKey(client: Client, key: string): Promise<void> {
  await client.query('begin');
  await client.query(
    `insert into caudal.idempotency_keys (organization_id, key_hash, body_hash, resource_id, created_at)
     values ($1, $2, $3, gen_random_uuid(), caudal.now())`,
    [organizationId, keyHash(principal.secrets, key), keyHash(principal.secrets, 'another body')],
  );
}

describe('a batch of creations', () => {
  it('answers repeats, mismatches and taken references among its own commands', async () => {
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
      // The first body under k2 came to nothing, so the key was free for the next.
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

  it('gives a reference that several of its commands want to exactly one, and names that one to the others', async () => {
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

  it('answers repeats of earlier batches with what was created then', async () => {
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

describe('a poisoned creation in a batch of fifty', () => {
  const POISONS: { poison: string; changes: Partial<PayinRequest> }[] = [
    { poison: 'an amount the table refuses', changes: { amountInCents: 1_000_000_000_000 } },
    { poison: 'a reference that is no text to PostgreSQL', changes: { reference: 'nul\0nul' } },
    { poison: 'a reference longer than the table takes', changes: { reference: 'x'.repeat(256) } },
  ];

  it.each(POISONS)(
    'fails alone, by $poison, and the other forty-nine are in the database',
    async ({ changes }) => {
      const { create, batches } = creator();
      const guilty = 17;
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, (_, index) =>
          create(request(index === guilty ? changes : {}), `key-${index}`),
        ),
      );
      const expected = Array.from({ length: 50 }, (_, index) => (index === guilty ? 'internal_error' : null));
      expect(faultCodes(results)).toEqual(expected);
      expect(await rowCounts(database, organizationId)).toEqual({
        payins: 49,
        creations: 49,
        brebKeys: 49,
        references: 49,
        idempotencyKeys: 49,
      });
      // Halved until the guilty one is alone (50, 25, 13, 7, 4, 2, 1), not tried one by one.
      expect(batches('command')).toBeLessThanOrEqual(7);
      expect(batches('done')).toBeLessThanOrEqual(7);
    },
  );

  it('may have company: each guilty one fails and nobody else', async () => {
    const { create } = creator();
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        create(request(index % 20 === 0 ? { amountInCents: 1_000_000_000_000 } : {})),
      ),
    );
    const failed = [...faultCodes(results).entries()].filter(([, code]) => code !== null);
    expect(failed).toEqual([
      [0, 'internal_error'],
      [20, 'internal_error'],
      [40, 'internal_error'],
    ]);
    expect((await rowCounts(database, organizationId)).payins).toBe(47);
  });

  it('is told from a Bre-B key that exists already, which is minted anew', async () => {
    const twice = command();
    const collision: unknown = await createPayins(caudal.deps, [
      twice,
      command({ source: twice.source }),
    ]).catch((error: unknown) => error);
    expect(verdictOf(collision)).toBe('command');
    // The name by which the creator knows that another key will do.
    expect(collision).toMatchObject({ code: '23505', constraint: 'breb_key_once' });
    expect((await rowCounts(database, organizationId)).payins).toBe(0);
  });
});

describe('a batch of several hundred organizations', () => {
  let owners: Awaited<ReturnType<InProcess['manyOrganizations']>>;
  beforeAll(async () => {
    owners = await caudal.manyOrganizations(400);
  });

  it('is one transaction that writes for each of them', async () => {
    const commands = owners.map((owner) => command({ key: 'the same key', reference: 'the same' }, owner));
    const answers = await createPayins(caudal.deps, commands);
    expect(new Set(kinds(answers))).toEqual(new Set(['created']));
    const rows = await database.query<{ organizations: number; transactions: number }>(
      `select count(distinct organization_id)::int as organizations, count(distinct xmin::text)::int as transactions
       from caudal.payins where reference = 'the same'`,
    );
    expect(rows).toEqual([{ organizations: 400, transactions: 1 }]);
  });

  it('cannot write for one that is not in its list, nor see its rows', async () => {
    const [stranger, ...others] = owners;
    if (!stranger) throw new Error('no organization');
    const foreign = command({}, stranger);
    await createPayins(caudal.deps, [foreign]);
    const list = new Set(others.map((owner) => owner.organization.id));
    const smuggled = command({}, stranger);
    const attempt: unknown = await caudal.deps.batch
      .write('create payins', list, (tx) =>
        insertPayins(tx, [
          {
            ...smuggled,
            organizationId: stranger.organization.id,
            status: 'PROCESSING',
            sealedCustomer: null,
            railDue: false,
            paymentLinkId: null,
            expiresAt: null,
          },
        ]),
      )
      .catch((error: unknown) => error);
    expect(attempt).toMatchObject({ code: '42501' });
    const seen = await caudal.deps.batch.write('create payins', list, (tx) =>
      tx.query({
        name: 'test.theirs',
        text: `select id from caudal.payins where organization_id = '${stranger.organization.id}'`,
      }),
    );
    expect(seen).toEqual([]);
    // The same question with the stranger in the list: the row is there to be seen.
    const own = await caudal.deps.batch.write('create payins', new Set([stranger.organization.id]), (tx) =>
      tx.query<{ organization_id: string; id: string }>({
        name: 'test.all',
        text: 'select organization_id, id from caudal.payins',
      }),
    );
    expect(own).toContainEqual({ organization_id: stranger.organization.id, id: foreign.id });
    expect(new Set(own.map((row) => row.organization_id)).size).toBe(1);
  });
});

describe('a month without its partitions', () => {
  const TWO_YEARS_MS = 2 * 365 * 86_400_000;

  it("is the server's fault and not the command's", async () => {
    const late = command({ id: uuidv7(caudal.deps.clock.now() + TWO_YEARS_MS, caudal.deps.cell) });
    const failure: unknown = await createPayins(caudal.deps, [late]).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: '23514' });
    expect(verdictOf(failure)).toBe('fault');
    // A check of the table's own has the same SQLSTATE and is the command's.
    const refused: unknown = await createPayins(caudal.deps, [
      command({ amount: cents(1_000_000_000_000n) }),
    ]).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: '23514' });
    expect(verdictOf(refused)).toBe('command');
  });

  it('fails the whole batch at once instead of halving it, and leaves nothing behind', async () => {
    const clock = new BusinessClock();
    clock.sample(caudal.deps.clock.now() + TWO_YEARS_MS, performance.now());
    const { create, batches } = creator({ ...caudal.deps, clock });
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => create(request(), `key-${index}`)),
    );
    expect(new Set(faultCodes(results))).toEqual(new Set(['internal_error']));
    expect(batches('fault')).toBe(1);
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

describe('a creation whose key is held by somebody else', () => {
  it('ends in idempotency_in_flight while the others of its batch are created', async () => {
    const holder = await session();
    await holdKey(holder, 'held');
    const { create } = creator();
    const waiting = request();
    const results = await Promise.allSettled([
      create(request(), 'free-1'),
      create(waiting, 'held'),
      create(request(), 'free-2'),
      create(request()),
    ]);
    expect(faultCodes(results)).toEqual([null, 'idempotency_in_flight', null, null]);
    expect((await rowCounts(database, organizationId)).payins).toBe(3);
    await holder.query('rollback');
    expect((await create(waiting, 'held')).replayed).toBe(false);
    expect((await create(waiting, 'held')).replayed).toBe(true);
  });

  it('is answered in a few seconds also when every key of its batch is held', async () => {
    // As after a failover: sessions that nobody hears of any more hold the keys of all that was under way, and all
    // clients repeat.
    const keys = Array.from({ length: 6 }, (_, index) => `held-${index}`);
    const holders = await Promise.all(keys.map(() => session()));
    await Promise.all(keys.map((key, index) => holdKey(holders[index] as Client, key)));
    const { create } = creator();
    const started = performance.now();
    const results = await Promise.allSettled(keys.map((key) => create(request(), key)));
    const seconds = (performance.now() - started) / 1000;
    await Promise.all(holders.map((holder) => holder.query('rollback')));
    expect(new Set(faultCodes(results))).toEqual(new Set(['idempotency_in_flight']));
    expect(seconds).toBeLessThan(4);
  });

  it('takes the answer of the holder when that one commits in time', async () => {
    const holder = await session();
    await holdKey(holder, 'held');
    const { create } = creator();
    const answer = Promise.allSettled([create(request(), 'held')]);
    await until('the batch waits for the key', async () => (await waitingForALock()).length > 0);
    await holder.query('commit');
    expect(faultCodes(await answer)).toEqual(['idempotency_mismatch']);
  });

  it('is told to come back when it is a reference that is held and it has no key', async () => {
    const holder = await session();
    await holder.query('begin');
    await holder.query(
      `insert into caudal.resource_references (organization_id, kind, reference, resource_id)
       values ($1, 'payin', 'held', gen_random_uuid())`,
      [organizationId],
    );
    const { create } = creator();
    const results = await Promise.allSettled([create(request({ reference: 'held' })), create(request())]);
    expect(faultCodes(results)).toEqual(['service_unavailable', null]);
    await holder.query('rollback');
    expect((await create(request({ reference: 'held' }))).payin.reference).toBe('held');
  });
});

describe('a batch that PostgreSQL ends for the sake of another transaction', () => {
  it('is tried again after a deadlock', async () => {
    // The server looks for a deadlock after 0.6 s, the other session not before 30: so it is the server that is ended.
    const { create, batches } = creator((await composedWith("deadlock_timeout = '600ms'")).deps);
    const other = await session();
    await other.query("set deadlock_timeout = '30s'");
    const wanted = request();
    await other.query('begin');
    await other.query(
      `insert into caudal.resource_references (organization_id, kind, reference, resource_id)
       values ($1, 'payin', $2, gen_random_uuid())`,
      [organizationId, wanted.reference],
    );
    const answer = create(wanted, 'mine');
    await until(
      'the batch has its key and waits for the reference',
      async () => (await waitingForALock()).length > 0,
    );
    const circle = other.query(
      `insert into caudal.idempotency_keys (organization_id, key_hash, body_hash, resource_id, created_at)
       values ($1, $2, $2, gen_random_uuid(), caudal.now())`,
      [organizationId, keyHash(principal.secrets, 'mine')],
    );
    await circle;
    await other.query('rollback');
    expect((await answer).replayed).toBe(false);
    expect(batches('again')).toBeGreaterThanOrEqual(1);
    expect(batches('command')).toBe(0);
    expect((await rowCounts(database, organizationId)).payins).toBe(1);
  });

  it('is tried again after a serialization failure', async () => {
    const { create, batches } = creator(
      (await composedWith("default_transaction_isolation = 'repeatable read'")).deps,
    );
    const other = await session();
    await holdKey(other, 'mine');
    const answer = Promise.allSettled([create(request(), 'mine')]);
    await until('the batch waits for the key', async () => (await waitingForALock()).length > 0);
    await other.query('commit');
    // Told by the second attempt, which sees what the first could not serialize with.
    expect(faultCodes(await answer)).toEqual(['idempotency_mismatch']);
    expect(batches('again')).toBeGreaterThanOrEqual(1);
  });
});

describe('a batch for which there is no database', () => {
  it('is given up three seconds after its oldest command came, however long it stood behind others', async () => {
    const pool = new RolePool({
      role: 'batch',
      url: 'postgres://nobody:nothing@127.0.0.1:1/nowhere',
      connections: 4,
      deadlineMs: 1000,
      failures: caudal.deps.failures,
    });
    toClose.push(() => pool.close());
    const { create } = creator({ ...caudal.deps, batch: batchDb(pool) });
    const started = performance.now();
    const first: Promise<PromiseSettledResult<unknown>[]>[] = [];
    for (let lane = 0; lane < caudal.deps.batchLanes; lane += 1) {
      first.push(Promise.allSettled([create(request())]));
      // Each in a batch of its own: the lanes are taken, and whatever comes now stands behind them.
      await immediately();
      await immediately();
    }
    const behind = await Promise.allSettled([create(request()), create(request())]);
    const seconds = (performance.now() - started) / 1000;
    expect(new Set(faultCodes(behind))).toEqual(new Set(['service_unavailable']));
    expect(new Set(faultCodes((await Promise.all(first)).flat()))).toEqual(new Set(['service_unavailable']));
    expect(seconds).toBeLessThan(4.5);
  });
});

/** Pools whose connections start with a setting of PostgreSQL changed; other connections keep theirs. */
async function composedWith(setting: string): Promise<InProcess> {
  await database.query(`alter database ${database.name} set ${setting}`);
  const composed = await composeInProcess(settingsFor(database.ownerUrl));
  toClose.push(() => composed.close());
  // Connections are made on first use: one batch now, and the setting may go.
  await composed.deps.batch.write('create payins', new Set([organizationId]), (tx) =>
    tx.query({ name: 'test.one', text: 'select 1' }),
  );
  await database.query(`alter database ${database.name} reset ${setting.split(' ')[0] ?? ''}`);
  return composed;
}

function waitingForALock(): Promise<object[]> {
  return database.query(
    `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
       and application_name = 'caudal-batch'`,
  );
}

describe('after all of it', () => {
  it('the rows of the database agree with each other', async () => {
    const found = await contradictions(database);
    // Planted by this file: the key of "takes the answer of the holder" names a payin that never was.
    expect(found.filter(({ what }) => what !== 'idempotency key without its payin')).toEqual([]);
  });
});
