import { DatabaseError } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { readConfig } from '../../src/config.ts';
import { FailureLog } from '../../src/db/failure-log.ts';
import { CommitUnknown, ConnectionLost, verdictOf } from '../../src/db/failures.ts';
import { RolePool } from '../../src/db/pool.ts';
import { statement, type Tx } from '../../src/db/tx.ts';
import { makeLog } from '../../src/kit/log.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { until } from '../harness/until.ts';

const DEADLINE_MS = 1500;

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
  // `kind` decides what happens at COMMIT, for that is when a deferred trigger runs.
  await database.query(`
    create table notes (id integer primary key, kind text not null);
    create table once (kind text unique deferrable initially deferred);
    create function at_commit() returns trigger language plpgsql as $$
      begin
        if new.kind = 'slow' then perform pg_sleep(1.5); end if;
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

function poolOf(connections: number): RolePool {
  const log = makeLog({ level: 'silent', base: {} });
  const pool = new RolePool({
    url,
    role: 'system',
    connections,
    deadlineMs: DEADLINE_MS,
    failures: new FailureLog(log),
  });
  pools.push(pool);
  return pool;
}

/** What a promise was rejected with; an error of its own when it was not. */
function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
}

async function pidOf(tx: Pick<Tx, 'query'>): Promise<number> {
  const [row] = await tx.query<{ pid: number }>(PID);
  return row?.pid ?? 0;
}

async function lives(pid: number): Promise<boolean> {
  return (await database.query('select from pg_stat_activity where pid = $1', [pid])).length > 0;
}

async function terminate(pid: number): Promise<void> {
  await database.query('select pg_terminate_backend($1)', [pid]);
  await until('the backend has ended', async () => !(await lives(pid)));
}

/** Once the backend is in the middle of a statement, and not before. */
function busy(pid: number): Promise<boolean> {
  return until('the backend is at work', async () => {
    const rows = await database.query(
      "select from pg_stat_activity where pid = $1 and state = 'active' and wait_event = 'PgSleep'",
      [pid],
    );
    return rows.length > 0;
  });
}

function notes(): Promise<{ id: number }[]> {
  return database.query<{ id: number }>('select id from notes order by id');
}

describe('a statement over its deadline', () => {
  it('in a transaction is a lost connection: its backend goes and is never used again', async () => {
    const pool = poolOf(2);
    let lost = 0;
    const started = performance.now();
    const failure = await failureOf(
      pool.transaction('begin', async (tx) => {
        lost = await pidOf(tx);
        await tx.query(INSERT, [1, 'plain']);
        await tx.query(SLEEP, [3]);
      }),
    );
    const took = performance.now() - started;
    expect(failure).toBeInstanceOf(ConnectionLost);
    expect(verdictOf(failure)).toBe('again');
    expect(took).toBeGreaterThan(DEADLINE_MS * 0.9);
    expect(took).toBeLessThan(3000);
    const pids = await Promise.all(Array.from({ length: 20 }, () => pidOf(pool)));
    expect(pids).not.toContain(lost);
    await until('its backend has ended', async () => !(await lives(lost)));
    expect(await notes()).toEqual([]);
  });

  it('on its own is a lost connection as well, and its backend goes', async () => {
    const pool = poolOf(1);
    const lost = await pidOf(pool);
    const failure = await failureOf(pool.query(SLEEP, [3]));
    expect(failure).toBeInstanceOf(ConnectionLost);
    expect(await pidOf(pool)).not.toBe(lost);
    await until('its backend has ended', async () => !(await lives(lost)));
  });

  it('does not hinder the others', async () => {
    const pool = poolOf(2);
    const slow = failureOf(pool.query(SLEEP, [3]));
    const others = await Promise.all(
      Array.from({ length: 30 }, (_, id) =>
        pool.transaction('begin', (tx) => tx.query(INSERT, [id, 'plain'])),
      ),
    );
    expect(others).toHaveLength(30);
    expect(await slow).toBeInstanceOf(ConnectionLost);
    expect(await notes()).toHaveLength(30);
  });

  it('leaves every place in the pool free again, however often it happens', async () => {
    const pool = poolOf(2);
    for (let round = 0; round < 2; round += 1) {
      const failures = await Promise.all([1, 2].map(() => failureOf(pool.query(SLEEP, [3]))));
      for (const failure of failures) expect(failure).toBeInstanceOf(ConnectionLost);
    }
    const pids = await Promise.all([pidOf(pool), pidOf(pool), pidOf(pool)]);
    expect(pids.every((pid) => pid > 0)).toBe(true);
    expect(pool.waiting).toBe(0);
  });

  it('at COMMIT is neither yes nor no', async () => {
    const pool = poolOf(1);
    const before = await pidOf(pool);
    const failure = await failureOf(pool.transaction('begin', (tx) => tx.query(INSERT, [1, 'slow'])));
    expect(failure).toBeInstanceOf(CommitUnknown);
    expect(verdictOf(failure)).toBe('unknown');
    expect(await pidOf(pool)).not.toBe(before);
  });

  it('is also waiting for a connection: nobody waits longer than that for a place', async () => {
    const pool = poolOf(1);
    let letGo: () => void = () => {};
    const held = pool.transaction('begin', () => new Promise<void>((resolve) => (letGo = resolve)));
    const failure = await failureOf(pool.query(PID));
    expect(failure).toBeInstanceOf(ConnectionLost);
    expect(verdictOf(failure)).toBe('again');
    letGo();
    await held;
    expect(await pidOf(pool)).toBeGreaterThan(0);
  });
});

describe("a statement's own error", () => {
  it('that the work hides does not let COMMIT pass for a commit', async () => {
    const pool = poolOf(1);
    const hidden = pool.transaction('begin', async (tx) => {
      await tx.query(INSERT, [1, 'plain']);
      await tx.query(DIVIDE, [0]).catch(() => undefined);
      return 'done';
    });
    expect(await failureOf(hidden)).toMatchObject({ message: expect.stringContaining('ROLLBACK') });
    expect(await notes()).toEqual([]);
  });

  it('is passed on and keeps the connection, inside a transaction and outside', async () => {
    const pool = poolOf(1);
    const pid = await pidOf(pool);
    const outside = await failureOf(pool.query(DIVIDE, [0]));
    const inside = await failureOf(
      pool.transaction('begin', async (tx) => {
        await tx.query(INSERT, [1, 'plain']);
        await tx.query(DIVIDE, [0]);
      }),
    );
    for (const failure of [outside, inside]) {
      expect(failure).toBeInstanceOf(DatabaseError);
      expect(failure).toMatchObject({ code: '22012' });
      expect(verdictOf(failure)).toBe('command');
    }
    expect(await pidOf(pool)).toBe(pid);
    expect(await notes()).toEqual([]);
  });

  it('leaves nothing of its transaction to the next one on the same connection', async () => {
    const pool = poolOf(1);
    await failureOf(
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

  it('raised at COMMIT is its error too: a refusal, not an unknown outcome', async () => {
    const pool = poolOf(1);
    const pid = await pidOf(pool);
    const twice = statement('test.once', 'insert into once values ($1)');
    const deferred = await failureOf(
      pool.transaction('begin', async (tx) => {
        await tx.query(twice, ['a']);
        await tx.query(twice, ['a']);
      }),
    );
    const raised = await failureOf(pool.transaction('begin', (tx) => tx.query(INSERT, [1, 'refused'])));
    expect(deferred).toMatchObject({ code: '23505', severity: 'ERROR' });
    expect(verdictOf(deferred)).toBe('command');
    expect(raised).toMatchObject({ code: '23514', message: 'refused at commit' });
    expect(await pidOf(pool)).toBe(pid);
    expect(await notes()).toEqual([]);
  });

  it('is waiting too long for a row that another transaction holds, and is told apart from a fault of its own', async () => {
    const log = makeLog({ level: 'silent', base: {} });
    const pool = new RolePool({
      url,
      role: 'system',
      connections: 2,
      deadlineMs: 5000,
      failures: new FailureLog(log),
    });
    pools.push(pool);
    await pool.query(INSERT, [1, 'plain']);
    const touch = statement('test.touch', "update notes set kind = 'touched' where id = 1");
    const failure = await pool.transaction('begin', async (tx) => {
      await tx.query(touch);
      return failureOf(pool.transaction('begin', (other) => other.query(touch)));
    });
    expect(failure).toMatchObject({ code: '55P03' });
    expect(verdictOf(failure)).toBe('held');
  });
});

describe('a transaction that could not begin', () => {
  it.each(['begin isolation level nonsense', "begin; set local lock_timeout = 'nonsense'"])(
    'by "%s" has written nothing, and the connection goes on',
    async (begin) => {
      const pool = poolOf(1);
      const failure = await failureOf(pool.transaction(begin, (tx) => tx.query(INSERT, [1, 'plain'])));
      expect({ failure: failure instanceof DatabaseError, notes: await notes() }).toEqual({
        failure: true,
        notes: [],
      });
      await pool.transaction('begin', (tx) => tx.query(INSERT, [2, 'plain']));
      expect(await notes()).toEqual([{ id: 2 }]);
    },
  );
});

describe('an error of the work inside a transaction', () => {
  it('rolls back, keeps the connection and is passed on as it is', async () => {
    const pool = poolOf(1);
    const pid = await pidOf(pool);
    const own = new RangeError('an amount of money is not negative');
    const failure = await failureOf(
      pool.transaction('begin', async (tx) => {
        await tx.query(INSERT, [1, 'plain']);
        throw own;
      }),
    );
    expect(failure).toBe(own);
    expect(verdictOf(failure)).toBe('fault');
    expect(await pidOf(pool)).toBe(pid);
    expect(await notes()).toEqual([]);
  });

  it('is not taken for a lost connection because of the words in it', async () => {
    const pool = poolOf(1);
    const own = new Error('the timeout of a Connection was terminated');
    expect(await failureOf(pool.transaction('begin', () => Promise.reject(own)))).toBe(own);
  });
});

describe('a backend that is ended', () => {
  it('between two statements of a transaction loses nothing but the connection', async () => {
    const pool = poolOf(1);
    let lost = 0;
    const failure = await failureOf(
      pool.transaction('begin', async (tx) => {
        lost = await pidOf(tx);
        await tx.query(INSERT, [1, 'plain']);
        await terminate(lost);
        await tx.query(INSERT, [2, 'plain']);
      }),
    );
    expect(verdictOf(failure)).toBe('again');
    expect(await notes()).toEqual([]);
    expect(await pidOf(pool)).not.toBe(lost);
  });

  it('in the middle of a statement may be tried again, and its connection is not used again', async () => {
    const pool = poolOf(1);
    let lost = 0;
    const failing = failureOf(
      pool.transaction('begin', async (tx) => {
        lost = await pidOf(tx);
        await tx.query(INSERT, [1, 'plain']);
        await tx.query(SLEEP, [0.5]);
      }),
    );
    await until('the transaction is under way', async () => lost > 0);
    await busy(lost);
    await terminate(lost);
    expect(verdictOf(await failing)).toBe('again');
    await pool.transaction('begin', (tx) => tx.query(INSERT, [1, 'plain']));
    expect(await notes()).toEqual([{ id: 1 }]);
  });

  it('in the middle of a statement on its own does not come back to whoever asks next', async () => {
    const pool = poolOf(1);
    const lost = await pidOf(pool);
    // The one that waits for the only place gets it the moment the other has failed.
    const failing = failureOf(pool.query(SLEEP, [0.5]));
    await busy(lost);
    const next = pidOf(pool).then(
      (pid) => ({ fresh: pid !== lost }),
      (error: unknown) => ({ error }),
    );
    await database.query('select pg_terminate_backend($1)', [lost]);
    expect(verdictOf(await failing)).toBe('again');
    expect(await next).toEqual({ fresh: true });
  });

  it('while nobody uses it is replaced by a fresh one', async () => {
    const pool = poolOf(1);
    const lost = await pidOf(pool);
    await terminate(lost);
    const next = await until('the pool has let go of it', () => pidOf(pool));
    expect(next).not.toBe(lost);
  });

  it('at COMMIT leaves the outcome unknown', async () => {
    const pool = poolOf(1);
    let lost = 0;
    const failing = failureOf(
      pool.transaction('begin', async (tx) => {
        lost = await pidOf(tx);
        await tx.query(INSERT, [1, 'slow']);
      }),
    );
    await until('the transaction is under way', async () => lost > 0);
    await busy(lost);
    await terminate(lost);
    const failure = await failing;
    expect(failure).toBeInstanceOf(CommitUnknown);
    expect(verdictOf(failure)).toBe('unknown');
  });
});

describe('a commit that no standby has confirmed', () => {
  it('is unknown although PostgreSQL calls it done, and its connection is not used again', async () => {
    const pool = poolOf(1);
    const before = await pidOf(pool);
    const inside = await failureOf(
      pool.transaction('begin', (tx) => tx.query(INSERT, [1, 'unacknowledged'])),
    );
    const between = await pidOf(pool);
    const alone = await failureOf(pool.query(INSERT, [2, 'unacknowledged']));
    for (const failure of [inside, alone]) {
      expect(failure).toBeInstanceOf(CommitUnknown);
      expect(verdictOf(failure)).toBe('unknown');
    }
    expect(new Set([before, between, await pidOf(pool)]).size).toBe(3);
    expect(await notes()).toHaveLength(2);
  });
});

describe('what comes out of the database', () => {
  it('has 64-bit integers as bigint, exact beyond what a number holds', async () => {
    const values = statement(
      'test.values',
      `select 9007199254740993::bigint as big, (-9223372036854775808)::bigint as smallest, 0::bigint as zero,
         null::bigint as nothing, count(*) as counted, 7::integer as small, 1.5::float8 as fraction from notes`,
    );
    expect(await poolOf(1).query(values)).toEqual([
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

  it('takes bigint back as it was', async () => {
    const echo = statement('test.echo', 'select $1::bigint as back');
    expect(await poolOf(1).query(echo, [9_007_199_254_740_993n])).toEqual([{ back: 9_007_199_254_740_993n }]);
  });

  it('speaks UTC, whatever the server is set to', async () => {
    const zone = statement('test.zone', "select current_setting('timezone') as zone");
    await database.query(`alter database ${database.name} set timezone = 'America/Bogota'`);
    expect(await poolOf(1).query(zone)).toEqual([{ zone: 'UTC' }]);
  });
});
