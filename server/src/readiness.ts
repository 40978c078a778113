import { setTimeout as sleep } from 'node:timers/promises';
import type { LoginFailure } from './db/login.ts';
import { migrationStatus } from './db/migration-files.ts';
import { countPreparedMonths } from './db/months.ts';
import type { PendingCommits } from './db/pending-commits.ts';
import { schemaProblems } from './db/schema-range.ts';
import { probeWrite, type WriteProbe } from './db/write-probe.ts';
import type { SystemDeps } from './deps.ts';
import { monotonicMs } from './kit/clock.ts';
import { deadline } from './kit/deadline.ts';
import type { Metrics } from './kit/metrics.ts';

const UNREADY_CODES = [
  'shutting_down',
  'login_refused',
  'login_failed',
  'database_silent',
  'commits_pending',
  'write_failed',
  'schema_incompatible',
  'month_missing',
] as const;

/** Why a process should receive no traffic: a code for programs and a message for people. */
export interface UnreadyReason {
  readonly code: (typeof UNREADY_CODES)[number];
  readonly message: string;
}

interface ReadinessOptions {
  readonly deps: SystemDeps;
  readonly pendingCommits: PendingCommits;
  /** Whether the last attempt of any pool to get a connection failed; if so, every login is tried. */
  readonly loginFailed: () => boolean;
  readonly failedLogins: () => Promise<readonly LoginFailure[]>;
}

/** Minimum interval between test writes, regardless of how often /readyz is requested. */
const PROBE_EVERY_MS = 1000;
/** A test write that takes longer counts as failed. */
const PROBE_WITHIN_MS = 3000;

/** Whether this process can serve: the database answers, accepts a write, fits this release and has this month's partitions. */
export class Readiness {
  readonly #options: ReadinessOptions;
  #probe: Promise<readonly UnreadyReason[]> | null = null;
  #last: { readonly reasons: readonly UnreadyReason[]; readonly at: number } | null = null;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  async reasons(): Promise<readonly UnreadyReason[]> {
    const { deps, pendingCommits } = this.#options;
    const silent = await deps.clock.whenFresh().then(
      () => false,
      () => true,
    );
    if (!silent && pendingCommits.full) return [commitsPending(pendingCommits.count)];
    const last = this.#last;
    if (last && monotonicMs() - last.at < PROBE_EVERY_MS) return last.reasons;
    this.#probe ??= this.#check(silent).finally(() => {
      this.#probe = null;
    });
    return Promise.race([this.#probe, sleep(deadline(PROBE_WITHIN_MS), [UNANSWERED], { ref: false })]);
  }

  async #check(silent: boolean): Promise<readonly UnreadyReason[]> {
    const found = silent ? [SILENT] : await this.#probeDatabase();
    const { loginFailed, failedLogins } = this.#options;
    const reasons = found.length > 0 || loginFailed() ? withLogins(found, await failedLogins()) : found;
    this.#last = { reasons, at: monotonicMs() };
    return reasons;
  }

  async #probeDatabase(): Promise<readonly UnreadyReason[]> {
    const { deps } = this.#options;
    const [schema, month, write] = await Promise.all([
      schemaReasons(deps),
      monthReasons(deps),
      probeWrite(deps.system),
    ]);
    return [...schema, ...writeReasons(write), ...month];
  }
}

/**
 * A rejected login causes all other failures, so only it is reported. An unreachable address is reported when nothing
 * else was found: the system role works, another role does not. A server without free connections is not a reason,
 * because the open connections of the pools still work.
 */
function withLogins(
  found: readonly UnreadyReason[],
  failures: readonly LoginFailure[],
): readonly UnreadyReason[] {
  const rejected = failures.find((failure) => failure.rejected);
  if (rejected) return [{ code: 'login_refused', message: rejected.message }];
  const failed = failures.find((failure) => !failure.busy);
  return failed && found.length === 0 ? [{ code: 'login_failed', message: failed.message }] : found;
}

const SILENT: UnreadyReason = {
  code: 'database_silent',
  message: 'the database has not answered heartbeats for more than a second',
};

const UNANSWERED: UnreadyReason = {
  code: 'write_failed',
  message: `a test write to the database was not answered within ${PROBE_WITHIN_MS / 1000} s (disk or synchronous standby?)`,
};

function commitsPending(count: number): UnreadyReason {
  return {
    code: 'commits_pending',
    message: `${count} commits are pending without an answer (synchronous standby missing?): writes are rejected`,
  };
}

/** A newer release may migrate the database while this process runs. */
async function schemaReasons({ system }: SystemDeps): Promise<UnreadyReason[]> {
  const problems = await migrationStatus(system).then(
    (status) => schemaProblems(status),
    () => [],
  );
  return problems.length === 0 ? [] : [{ code: 'schema_incompatible', message: problems.join('; ') }];
}

/** Missing partitions of next month stop nothing yet: doctor and the metric `caudal_months_prepared` report them. */
async function monthReasons({ system }: SystemDeps): Promise<UnreadyReason[]> {
  // The write probe reports an unavailable database.
  const prepared = await countPreparedMonths(system).catch(() => 0);
  return prepared >= 0
    ? []
    : [
        {
          code: 'month_missing',
          message:
            'the partitions of this month are missing: run `caudal schedules run housekeeping --by NAME`',
        },
      ];
}

function writeReasons(probe: WriteProbe): UnreadyReason[] {
  switch (probe.kind) {
    case 'written':
      return [];
    case 'standby_missing':
      return [commitsPending(probe.count)];
    case 'failed':
      return [
        {
          code: 'write_failed',
          message: `a test write to the database failed: ${probe.cause}${probe.sqlState ? ` (${probe.sqlState})` : ''}`,
        },
      ];
  }
}

/** Checks the readiness at every scrape. Before the first answer there is no sample. */
export function watchReadiness(metrics: Metrics, unready: () => Promise<readonly UnreadyReason[]>): void {
  let reasons: readonly UnreadyReason[] | null = null;
  metrics.beforeScrape(async () => {
    reasons = await unready();
  });
  metrics.gauge(
    'caudal_ready',
    '1 while the process can serve, as /readyz reports it; otherwise 0.',
    () => reasons && Number(reasons.length === 0),
  );
  metrics.gauge(
    'caudal_unready_reason',
    '1 for each reason, by its code in /readyz, why the process cannot serve; otherwise 0.',
    () =>
      reasons &&
      UNREADY_CODES.map((code) => ({
        labels: { code },
        value: Number(reasons?.some((reason) => reason.code === code)),
      })),
  );
}
