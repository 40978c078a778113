import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { stopwatch } from '../../../scripts/testing/expect-within.ts';
import type { SystemDb } from '../../src/db/system.ts';
import type { Statement } from '../../src/db/tx.ts';
import { BusinessClock, monotonicMs } from '../../src/kit/clock.ts';
import { multiplyDeadlines } from '../../src/kit/deadline.ts';
import { Authenticator } from '../../src/organizations/authenticator.ts';
import { Heartbeat } from '../../src/organizations/heartbeat.ts';
import { KeyNetworks } from '../../src/organizations/key-networks.ts';
import { RailPauses } from '../../src/organizations/rail-pauses.ts';
import { SendingGuard } from '../../src/organizations/sending-guard.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';
import { until } from '../harness/until.ts';

const GAP_MS = 1500;

const NO_ACTIONS = { confirm: async () => false, pause: async () => {}, insertMark: async () => {} };

let database: TestDatabase;
let caudal: InProcess;
beforeAll(async () => {
  database = await cloneDatabase();
  caudal = await composeInProcess(settingsFor(database.ownerUrl));
});
afterEach(() => multiplyDeadlines(caudal.config.testDeadlineFactor));
afterAll(async () => {
  await caudal?.close();
  await database?.drop();
});

const HOUR_MS = 3_600_000;

describe('a process cut off for longer than the pulse window', () => {
  it('rejects a key that was revoked meanwhile', async () => {
    expect(await authenticateAfterOutage({ clockAheadMs: 0 })).toBe('unauthorized');
  });

  it('rejects a key that was revoked meanwhile when the database clock stepped back before', async () => {
    expect(await authenticateAfterOutage({ clockAheadMs: HOUR_MS })).toBe('unauthorized');
  });

  it('rejects a key that was revoked meanwhile when the database clock steps back by as much', async () => {
    expect(await authenticateAfterOutage({ clockAheadMs: 0, stepBackMs: 2 * GAP_MS })).toBe('unauthorized');
  });
});

interface ClockSteps {
  /** How far the database clock is ahead at first; it steps back before the connection is cut. */
  readonly clockAheadMs: number;
  /** How far it steps back while the connection is cut. */
  readonly stepBackMs?: number;
}

/** The result for a key that was revoked while the process was cut off, once the connection is back. */
async function authenticateAfterOutage({ clockAheadMs, stepBackMs = 0 }: ClockSteps): Promise<string> {
  const { deps, config } = caudal;
  const { apiKey, principal } = await caudal.newOrganization();
  const clock = new BusinessClock();
  const { environment, peppers } = config;
  const authenticator = new Authenticator({
    db: deps.system,
    clock,
    environment,
    peppers,
    keys: caudal.keys,
  });
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
    keyNetworks: new KeyNetworks(() => Promise.resolve()),
    keys: caudal.keys,
    railPauses: new RailPauses({ held: false }),
    sendingGuard: new SendingGuard(NO_ACTIONS, deps.log),
    log: deps.log,
    maxGapMs: GAP_MS,
  });
  await heartbeat.start();
  const authenticate = async () => authenticator.authenticate(apiKey, ['key']);
  if (clockAheadMs > 0) {
    const steppedBackMs = monotonicMs();
    offsetMs = 0;
    await until('a heartbeat succeeded after the step', async () => clock.isSampledSince(steppedBackMs));
  }
  await authenticate();

  // From here on the process must notice the outage, within the time of production.
  multiplyDeadlines(1);
  cutOff = true;
  const cutOffForMs = stopwatch();
  offsetMs = -stepBackMs;
  // As if revoked early in a long outage: the pulse no longer lists it when the connection is back.
  await database.query('update caudal.api_keys set revoked_at = caudal.now() where id = $1', [
    principal.keyId,
  ]);
  await database.query(
    "insert into caudal.credential_changes (organization_id, at) values ($1, clock_timestamp() - interval '31 seconds')",
    [principal.organization.id],
  );
  await until('the process rejects requests', () =>
    authenticate().then(
      () => false,
      (error: { code?: string }) => error.code === 'service_unavailable',
    ),
  );
  await until('the outage is longer than the window', async () => cutOffForMs() > GAP_MS);
  cutOff = false;
  const answer = await until('the process answers again', () =>
    authenticate().then(
      () => 'accepted',
      (error: { code?: string }) => error.code !== 'service_unavailable' && error.code,
    ),
  );
  await heartbeat.stop();
  return answer;
}
