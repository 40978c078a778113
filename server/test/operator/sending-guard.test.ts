import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { within } from '../../../scripts/testing/expect-within.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const METRIC = 'caudal_sending_paused_after_restore';
const CURRENT =
  'select 1 from caudal.sending_guard where identity = caudal.database_identity() and paused_at is null';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ apis: 0, workers: 1 });
});
afterAll(() => stack?.stop());

const worker = () => {
  const [first] = stack.workers;
  if (!first) throw new Error('no worker');
  return first;
};

/** The recorded identity has another last part, as after a promotion. */
const CHANGE_TIMELINE =
  "update caudal.sending_guard set identity = regexp_replace(identity, '[^/]*$', '0000000F')";

const changeTimeline = () => stack.database.query(CHANGE_TIMELINE);

const isConfirmed = async () => (await stack.database.query(CURRENT)).length > 0;

/** The process remembers a mark only after a heartbeat has read it. */
async function untilMarked(): Promise<void> {
  const readNewest = async () => {
    const [row] = await stack.database.query<{ number: number | null }>(
      'select max(number)::int as number from caudal.continuity_marks',
    );
    return row?.number ?? null;
  };
  const before = await until('a first mark', readNewest);
  await until('two new marks', async () => ((await readNewest()) ?? 0) >= before + 2);
}

/** @returns a session that has changed the timeline and locks the row; no process had the time to confirm the change */
async function changeTimelineAndLock(): Promise<Client> {
  const [changing, blocking, locking] = await Promise.all([connect(), connect(), connect()]);
  await changing.query(`begin; ${CHANGE_TIMELINE}`);
  // It gets its lock at the moment of the commit, and keeps everyone else from changing the row, but not from locking it.
  const blocked = blocking.query('begin; lock table caudal.sending_guard in share row exclusive mode');
  await until('the lock is queued', async () => {
    const waiting = await stack.database.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%share row exclusive%'",
    );
    return waiting.length > 0;
  });
  await changing.query('commit');
  await blocked;
  await locking.query('begin; select from caudal.sending_guard for update');
  await Promise.all([changing.end(), blocking.end()]);
  return locking;
}

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: stack.database.url });
  await client.connect();
  return client;
}

describe('another timeline of the same database', () => {
  it('is confirmed by a running process that finds its mark', async () => {
    await untilMarked();
    expect(await readMetric(worker(), METRIC)).toBe(0);
    await changeTimeline();
    await until('the timeline is confirmed', isConfirmed);
    await until('sending is resumed', async () => (await readMetric(worker(), METRIC)) === 0);
  });

  it('is confirmed soon after another session stops locking the row', async () => {
    await untilMarked();
    const client = await changeTimelineAndLock();
    try {
      await until('sending is paused', async () => (await readMetric(worker(), METRIC)) === 1);
      // Long enough for several tries.
      await client.query('select pg_sleep(4)');
      expect(await isConfirmed()).toBe(false);
      await client.query('commit');
      await within('the confirmation', 5000, () => until('the timeline is confirmed', isConfirmed));
    } finally {
      await client.end();
    }
  });

  it('is not confirmed by a process that started after the change', async () => {
    await worker().stop();
    await changeTimeline();
    const fresh = await startServer('worker', stack.settings);
    const opsUrl = `http://127.0.0.1:${String(fresh.ready['opsPort'])}`;
    try {
      expect(await readMetric({ opsUrl }, METRIC)).toBe(1);
      await runOperatorCommand(stack.settings, 'rails', 'list');
      expect(await isConfirmed()).toBe(false);
      await stack.database.query('update caudal.sending_guard set identity = caudal.database_identity()');
      await until('sending is resumed', async () => (await readMetric({ opsUrl }, METRIC)) === 0);
    } finally {
      await fresh.stop();
    }
  });
});

describe('a database that has lost marks on the same timeline', () => {
  it('is paused by a running process', async () => {
    const running = await startServer('worker', stack.settings);
    const opsUrl = `http://127.0.0.1:${String(running.ready['opsPort'])}`;
    try {
      await untilMarked();
      // With its sequence, as a snapshot of the disk: a mark that is inserted meanwhile has a lower number too.
      await stack.database.query('truncate caudal.continuity_marks restart identity');
      await until('sending is paused', async () => (await readMetric({ opsUrl }, METRIC)) === 1);
      const pausedBy = await until('the pause is stored', async () => {
        const [row] = await stack.database.query<{ paused_by: string | null }>(
          'select paused_by from caudal.sending_guard',
        );
        return row?.paused_by;
      });
      expect(pausedBy).toBe('caudal');
    } finally {
      await running.stop();
    }
  });
});
