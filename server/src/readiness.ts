import { setTimeout as sleep } from 'node:timers/promises';
import type { LoginFailure } from './db/login.ts';
import { nextMonthExists } from './db/months.ts';
import type { PendingCommits } from './db/pending-commits.ts';
import { probeWrite, type WriteProbe } from './db/write-probe.ts';
import type { SystemDeps } from './deps.ts';
import { monotonicMs } from './kit/clock.ts';

/** Why a process should get no traffic. Programs compare the code, people read the message. */
export interface UnreadyReason {
  readonly code:
    | 'shutting_down'
    | 'login_refused'
    | 'login_failed'
    | 'database_silent'
    | 'commits_pending'
    | 'write_failed'
    | 'next_month_missing';
  readonly message: string;
}

interface ReadinessOptions {
  readonly deps: SystemDeps;
  readonly pendingCommits: PendingCommits;
  /** Whether a pool got no connection when it last needed one: reason enough to try every login. */
  readonly loginFailed: () => boolean;
  readonly failedLogins: () => Promise<readonly LoginFailure[]>;
}

/** However often readiness is asked, the database is written to no more often than this. */
const PROBE_EVERY_MS = 1000;
/** A write that takes longer has failed as far as merchants are concerned. */
const PROBE_WITHIN_MS = 3000;

/** Whether this process can serve: the database is heard, takes a write and has next month's partitions. */
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
    const known = this.#last;
    if (known && monotonicMs() - known.at < PROBE_EVERY_MS) return known.reasons;
    this.#probe ??= this.#look(silent).finally(() => {
      this.#probe = null;
    });
    return Promise.race([this.#probe, sleep(PROBE_WITHIN_MS, [UNANSWERED], { ref: false })]);
  }

  async #look(silent: boolean): Promise<readonly UnreadyReason[]> {
    const found = silent ? [SILENT] : await this.#tryDatabase();
    const { loginFailed, failedLogins } = this.#options;
    const reasons = found.length > 0 || loginFailed() ? withLogins(found, await failedLogins()) : found;
    this.#last = { reasons, at: monotonicMs() };
    return reasons;
  }

  async #tryDatabase(): Promise<readonly UnreadyReason[]> {
    const { deps } = this.#options;
    const [month, write] = await Promise.all([monthReasons(deps), probeWrite(deps.system)]);
    return [...writeReasons(write), ...month];
  }
}

/**
 * A refused login is the cause of whatever else fails, so it alone is named. An address that cannot be reached is named when
 * nothing else was found: the system role works, another does not. A server without a free connection is not a reason, for
 * the connections that a pool has still serve.
 */
function withLogins(
  found: readonly UnreadyReason[],
  failures: readonly LoginFailure[],
): readonly UnreadyReason[] {
  const refused = failures.find((failure) => failure.refused);
  if (refused) return [{ code: 'login_refused', message: refused.message }];
  const failed = failures.find((failure) => !failure.busy);
  return failed && found.length === 0 ? [{ code: 'login_failed', message: failed.message }] : found;
}

const SILENT: UnreadyReason = {
  code: 'database_silent',
  message: 'the database has not been heard for a second',
};

const UNANSWERED: UnreadyReason = {
  code: 'write_failed',
  message: `a test write to the database was not answered within ${PROBE_WITHIN_MS / 1000} s (disk or synchronous standby?)`,
};

function commitsPending(count: number): UnreadyReason {
  return {
    code: 'commits_pending',
    message: `${count} commits are pending without an answer (is the synchronous standby missing?): writes are refused`,
  };
}

async function monthReasons({ system }: SystemDeps): Promise<UnreadyReason[]> {
  // Whether the database answers at all is told by the write.
  const exists = await nextMonthExists(system).catch(() => true);
  return exists ? [] : [{ code: 'next_month_missing', message: 'the partitions of next month are missing' }];
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
