import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PRODUCTION_DEADLINES } from '../../../scripts/testing/patient-settings.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { runToEnd } from '../harness/run-server.ts';
import { copyServer, type ServerCopy } from '../harness/server-copy.ts';
import { type Stack, startStack } from '../harness/stack.ts';

let stack: Stack;
let newer: ServerCopy;
beforeAll(async () => {
  stack = await startStack({ settings: { ...PRODUCTION_DEADLINES } });
  newer = copyServer();
  newer.writeMigration(
    '0900_color.sql',
    '-- schema: expand\nalter table caudal.payins add column color text;',
  );
});
afterAll(async () => {
  newer?.remove();
  await stack?.stop();
});

/** Holds ACCESS SHARE on payins, as a report or pg_dump does. */
async function startReader(): Promise<Client> {
  const reader = new Client({ connectionString: stack.database.url });
  await reader.connect();
  await reader.query('begin; lock table caudal.payins in access share mode');
  return reader;
}

const READS_FOR_MS = 12_000;

describe('migrate while a long reader holds a table that a migration alters', () => {
  it('fails with a clear message when the reader outlasts CAUDAL_MIGRATE_LOCK_WAIT_SECONDS', async () => {
    const reader = await startReader();
    const settings = { ...stack.settings, CAUDAL_MIGRATE_LOCK_WAIT_SECONDS: '2' };
    const { code, stderr } = await runToEnd(['migrate'], settings, newer.main);
    await reader.end();
    expect(code).toBe(1);
    expect(stderr).toContain('migration 0900_color.sql was not applied: for 2 s other sessions held a lock');
  });

  it('lets creations pass, retries and succeeds once the reader has ended', async () => {
    const reader = await startReader();
    const migrating = runToEnd(['migrate'], stack.settings, newer.main);
    let ended = false;
    void migrating.then(() => (ended = true));
    const answers: number[] = [];
    const readerEnds = performance.now() + READS_FOR_MS;
    while (performance.now() < readerEnds) {
      const { status } = await stack.api.strict.post('/payins', brebPayin());
      answers.push(status);
      await sleep(100);
    }
    const endedBefore = ended;
    await reader.end();
    const { code, stderr, stdout } = await migrating;
    expect(answers.length).toBeGreaterThan(10);
    expect(answers.filter((status) => status !== 201)).toEqual([]);
    expect({ endedBefore, code, stderr }).toEqual({ endedBefore: false, code: 0, stderr: '' });
    expect(stdout).toContain('migration_lock_timeout');
    expect(
      await stack.database.query(
        "select from information_schema.columns where table_name = 'payins' and column_name = 'color'",
      ),
    ).toHaveLength(1);
  });
});
