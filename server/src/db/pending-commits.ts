import { ApiError } from '../kit/errors.ts';
import type { Log } from '../kit/log.ts';
import type { ActiveBackends, PoolRole } from './active-backends.ts';

const CHECK_EVERY_MS = 1000;

interface PendingCommitsOptions {
  /** At this many pending commits, new writes are rejected. */
  readonly limit: number;
  /** Returns the backends still executing a statement; PostgreSQL shows this only to their own role. */
  readonly activeBackends: (role: PoolRole, pids: readonly number[]) => Promise<ActiveBackends>;
  readonly log: Log;
}

/**
 * Tracks commits whose answer this process stopped waiting for and that PostgreSQL is still executing. A COMMIT waiting
 * for a missing synchronous standby keeps its backend after the client disconnects, and no PostgreSQL setting ends it.
 * Without a limit, retries would use up all server connections within minutes.
 */
export class PendingCommits {
  readonly #options: PendingCommitsOptions;
  /** Role of each backend, by process id. */
  readonly #backends = new Map<number, PoolRole>();
  #serverStartedAt: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;
  #reported = false;

  constructor(options: PendingCommitsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#backends.size;
  }

  get full(): boolean {
    return this.#backends.size >= this.#options.limit;
  }

  /** @param pid of the backend that received the COMMIT; null when it is unknown */
  add(role: PoolRole, pid: number | null): void {
    if (pid === null) return;
    this.#backends.set(pid, role);
    this.#report();
    this.#schedule();
  }

  /** A new connection uses this pid, so the earlier backend has ended. */
  forget(pid: number | null): void {
    if (pid !== null && this.#backends.delete(pid)) this.#report();
  }

  /** @throws ApiError `service_unavailable` when too many commits are pending; nothing was sent */
  rejectWhenFull(): void {
    if (this.full)
      throw new ApiError('service_unavailable', {
        reason: `${this.#backends.size} commits are pending in PostgreSQL without an answer`,
        retryAfterSeconds: 2,
      });
  }

  close(): void {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#closed || this.#timer || this.#backends.size === 0) return;
    this.#timer = setTimeout(() => void this.#check(), CHECK_EVERY_MS).unref();
  }

  async #check(): Promise<void> {
    await Promise.all([...new Set(this.#backends.values())].map((role) => this.#checkRole(role)));
    this.#timer = null;
    this.#report();
    this.#schedule();
  }

  async #checkRole(role: PoolRole): Promise<void> {
    const pending = [...this.#backends].flatMap(([pid, owner]) => (owner === role ? [pid] : []));
    try {
      const { serverStartedAt, pids } = await this.#options.activeBackends(role, pending);
      // A restart ends all commits, and the new server reuses process ids.
      const restarted = this.#serverStartedAt !== null && this.#serverStartedAt !== serverStartedAt;
      this.#serverStartedAt = serverStartedAt;
      if (restarted) return this.#backends.clear();
      const active = new Set(pids);
      for (const pid of pending) if (!active.has(pid)) this.#backends.delete(pid);
    } catch {
      // While the database is unavailable, their state is unknown and they stay counted.
    }
  }

  /** Logs once when writes are suspended and once when they resume. */
  #report(): void {
    if (this.full === this.#reported) return;
    this.#reported = this.full;
    if (this.full)
      this.#options.log.error(
        { code: 'writes_suspended', count: this.#backends.size },
        'too many unanswered commits (synchronous standby missing?); rejecting writes',
      );
    else this.#options.log.info({ code: 'writes_resumed', count: this.#backends.size }, 'writes resumed');
  }
}
