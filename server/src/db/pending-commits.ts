import { ApiError } from '../kit/errors.ts';
import type { Log } from '../kit/log.ts';
import type { ActiveBackends, PoolRole } from './active-backends.ts';

const CHECK_EVERY_MS = 1000;

interface PendingCommitsOptions {
  /** From this many on, no further write is begun. */
  readonly limit: number;
  /** Which of these backends are still executing a statement; PostgreSQL shows that only to their own role. */
  readonly activeBackends: (role: PoolRole, pids: readonly number[]) => Promise<ActiveBackends>;
  readonly log: Log;
}

/**
 * Commits of this process that were given up without an answer and that PostgreSQL is still executing. A COMMIT that waits for a
 * missing synchronous standby keeps its backend after the client has gone, and no setting of PostgreSQL ends it: without a
 * bound, retries take every connection of the server within minutes.
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

  /** @param pid of the backend that was sent a COMMIT; null when it never said who it is */
  add(role: PoolRole, pid: number | null): void {
    if (pid === null) return;
    this.#backends.set(pid, role);
    this.#report();
    this.#schedule();
  }

  /** A new connection has this backend: the earlier one of that number is gone. */
  forget(pid: number | null): void {
    if (pid !== null && this.#backends.delete(pid)) this.#report();
  }

  /** @throws Fault `service_unavailable` when too many commits are pending; nothing was sent */
  refuseWhenFull(): void {
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
    const asked = [...this.#backends].flatMap(([pid, owner]) => (owner === role ? [pid] : []));
    try {
      const { serverStartedAt, pids } = await this.#options.activeBackends(role, asked);
      // No commit outlives its server, and the next one gives the same process ids to others.
      const restarted = this.#serverStartedAt !== null && this.#serverStartedAt !== serverStartedAt;
      this.#serverStartedAt = serverStartedAt;
      if (restarted) return this.#backends.clear();
      const active = new Set(pids);
      for (const pid of asked) if (!active.has(pid)) this.#backends.delete(pid);
    } catch {
      // While the database cannot be asked, nothing is known of them and they stay counted.
    }
  }

  /** One line when writes are suspended and one when they are resumed. */
  #report(): void {
    if (this.full === this.#reported) return;
    this.#reported = this.full;
    if (this.full)
      this.#options.log.error(
        { code: 'writes_suspended', count: this.#backends.size },
        'too many commits are pending without an answer (is the synchronous standby missing?); writes are refused',
      );
    else
      this.#options.log.info(
        { code: 'writes_resumed', count: this.#backends.size },
        'writes are accepted again',
      );
  }
}
