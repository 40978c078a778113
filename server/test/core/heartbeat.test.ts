import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SystemDb } from '../../src/db/system.ts';
import { BusinessClock } from '../../src/kit/clock.ts';
import { Authority } from '../../src/organizations/authority.ts';
import { Brakes } from '../../src/organizations/brakes.ts';
import { Heartbeat } from '../../src/organizations/heartbeat.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';
import { until } from '../harness/until.ts';

const GAP_MS = 1500;

let database: TestDatabase;
let caudal: InProcess;
beforeAll(async () => {
  database = await cloneDatabase();
  caudal = await composeInProcess(settingsFor(database.url));
});
afterAll(async () => {
  await caudal?.close();
  await database?.drop();
});

it('a process that was cut off for longer than the pulse looks back honours no key that was revoked meanwhile', async () => {
  const { deps, config } = caudal;
  const { apiKey, principal } = await caudal.newOrganization();
  const clock = new BusinessClock();
  const { environment, peppers, masterKeys } = config;
  const authority = new Authority({ db: deps.system, clock, environment, peppers, masterKeys });
  let cutOff = false;
  const db: SystemDb = {
    ...deps.system,
    query: (statement, values) =>
      cutOff ? Promise.reject(new Error('cut off')) : deps.system.query(statement, values),
  };
  const heartbeat = new Heartbeat({
    db,
    clock,
    authority,
    brakes: new Brakes(),
    log: deps.log,
    longestGapMs: GAP_MS,
  });
  await heartbeat.start();
  const ask = async () => authority.authenticate(apiKey, ['key']);
  await ask();

  cutOff = true;
  // As if it had happened early in a long silence: when the process hears again, the pulse no longer lists it.
  await database.query('update caudal.api_keys set revoked_at = caudal.now() where id = $1', [
    principal.keyId,
  ]);
  await database.query(
    "insert into caudal.credential_changes (organization_id, at) values ($1, clock_timestamp() - interval '31 seconds')",
    [principal.organization.id],
  );
  await until('the process no longer answers', () =>
    ask().then(
      () => false,
      (error: { code?: string }) => error.code === 'service_unavailable',
    ),
  );
  await sleep(GAP_MS);
  cutOff = false;
  const answer = await until('the process hears again', () =>
    ask().then(
      () => 'honoured',
      (error: { code?: string }) => error.code !== 'service_unavailable' && error.code,
    ),
  );
  expect(answer).toBe('unauthorized');
  await heartbeat.stop();
});
