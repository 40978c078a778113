import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionBudget, totalConnections } from '../../src/db/connection-budget.ts';
import { statement } from '../../src/db/tx.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';

let database: TestDatabase;
let caudal: InProcess;
beforeAll(async () => {
  database = await cloneDatabase();
  await database.query(`alter database ${database.name} set jit = on`);
  caudal = await composeInProcess(settingsFor(database.ownerUrl));
});
afterAll(async () => {
  await caudal?.close();
  await database?.drop();
});

describe('a server session', () => {
  it('disables JIT, whatever the database setting', async () => {
    const rows = await caudal.deps.system.query<{ jit: string }>(
      statement('test.jit', "select current_setting('jit') as jit"),
    );
    expect(rows).toEqual([{ jit: 'off' }]);
  });
});

describe('the connections of a process', () => {
  const settings = { readConnections: 8, batchLanes: 2, systemConnections: null };

  it('are at most 25 for api, 19 for worker and 32 for all', () => {
    const totals = (['api', 'worker', 'all'] as const).map((role) =>
      totalConnections(connectionBudget(role, settings)),
    );
    expect(totals).toEqual([25, 19, 32]);
  });

  it('follow the settings', () => {
    const fewer = { readConnections: 2, batchLanes: 1, systemConnections: 4 };
    expect(totalConnections(connectionBudget('api', fewer))).toBe(2 + 6 + 4 + 2 + 1);
  });
});
