import { errorFields, type Log } from '../kit/log.ts';

/** Why nothing may be sent: an operator or a process paused it, or the database may be a restored one. */
export type SendingHold = 'paused' | 'unconfirmed';

/** A committed random value that a process has seen in the database. */
export interface ContinuityMark {
  readonly number: number;
  readonly mark: string;
  readonly ageMs: number;
}

export interface GuardReading {
  readonly hold: SendingHold | null;
  readonly newest: ContinuityMark | null;
}

export interface GuardActions {
  /** Confirms the new timeline if the mark exists there. */
  readonly confirm: (mark: string) => Promise<boolean>;
  /** Pauses sending, because marks are missing on the same timeline. */
  readonly pause: (reason: string) => Promise<void>;
  readonly insertMark: () => Promise<void>;
}

/** A new mark is inserted by the first process that finds the newest one this old. */
const MARK_EVERY_MS = 2000;

type GuardWrite = 'mark' | 'confirm' | 'pause';

/**
 * Heartbeats without another try after a failed write. Marks wait long, because a database that cannot write, or a missing
 * standby, must not collect waiting commits. Confirmations and pauses change one row, so only one of them can be committing;
 * and nothing is sent until the confirmation.
 */
const RETRY_AFTER_BEATS: Readonly<Record<GuardWrite, number>> = { mark: 75, confirm: 5, pause: 5 };

/**
 * Whether this process may send, as of the last heartbeat; before the first one it may not. A restored database differs from
 * the recorded one, and so does a promoted standby. Only a process that was running before the change can confirm that
 * nothing is missing: it finds the newest mark it has seen. Otherwise an operator compares the database with the rails.
 */
export class SendingGuard {
  readonly #actions: GuardActions;
  readonly #log: Log;
  #hold: SendingHold | null = 'unconfirmed';
  #logged: SendingHold | null = null;
  #takenAt = Number.NEGATIVE_INFINITY;
  #seen: ContinuityMark | null = null;
  /** Per kind: a mark that waits for a lost primary must not delay the confirmation of the new one. */
  readonly #working = new Map<GuardWrite, Promise<void>>();
  readonly #skipBeats = new Map<GuardWrite, number>();

  constructor(actions: GuardActions, log: Log) {
    this.#actions = actions;
    this.#log = log;
  }

  get held(): boolean {
    return this.#hold !== null;
  }

  /** @param takenAt monotonic time of the query: of two concurrent heartbeats, the later one wins */
  apply({ hold, newest }: GuardReading, takenAt: number): void {
    if (takenAt < this.#takenAt) return;
    this.#takenAt = takenAt;
    this.#hold = hold;
    this.#report(hold);
    const seen = this.#seen;
    if (hold === 'unconfirmed' && seen) this.#start('confirm', () => this.#confirm(seen));
    if (hold !== null) return;
    if (seen && (newest === null || newest.number < seen.number)) {
      // Restored in place without a new timeline, as by a snapshot of the disk.
      this.#hold = 'paused';
      this.#start('pause', () =>
        this.#actions.pause('the database lacks commits that a running process had seen'),
      );
      return;
    }
    this.#seen = newest;
    if (newest === null || newest.ageMs > MARK_EVERY_MS)
      this.#start('mark', () => this.#actions.insertMark());
  }

  async stop(): Promise<void> {
    await Promise.all(this.#working.values());
  }

  async #confirm({ mark }: ContinuityMark): Promise<void> {
    if (!(await this.#actions.confirm(mark))) return;
    this.#log.info(
      { code: 'timeline_confirmed' },
      'the database changed its timeline and has all commits that this process had seen',
    );
  }

  /** One statement of a kind at a time, without waiting for it: reads must not depend on a database that can write. */
  #start(kind: GuardWrite, write: () => Promise<void>): void {
    if (this.#working.has(kind)) return;
    const skip = this.#skipBeats.get(kind) ?? 0;
    if (skip > 0) {
      this.#skipBeats.set(kind, skip - 1);
      return;
    }
    const working = write()
      .catch((error: unknown) => {
        this.#skipBeats.set(kind, RETRY_AFTER_BEATS[kind]);
        this.#log.debug(
          { ...errorFields(error), code: 'continuity_mark_failed' },
          'failed to write the sending guard',
        );
      })
      .finally(() => {
        this.#working.delete(kind);
      });
    this.#working.set(kind, working);
  }

  #report(hold: SendingHold | null): void {
    if (hold === this.#logged) return;
    this.#logged = hold;
    if (hold === null)
      this.#log.info({ code: 'sending_resumed' }, 'the database is confirmed; sending is resumed');
    else this.#log.warn({ code: 'sending_paused_after_restore', reason: hold }, TEXTS[hold]);
  }
}

const TEXTS: Readonly<Record<SendingHold, string>> = {
  paused:
    'all sending is paused: compare the database with the rails first (caudal rails reconcile-after-restore)',
  unconfirmed:
    'all sending is paused: the database may be a restored one; if it is, run caudal rails reconcile-after-restore',
};
