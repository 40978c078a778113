import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DATABASE_CONSEQUENCES, holdLock, type InjectedFault } from './fault.ts';
import { waitFor } from './wait-for.ts';
import type { World } from './world.ts';

const lastWorker = ({ stack }: World) => {
  const worker = stack.workers.at(-1);
  if (!worker) throw new Error('the stack has no worker');
  return worker;
};

/** A process that restarts does not respond to Prometheus for a moment. */
const RESTART_CONSEQUENCES = ['CaudalProcessDown'] as const;

/** One after the other: Prometheus sees at most one that does not respond. */
async function restartWorkers({ stack, prometheus }: World): Promise<void> {
  for (const worker of stack.workers) {
    await worker.restart();
    await waitFor('Prometheus reads the metrics of all workers', async () =>
      (await prometheus.query('min(up{job="caudal-worker"}) == 1')).length === 1 ? true : null,
    );
  }
}

/** Restarts a worker with a module of preloads/. */
function preload(name: string): InjectedFault['inject'] {
  return async (world) => {
    const worker = lastWorker(world);
    const module = new URL(`preloads/${name}.ts`, import.meta.url).href;
    await worker.restart({ NODE_OPTIONS: `--import=${module}` });
    return () => worker.restart();
  };
}

export const PROCESS_FAULTS: readonly InjectedFault[] = [
  {
    name: 'a worker is killed',
    fires: ['CaudalProcessDown'],
    inject: async (world) => {
      const worker = lastWorker(world);
      await worker.kill();
      return () => worker.restart();
    },
  },
  {
    name: 'all workers are killed',
    fires: ['CaudalRoleDown'],
    mayFire: ['CaudalProcessDown', ...DATABASE_CONSEQUENCES],
    inject: async ({ stack }) => {
      await Promise.all(stack.workers.map((worker) => worker.kill()));
      return async () => void (await Promise.all(stack.workers.map((worker) => worker.restart())));
    },
  },
  {
    name: 'the event loop of a worker is blocked',
    fires: ['CaudalEventLoopBlocked'],
    // The worker responds late, to Prometheus too, and holds leases on payouts and webhooks.
    mayFire: ['CaudalProcessDown', 'CaudalRailCallsSlow', ...DATABASE_CONSEQUENCES],
    inject: preload('block-event-loop'),
  },
  {
    name: 'a worker uses too much memory',
    fires: ['CaudalMemoryHigh'],
    mayFire: RESTART_CONSEQUENCES,
    inject: preload('fill-memory'),
  },
  {
    name: 'a worker has another version',
    fires: ['CaudalVersionMismatch'],
    mayFire: RESTART_CONSEQUENCES,
    inject: preload('other-version'),
  },
  {
    name: 'an API process runs out of file descriptors',
    fires: ['CaudalFileDescriptorsHigh'],
    inject: async ({ stack }) => {
      const [api] = stack.apis;
      const limit = (files: string) =>
        execFileSync('prlimit', [`--pid=${api?.pid}`, `--nofile=${files}`], { encoding: 'utf8' });
      const before = /^NOFILE.*?(\d+)\s+(\d+) files$/m.exec(
        execFileSync('prlimit', [`--pid=${api?.pid}`, '--nofile'], { encoding: 'utf8' }),
      );
      const open = Number(
        execFileSync('sh', ['-c', `ls /proc/${api?.pid}/fd | wc -l`], { encoding: 'utf8' }),
      );
      limit(`${open + 5}:`);
      return async () => void limit(`${before?.[1] ?? '1024'}:`);
    },
  },
  {
    name: 'a certificate expires in ten days',
    fires: ['CaudalCertificateExpiring'],
    mayFire: RESTART_CONSEQUENCES,
    inject: async (world) => {
      const folder = mkdtempSync(join(tmpdir(), 'caudal-certificate-'));
      const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
      const subject = ['-subj', '/CN=caudal', '-days', '10', '-nodes', '-newkey', 'rsa:2048'];
      execFileSync('openssl', ['req', '-x509', ...subject, '-keyout', key, '-out', certificate], {
        stdio: 'ignore',
      });
      const worker = lastWorker(world);
      await worker.restart({ BREB_TLS_CERT_FILE: certificate, BREB_TLS_KEY_FILE: key });
      return async () => {
        await worker.restart();
        rmSync(folder, { recursive: true });
      };
    },
  },
  {
    name: 'a schedule fails',
    fires: ['CaudalScheduleFailing'],
    inject: async ({ stack }) => {
      const stopping = new AbortController();
      await stack.query('alter function caudal.make_months(timestamptz) rename to make_months_away');
      const runs = (async () => {
        while (!stopping.signal.aborted) {
          await stack
            .query("insert into caudal_jobs.job (name) values ('housekeeping')")
            .catch(() => undefined);
          await sleep(2000, null, { signal: stopping.signal }).catch(() => undefined);
        }
      })();
      return async () => {
        stopping.abort();
        await runs;
        await stack.query('alter function caudal.make_months_away(timestamptz) rename to make_months');
      };
    },
  },
  {
    name: 'a schedule has not run for days',
    fires: ['CaudalScheduleNotRun'],
    mayFire: RESTART_CONSEQUENCES,
    inject: async (world) => {
      const { stack } = world;
      const shift = (days: number) =>
        stack.query(
          `update caudal_jobs.job set completed_on = completed_on - make_interval(days => ${days})
           where name = 'subtotals' and state = 'completed'`,
        );
      await stack.query(
        `insert into caudal_jobs.job (name, state, completed_on) values ('subtotals', 'completed', now())`,
      );
      await shift(3);
      await restartWorkers(world);
      return async () => {
        await shift(-3);
        await restartWorkers(world);
      };
    },
  },
  {
    name: 'the clock of the database goes back',
    fires: ['CaudalClockSteppedBack'],
    inject: async ({ stack }) => {
      await stack.query("select caudal.shift_time(interval '-30 seconds')");
      return async () => void (await stack.query("select caudal.shift_time(interval '30 seconds')"));
    },
  },
  {
    name: 'a table is locked',
    fires: [
      'CaudalApiErrorBudgetBurnFast',
      'CaudalApiErrorBudgetBurnSlow',
      'CaudalApiLatencyHigh',
      'CaudalDatabasePoolExhausted',
    ],
    mayFire: DATABASE_CONSEQUENCES,
    inject: async (world) => {
      const release = await holdLock(world, 'lock table caudal.payins in access exclusive mode');
      world.load.reads = 40;
      return async () => {
        world.load.reads = 0;
        await release();
      };
    },
  },
];
