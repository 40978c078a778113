import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SystemDb } from '../../src/db/system.ts';
import type { Statement } from '../../src/db/tx.ts';
import { BusinessClock, monotonicMs } from '../../src/kit/clock.ts';
import { Authenticator } from '../../src/organizations/authenticator.ts';
import { Heartbeat } from '../../src/organizations/heartbeat.ts';
import { RailPauses } from '../../src/organizations/rail-pauses.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';
import { until } from '../harness/until.ts';

const GAP_MS = 1500;

let database: TestDatabase;
let caudal: InProcess;
beforeAll(async () => {
  database = await cloneDatabase();
  caudal = await composeInProcess(settingsFor(database.ownerUrl));
});
afterAll(async () => {
  await caudal?.close();
  await database?.drop();
});

const HOUR_MS = 3_600_000;

describe('a process that was cut off for longer than the pulse looks back', () => {
  it('honours no key that was revoked meanwhile', async () => {
    expect(await afterCutOff({ clockAheadMs: 0 })).toBe('unauthorized');
  });

  it('honours no key that was revoked meanwhile when the database clock has stepped back before', async () => {
    expect(await afterCutOff({ clockAheadMs: HOUR_MS })).toBe('unauthorized');
  });

  it('honours no key that was revoked meanwhile when the database clock steps back by as much', async () => {
    expect(await afterCutOff({ clockAheadMs: 0, stepBackMs: 2 * GAP_MS })).toBe('unauthorized');
  });
});

interface ClockSteps {
  /** By how much the database clock is ahead at first; it steps back before the connection is cut. */
  readonly clockAheadMs: number;
  /** By how much it steps back while the connection is cut. */
  readonly stepBackMs?: number;
}

/** What a key that was revoked while the process was cut off is answered once it hears again. */
async function afterCutOff({ clockAheadMs, stepBackMs = 0 }: ClockSteps): Promise<string> {
  const { deps, config } = caudal;
  const { apiKey, principal } = await caudal.newOrganization();
  const clock = new BusinessClock();
  const { environment, peppers, masterKeys } = config;
  const authenticator = new Authenticator({ db: deps.system, clock, environment, peppers, masterKeys });
  let cutOff = false;
  let offsetMs = clockAheadMs;
  const db: SystemDb = {
    ...deps.system,
    query: async <Row extends object>(statement: Statement, values?: readonly unknown[]) => {
      if (cutOff) throw new Error('cut off');
      const rows = await deps.system.query<Row & { real_ms: number }>(statement, values);
      return rows.map((row) => ('real_ms' in row ? { ...row, real_ms: row.real_ms + offsetMs } : row));
    },
  };
  const heartbeat = new Heartbeat({
    db,
    clock,
    authenticator,
    railPauses: new RailPauses(),
    log: deps.log,
    longestGapMs: GAP_MS,
  });
  await heartbeat.start();
  const ask = async () => authenticator.authenticate(apiKey, ['key']);
  if (clockAheadMs > 0) {
    const beganMs = monotonicMs();
    offsetMs = 0;
    await until('a beat was heard after the step', async () => clock.isSampledSince(beganMs));
  }
  await ask();

  cutOff = true;
  offsetMs = -stepBackMs;
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
  await heartbeat.stop();
  return answer;
}
