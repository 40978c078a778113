import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

vi.setConfig({ testTimeout: 60_000 });

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
  const [before] = await stack.database.query<{ number: string }>(
    'select coalesce(max(number), 0) as number from caudal.continuity_marks',
  );
  await until(
    'two new marks',
    async () => {
      const [now] = await stack.database.query<{ number: string }>(
        'select coalesce(max(number), 0) as number from caudal.continuity_marks',
      );
      return Number(now?.number) >= Number(before?.number) + 2;
    },
    20_000,
  );
}

describe('another timeline of the same database', () => {
  it('is confirmed by a running process that finds its mark', async () => {
    await untilMarked();
    expect(await readMetric(worker(), METRIC)).toBe(0);
    await changeTimeline();
    await until('the timeline is confirmed', isConfirmed, 10_000);
    await until('sending is resumed', async () => (await readMetric(worker(), METRIC)) === 0, 10_000);
  });

  it('is confirmed soon after another session stops locking the row', async () => {
    await untilMarked();
    const client = new Client({ connectionString: stack.database.ownerUrl });
    await client.connect();
    try {
      // In one message, so that the worker does not confirm the change before the lock.
      await client.query(
        `begin; ${CHANGE_TIMELINE}; commit; begin; select from caudal.sending_guard for update`,
      );
      await until('sending is paused', async () => (await readMetric(worker(), METRIC)) === 1, 10_000);
      // Longer than the lock timeout.
      await client.query('select pg_sleep(4)');
      expect(await isConfirmed()).toBe(false);
      await client.query('commit');
      await until('the timeline is confirmed', isConfirmed, 5000);
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
      await until('sending is resumed', async () => (await readMetric({ opsUrl }, METRIC)) === 0, 10_000);
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
      await stack.database.query('delete from caudal.continuity_marks');
      await until('sending is paused', async () => (await readMetric({ opsUrl }, METRIC)) === 1, 10_000);
      const [row] = await stack.database.query<{ paused_by: string }>(
        'select paused_by from caudal.sending_guard',
      );
      expect(row?.paused_by).toBe('caudal');
    } finally {
      await running.stop();
    }
  });
});
