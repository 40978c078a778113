import { afterAll, beforeAll, expect, it } from 'vitest';
import { PRODUCTION_DEADLINES } from '../../../scripts/testing/patient-settings.ts';
import type { TestDatabase } from '../harness/database.ts';
import { startOwnCluster } from '../harness/own-cluster.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { runDoctor } from '../operator/doctor-report.ts';

const MAX_PENDING_COMMITS = 3;
/** Creations in flight on two lanes when the limit is reached. */
const IN_FLIGHT = 2;
const DEADLINE_MS = 1000;

let database: TestDatabase;
let stack: Stack;
beforeAll(async () => {
  database = await startOwnCluster({ max_connections: '150' });
  stack = await startStack({
    database,
    apis: 2,
    workers: 1,
    settings: {
      ...PRODUCTION_DEADLINES,
      CAUDAL_MAX_PENDING_COMMITS: String(MAX_PENDING_COMMITS),
      CAUDAL_DATABASE_DEADLINE_MS: String(DEADLINE_MS),
    },
  });
});
afterAll(async () => {
  await setStandby('');
  await stack?.stop();
});

async function setStandby(names: string): Promise<void> {
  await database?.query(`alter system set synchronous_standby_names = '${names}'`);
  await database?.query('select pg_reload_conf()');
}

async function countWaitingForStandby(): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    "select count(*)::int as count from pg_stat_activity where wait_event = 'SyncRep'",
  );
  return row?.count ?? 0;
}

async function readiness(opsUrl: string): Promise<{ status: number; codes: string[]; reasons: string[] }> {
  const response = await fetch(`${opsUrl}/readyz`);
  return {
    ...((await response.json()) as { codes: string[]; reasons: string[] }),
    status: response.status,
  };
}

it('limits the commits that wait for a missing standby, rejects writes early and recovers afterwards', async () => {
  const processes = [...stack.apis, ...stack.workers].map(({ opsUrl }) => opsUrl);
  expect((await stack.api.strict.post('/payins', brebPayin())).status).toBe(201);
  await setStandby('missing');

  const ending = new AbortController();
  const responseCounts = new Map<string, number>();
  const load = stack.apis.flatMap(({ url }) =>
    Array.from({ length: 4 }, async () => {
      while (!ending.signal.aborted) {
        const answer = await stack.api.strict.at(url).post('/payins', brebPayin());
        const name = `${answer.status} ${String(answer.body['code'])}`;
        responseCounts.set(name, (responseCounts.get(name) ?? 0) + 1);
      }
    }),
  );
  try {
    for (const opsUrl of processes.slice(0, 2)) {
      const unready = await until('the process rejects writes and reports why', async () => {
        const answer = await readiness(opsUrl);
        return answer.codes.includes('commits_pending') && answer;
      });
      expect(unready.status).toBe(503);
      expect(unready.reasons.join()).toContain('synchronous standby');
    }
    // The worker has little to write; its own test write detects it.
    await until('the worker is unready', async () => (await readiness(processes[2] ?? '')).status === 503);

    const maxWaiting = processes.length * (MAX_PENDING_COMMITS + IN_FLIGHT) + 2;
    const deadline = performance.now() + 8 * DEADLINE_MS;
    const counts: number[] = [];
    await until('eight deadlines have passed under load', async () => {
      counts.push(await countWaitingForStandby());
      return performance.now() > deadline;
    });
    expect(Math.max(...counts)).toBeLessThanOrEqual(maxWaiting);

    const rejected = await stack.api.strict.post('/payins', brebPayin());
    expect(rejected.status).toBe(503);
    expect(rejected.body['code']).toBe('service_unavailable');
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await stack.api.strict.get('/payins')).status).toBe(200);
    expect(
      await readMetric({ opsUrl: processes[0] ?? '' }, 'caudal_database_pending_commits'),
    ).toBeGreaterThanOrEqual(MAX_PENDING_COMMITS);

    const doctor = await runDoctor(stack.settings);
    expect(doctor.check('writes')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('synchronous standby'),
    });
    // Doctor adds no pending commit of its own.
    expect(await countWaitingForStandby()).toBeLessThanOrEqual(maxWaiting);
  } finally {
    ending.abort();
    await Promise.all(load);
  }
  expect([...responseCounts.keys()].sort()).toEqual(['503 outcome_unknown', '503 service_unavailable']);

  await setStandby('');
  for (const opsUrl of processes)
    await until('it is ready again', async () => (await readiness(opsUrl)).status === 200);
  expect((await stack.api.strict.post('/payins', brebPayin())).status).toBe(201);
});
