import { DatabaseError } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { expectWithin, stopwatch } from '../../../scripts/testing/expect-within.ts';
import { readConfig } from '../../src/config.ts';
import { FailureLog } from '../../src/db/failure-log.ts';
import { CommitUnknown, ConnectionLost, classifyFailure } from '../../src/db/failures.ts';
import { RolePool } from '../../src/db/pool.ts';
import { statement, type Tx } from '../../src/db/tx.ts';
import { makeLog } from '../../src/kit/log.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { until } from '../harness/until.ts';

const DEADLINE_MS = 1500;
/** For tests in which no statement may miss its deadline, however slow the machine is. */
const PATIENT_DEADLINE_MS = 30_000;
/** Longer than any test: these statements end only by a lost connection. */
const ENDLESS_SECONDS = 600;

const PID = statement('test.pid', 'select pg_backend_pid() as pid');
const SLEEP = statement('test.sleep', 'select pg_sleep($1)');
const DIVIDE = statement('test.divide', 'select 1 / $1::int');
const INSERT = statement('test.insert', 'insert into notes (id, kind) values ($1, $2)');

let database: TestDatabase;
let url: string;
const pools: RolePool[] = [];

beforeAll(async () => {
  database = await cloneDatabase();
  const settings = { databaseUrl: database.ownerUrl, simulatorUrl: 'http://x', baseUrl: 'http://x' };
  url = readConfig('operator', serverSettings(settings)).database.systemUrl;
  // `kind` decides what happens at COMMIT, when the deferred trigger runs.
  await database.query(`
    create table notes (id integer primary key, kind text not null);
    create table once (kind text unique deferrable initially deferred);
    create function at_commit() returns trigger language plpgsql as $$
      begin
        if new.kind = 'slow' then perform pg_sleep(${ENDLESS_SECONDS}); end if;
        if new.kind = 'unacknowledged' then
          raise warning 'canceling wait for synchronous replication due to user request';
        end if;
        if new.kind = 'refused' then raise exception 'refused at commit' using errcode = '23514'; end if;
        return null;
      end $$;
    create constraint trigger at_commit after insert on notes deferrable initially deferred
      for each row execute function at_commit();
    grant all on notes, once to caudal_system;`);
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  await database.query('truncate notes, once');
});
afterAll(() => database?.drop());

function createPool(connections: number, deadlineMs = PATIENT_DEADLINE_MS): RolePool {
  const log = makeLog({ level: 'silent', base: {} });
  const pool = new RolePool({
    url,
    role: 'system',
    connections,
    deadlineMs,
    failures: new FailureLog(log),
  });
  pools.push(pool);
  return pool;
}

/** The rejection reason of a promise; an error when it resolved. */
function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
}

async function readPid(tx: Pick<Tx, 'query'>): Promise<number> {
  const [row] = await tx.query<{ pid: number }>(PID);
  return row?.pid ?? 0;
}

/** A backend of a pool whose deadline a slow machine may miss; then the pool has dropped the connection. */
function untilPid(pool: RolePool): Promise<number> {
  return until('the pool answers', () => readPid(pool));
}

async function isAlive(pid: number): Promise<boolean> {
  return (await database.query('select from pg_stat_activity where pid = $1', [pid])).length > 0;
}

async function terminate(pid: number): Promise<void> {
  await database.query('select pg_terminate_backend($1)', [pid]);
  await until('the backend has ended', async () => !(await isAlive(pid)));
}

/** Waits until the backend executes a statement. */
function waitUntilBusy(pid: number): Promise<boolean> {
  return until('the backend executes a statement', async () => {
    const rows = await database.query(
      "select from pg_stat_activity where pid = $1 and state = 'active' and wait_event = 'PgSleep'",
      [pid],
    );
    return rows.length > 0;
  });
}

function readNotes(): Promise<{ id: number }[]> {
  return database.query<{ id: number }>('select id from notes order by id');
}

describe('a statement over its deadline', () => {
  it('in a transaction is a lost connection: its backend ends and is not reused', async () => {
    const pool = createPool(2, DEADLINE_MS);
    let lost = 0;
    const elapsed = stopwatch();
    const failure = await rejectionOf(
      pool.transaction('begin', async (tx) => {
        lost = await readPid(tx);
        await tx.query(INSERT, [1, 'plain']);
        await tx.query(SLEEP, [ENDLESS_SECONDS]);
      }),
    );
    const elapsedMs = elapsed();
    expect(failure).toBeInstanceOf(ConnectionLost);
    expect(classifyFailure(failure)).toBe('retry');
    expect(elapsedMs).toBeGreaterThan(DEADLINE_MS * 0.9);
    expectWithin('the failure of the statement', elapsedMs, 3000);
    const pids = await Promise.all(Array.from({ length: 20 }, () => untilPid(pool)));
    expect(pids).not.toContain(lost);
    await until('its backend has ended', async () => !(await isAlive(lost)));
    expect(await readNotes()).toEqual([]);
  });

  it('outside a transaction is a lost connection too, and its backend ends', async () => {
    const pool = createPool(1, DEADLINE_MS);
    const lost = await untilPid(pool);
    const failure = await rejectionOf(pool.query(SLEEP, [ENDLESS_SECONDS]));
    expect(failure).toBeInstanceOf(ConnectionLost);
    expect(await untilPid(pool)).not.toBe(lost);
    await until('its backend has ended', async () => !(await isAlive(lost)));
  });

  it('does not delay other statements', async () => {
    const pool = createPool(2);
    const pid = await readPid(pool);
    let ended = false;
    const slow = rejectionOf(pool.query(SLEEP, [ENDLESS_SECONDS])).finally(() => (ended = true));
    await waitUntilBusy(pid);
    const others = await Promise.all(
      Array.from({ length: 30 }, (_, id) =>
        pool.transaction('begin', (tx) => tx.query(INSERT, [id, 'plain'])),
      ),
    );
    expect(others).toHaveLength(30);
    // They did not wait for its end.
    expect(ended).toBe(false);
    await terminate(pid);
    expect(classifyFailure(await slow)).toBe('retry');
    expect(await readNotes()).toHaveLength(30);
  });

  it('frees its pool slot, however often it happens', async () => {
    const pool = createPool(2, DEADLINE_MS);
    for (let round = 0; round < 2; round += 1) {
      const failures = await Promise.all([1, 2].map(() => rejectionOf(pool.query(SLEEP, [ENDLESS_SECONDS]))));
      for (const failure of failures) expect(failure).toBeInstanceOf(ConnectionLost);
    }
    const pids = await Promise.all([untilPid(pool), untilPid(pool), untilPid(pool)]);
    expect(pids.every((pid) => pid > 0)).toBe(true);
    expect(pool.usage.waiting).toBe(0);
  });

  it('at COMMIT has an unknown outcome', async () => {
    const pool = createPool(1, DEADLINE_MS);
    let before = 0;
    let reachedCommit = false;
    const failure = await until('only the COMMIT missed its deadline', async () => {
      const rejection = await rejectionOf(
        pool.transaction('begin', async (tx) => {
          before = await readPid(tx);
          await tx.query(INSERT, [before, 'slow']);
          reachedCommit = true;
        }),
      );
      return reachedCommit && rejection;
    });
    expect(failure).toBeInstanceOf(CommitUnknown);
    expect(classifyFailure(failure)).toBe('unknown');
    expect(await untilPid(pool)).not.toBe(before);
  });

  it('includes waiting for a connection of the pool', async () => {
    const pool = createPool(1, DEADLINE_MS);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const state = { holding: false };
    const work = () => {
      state.holding = true;
      return released;
    };
    // Its own statements may miss the deadline too.
    const hold = async () => {
      while (!state.holding) await rejectionOf(pool.transaction('begin', work));
    };
    const held = hold();
    await until('a transaction holds the connection', async () => state.holding);
    const failure = await rejectionOf(pool.query(PID));
    expect(failure).toBeInstanceOf(ConnectionLost);
    expect(classifyFailure(failure)).toBe('retry');
    release();
    await held;
    expect(await untilPid(pool)).toBeGreaterThan(0);
  });
});

describe('a statement error', () => {
  it('that the callback hides does not turn the ROLLBACK into a commit', async () => {
    const pool = createPool(1);
    const hiddenFailure = pool.transaction('begin', async (tx) => {
      await tx.query(INSERT, [1, 'plain']);
      await tx.query(DIVIDE, [0]).catch(() => undefined);
      return 'done';
    });
    expect(await rejectionOf(hiddenFailure)).toMatchObject({ message: expect.stringContaining('ROLLBACK') });
    expect(await readNotes()).toEqual([]);
  });

  it('is passed on and keeps the connection, inside a transaction and outside', async () => {
    const pool = createPool(1);
    const pid = await readPid(pool);
    const outside = await rejectionOf(pool.query(DIVIDE, [0]));
    const inside = await rejectionOf(
      pool.transaction('begin', async (tx) => {
        await tx.query(INSERT, [1, 'plain']);
        await tx.query(DIVIDE, [0]);
      }),
    );
    for (const failure of [outside, inside]) {
      expect(failure).toBeInstanceOf(DatabaseError);
      expect(failure).toMatchObject({ code: '22012' });
      expect(classifyFailure(failure)).toBe('command');
    }
    expect(await readPid(pool)).toBe(pid);
    expect(await readNotes()).toEqual([]);
  });

  it('leaves no transaction setting to the next one on the same connection', async () => {
    const pool = createPool(1);
    await rejectionOf(
      pool.transaction("begin; set local caudal.organization_id = 'left behind'", (tx) =>
        tx.query(DIVIDE, [0]),
      ),
    );
    const setting = statement(
      'test.setting',
      "select current_setting('caudal.organization_id', true) as left",
    );
    expect(await pool.query(setting)).toEqual([{ left: '' }]);
  });

  it('raised at COMMIT is a rejection, not an unknown outcome', async () => {
    const pool = createPool(1);
    const pid = await readPid(pool);
    const twice = statement('test.once', 'insert into once values ($1)');
    const deferred = await rejectionOf(
      pool.transaction('begin', async (tx) => {
        await tx.query(twice, ['a']);
        await tx.query(twice, ['a']);
      }),
    );
    const raised = await rejectionOf(pool.transaction('begin', (tx) => tx.query(INSERT, [1, 'refused'])));
    expect(deferred).toMatchObject({ code: '23505', severity: 'ERROR' });
    expect(classifyFailure(deferred)).toBe('command');
    expect(raised).toMatchObject({ code: '23514', message: 'refused at commit' });
    expect(await readPid(pool)).toBe(pid);
    expect(await readNotes()).toEqual([]);
  });

  it('includes a lock timeout, which has its own verdict', async () => {
    const pool = createPool(2);
    await pool.query(INSERT, [1, 'plain']);
    const touch = statement('test.touch', "update notes set kind = 'touched' where id = 1");
    const failure = await pool.transaction('begin', async (tx) => {
      await tx.query(touch);
      return rejectionOf(pool.transaction('begin', (other) => other.query(touch)));
    });
    expect(failure).toMatchObject({ code: '55P03' });
    expect(classifyFailure(failure)).toBe('lock_timeout');
  });
});

describe('a transaction that could not begin', () => {
  it.each(['begin isolation level nonsense', "begin; set local lock_timeout = 'nonsense'"])(
    'with "%s" writes nothing and keeps the connection',
    async (begin) => {
      const pool = createPool(1);
      const failure = await rejectionOf(pool.transaction(begin, (tx) => tx.query(INSERT, [1, 'plain'])));
      expect({ failure: failure instanceof DatabaseError, notes: await readNotes() }).toEqual({
        failure: true,
        notes: [],
      });
      await pool.transaction('begin', (tx) => tx.query(INSERT, [2, 'plain']));
      expect(await readNotes()).toEqual([{ id: 2 }]);
    },
  );
});

describe('an error thrown by the transaction callback', () => {
  it('rolls back, keeps the connection and is passed on unchanged', async () => {
    const pool = createPool(1);
    const pid = await readPid(pool);
    const thrown = new RangeError('an amount of money is not negative');
    const failure = await rejectionOf(
      pool.transaction('begin', async (tx) => {
        await tx.query(INSERT, [1, 'plain']);
        throw thrown;
      }),
    );
    expect(failure).toBe(thrown);
    expect(classifyFailure(failure)).toBe('internal_error');
    expect(await readPid(pool)).toBe(pid);
    expect(await readNotes()).toEqual([]);
  });

  it('is not mistaken for a lost connection because of its message', async () => {
    const pool = createPool(1);
    const thrown = new Error('the timeout of a Connection was terminated');
    expect(await rejectionOf(pool.transaction('begin', () => Promise.reject(thrown)))).toBe(thrown);
  });
});

describe('a terminated backend', () => {
  it('between two statements of a transaction loses only the connection', async () => {
    const pool = createPool(1);
    let lost = 0;
    const failure = await rejectionOf(
      pool.transaction('begin', async (tx) => {
        lost = await readPid(tx);
        await tx.query(INSERT, [1, 'plain']);
        await terminate(lost);
        await tx.query(INSERT, [2, 'plain']);
      }),
    );
    expect(classifyFailure(failure)).toBe('retry');
    expect(await readNotes()).toEqual([]);
    expect(await readPid(pool)).not.toBe(lost);
  });

  it('during a statement can be retried, and its connection is not reused', async () => {
    const pool = createPool(1);
    let lost = 0;
    const failing = rejectionOf(
      pool.transaction('begin', async (tx) => {
        lost = await readPid(tx);
        await tx.query(INSERT, [1, 'plain']);
        await tx.query(SLEEP, [ENDLESS_SECONDS]);
      }),
    );
    await until('the transaction has started', async () => lost > 0);
    await waitUntilBusy(lost);
    await terminate(lost);
    expect(classifyFailure(await failing)).toBe('retry');
    await pool.transaction('begin', (tx) => tx.query(INSERT, [1, 'plain']));
    expect(await readNotes()).toEqual([{ id: 1 }]);
  });

  it('during a single statement is not given to the next caller', async () => {
    const pool = createPool(1);
    const lost = await readPid(pool);
    // The query waiting for the only connection gets one as soon as the other has failed.
    const failing = rejectionOf(pool.query(SLEEP, [ENDLESS_SECONDS]));
    await waitUntilBusy(lost);
    const next = readPid(pool).then(
      (pid) => ({ fresh: pid !== lost }),
      (error: unknown) => ({ error }),
    );
    await database.query('select pg_terminate_backend($1)', [lost]);
    expect(classifyFailure(await failing)).toBe('retry');
    expect(await next).toEqual({ fresh: true });
  });

  it('that was idle is replaced', async () => {
    const pool = createPool(1);
    const lost = await readPid(pool);
    await terminate(lost);
    const next = await until('the pool has dropped it', () => readPid(pool));
    expect(next).not.toBe(lost);
  });

  it('at COMMIT leaves the outcome unknown', async () => {
    const pool = createPool(1);
    let lost = 0;
    const failing = rejectionOf(
      pool.transaction('begin', async (tx) => {
        lost = await readPid(tx);
        await tx.query(INSERT, [1, 'slow']);
      }),
    );
    await until('the transaction has started', async () => lost > 0);
    await waitUntilBusy(lost);
    await terminate(lost);
    const failure = await failing;
    expect(failure).toBeInstanceOf(CommitUnknown);
    expect(classifyFailure(failure)).toBe('unknown');
  });
});

describe('a commit that no standby has confirmed', () => {
  it('is unknown although PostgreSQL reports success, and its connection is not reused', async () => {
    const pool = createPool(1);
    const before = await readPid(pool);
    const inside = await rejectionOf(
      pool.transaction('begin', (tx) => tx.query(INSERT, [1, 'unacknowledged'])),
    );
    const between = await readPid(pool);
    const alone = await rejectionOf(pool.query(INSERT, [2, 'unacknowledged']));
    for (const failure of [inside, alone]) {
      expect(failure).toBeInstanceOf(CommitUnknown);
      expect(classifyFailure(failure)).toBe('unknown');
    }
    expect(new Set([before, between, await readPid(pool)]).size).toBe(3);
    expect(await readNotes()).toHaveLength(2);
  });
});

describe('values from the database', () => {
  it('are bigint for 64-bit integers, exact beyond the number range', async () => {
    const values = statement(
      'test.values',
      `select 9007199254740993::bigint as big, (-9223372036854775808)::bigint as smallest, 0::bigint as zero,
         null::bigint as nothing, count(*) as counted, 7::integer as small, 1.5::float8 as fraction from notes`,
    );
    expect(await createPool(1).query(values)).toEqual([
      {
        big: 9_007_199_254_740_993n,
        smallest: -9_223_372_036_854_775_808n,
        zero: 0n,
        nothing: null,
        counted: 0n,
        small: 7,
        fraction: 1.5,
      },
    ]);
  });

  it('accept bigint parameters', async () => {
    const echo = statement('test.echo', 'select $1::bigint as back');
    expect(await createPool(1).query(echo, [9_007_199_254_740_993n])).toEqual([
      { back: 9_007_199_254_740_993n },
    ]);
  });

  it('are in UTC, whatever the server setting', async () => {
    const zone = statement('test.zone', "select current_setting('timezone') as zone");
    await database.query(`alter database ${database.name} set timezone = 'America/Bogota'`);
    expect(await createPool(1).query(zone)).toEqual([{ zone: 'UTC' }]);
  });
});
