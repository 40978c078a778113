import { nowIso } from '../clock.ts';
import { noticesHeld } from '../control/fault.store.ts';
import { type Deps, record } from '../deps.ts';
import type { Rail } from '../operations.ts';
import { type Delivery, losesAnswer, toPostFault } from './delivery.ts';
import { storeAcknowledged, storeAttempt, type WaitingNotice } from './notice.store.ts';
import { postNotices } from './post-notices.ts';
import {
  emptyRailQueue,
  enqueue,
  moveDueToReady,
  type RailQueue,
  releaseOvertaken,
  takeBatch,
} from './rail-queue.ts';

const MAX_CONCURRENT_POSTS = 4;
const ANSWER_DEADLINE_MS = 5000;
const REORDER_LIMIT_MS = 2000;
const RETRY_DELAYS_MS = [200, 500, 1000, 2000, 5000] as const;
const MAX_RETRY_DELAY_MS = 10_000;
const PATHS = { BRE_B: 'rail-notices/breb', PSE: 'rail-notices/pse' } as const;

type SenderDeps = Omit<Deps, 'sender'>;

/**
 * Sends queued notices until they are acknowledged. Notices that arrive while posts are in flight are batched
 * into the next post: a single notice does not wait, a burst shares posts. A notice that waits for a retry does
 * not block later ones: otherwise a notice that is never accepted would block the rail.
 */
export class NoticeSender {
  readonly #deps: SenderDeps;
  readonly #queues: Readonly<Record<Rail, RailQueue>> = {
    BRE_B: emptyRailQueue('BRE_B'),
    PSE: emptyRailQueue('PSE'),
  };
  #order = 0;
  #base = -1;
  #pumpScheduled = false;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  /** Accepts only notices that are on disk. */
  offer(notices: Iterable<WaitingNotice>): void {
    for (const waiting of notices) {
      this.#enqueue(waiting, false);
      if (waiting.fault === 'duplicate') this.#enqueue(waiting, true);
    }
    this.#pumpSoon();
  }

  /** Called periodically, for notices that wait for a retry or for the removal of a fault. */
  pump(): void {
    if (this.#deps.closing.aborted) return;
    for (const queue of Object.values(this.#queues)) this.#pumpQueue(queue);
  }

  #enqueue(waiting: WaitingNotice, isCopy: boolean): void {
    const nowMs = performance.now();
    const { rail, delayMs, attempts } = waiting;
    this.#order += 1;
    enqueue(
      this.#queues[rail],
      {
        order: this.#order,
        waiting,
        isCopy,
        offeredAtMs: nowMs,
        dueMs: nowMs + delayMs,
        tries: attempts,
        base: 0,
      },
      nowMs,
    );
  }

  /** Runs after all notices offered in this event loop turn, so that a bulk payment shares one post. */
  #pumpSoon(): void {
    if (this.#pumpScheduled) return;
    this.#pumpScheduled = true;
    setImmediate(() => {
      this.#pumpScheduled = false;
      this.pump();
    });
  }

  #pumpQueue(queue: RailQueue): void {
    const { faults } = this.#deps.state;
    const reorderLimitMs = REORDER_LIMIT_MS * this.#deps.config.deadlineFactor;
    moveDueToReady(queue, faults, performance.now(), reorderLimitMs);
    if (noticesHeld(faults, queue.rail) === 'all' || this.#urls().length === 0) return;
    while (queue.postsInFlight < MAX_CONCURRENT_POSTS) {
      const batch = takeBatch(queue);
      if (batch.length === 0) return;
      queue.postsInFlight += 1;
      void this.#send(queue, batch);
    }
  }

  async #send(queue: RailQueue, batch: readonly Delivery[]): Promise<void> {
    const { config, closing } = this.#deps;
    const [first] = batch;
    const status = await postNotices({
      url: `${this.#nextUrl(batch)}/${PATHS[queue.rail]}`,
      secret: queue.rail === 'BRE_B' ? config.breb.noticeSecret : config.pse.noticeSecret,
      notices: batch.map(({ waiting }) => waiting.notice),
      postFault: toPostFault(first),
      answerDeadlineMs: ANSWER_DEADLINE_MS * config.deadlineFactor,
      closing,
    });
    queue.postsInFlight -= 1;
    // The journal is closing; notices not journaled as acknowledged are sent again at the next start.
    if (closing.aborted) return;
    if (status === 200 && !losesAnswer(first)) this.#acknowledged(queue, batch);
    else this.#failed(queue, batch, losesAnswer(first) ? null : status);
    this.#pumpSoon();
  }

  #acknowledged(queue: RailQueue, batch: readonly Delivery[]): void {
    const { state } = this.#deps;
    const noticeIds = batch
      .map(({ waiting }) => waiting.notice.noticeId)
      .filter((noticeId) => state.notices.waiting.has(noticeId));
    storeAcknowledged(state.notices, noticeIds);
    for (const delivery of batch) releaseOvertaken(queue, delivery);
    // The other copy of a duplicated notice was acknowledged first.
    if (noticeIds.length === 0) return;
    const { rail } = queue;
    this.#recordInBackground(
      record(this.#deps, { at: nowIso(state.clock), kind: 'notice.acknowledged', rail, noticeIds }),
    );
  }

  #failed(queue: RailQueue, batch: readonly Delivery[], status: number | null): void {
    const { state } = this.#deps;
    const { rail } = queue;
    const noticeIds = batch.map(({ waiting }) => waiting.notice.noticeId);
    storeAttempt(state.notices, noticeIds);
    for (const delivery of batch) {
      delivery.dueMs = performance.now() + (RETRY_DELAYS_MS[delivery.tries] ?? MAX_RETRY_DELAY_MS);
      delivery.tries += 1;
      queue.delayed.push(delivery);
    }
    this.#recordInBackground(
      record(this.#deps, { at: nowIso(state.clock), kind: 'notice.attempt', rail, noticeIds, status }),
    );
  }

  /** Nothing waits for these entries, and a failed journal write ends the process in `onFailure`. */
  #recordInBackground(written: Promise<void>): void {
    written.catch(() => undefined);
  }

  #urls(): readonly string[] {
    return this.#deps.state.notices.urls ?? this.#deps.config.noticeUrls;
  }

  #nextUrl(batch: readonly Delivery[]): string {
    const retried = batch.find(({ tries }) => tries > 0);
    if (retried === undefined) this.#base += 1;
    const base = retried === undefined ? this.#base : retried.base + 1;
    for (const delivery of batch) delivery.base = base;
    const urls = this.#urls();
    return urls[base % urls.length] ?? '';
  }
}
