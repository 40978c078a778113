import { nowIso } from '../clock.ts';
import { noticesHeld } from '../control/fault.store.ts';
import { type Deps, record } from '../deps.ts';
import type { Rail } from '../operations.ts';
import { type Delivery, losesAnswer, spoiltHow } from './delivery.ts';
import { emptyLane, enter, type Lane, noteArrival, refresh, takeBatch } from './lane.ts';
import { storeAcknowledged, storeAttempt, type WaitingNotice } from './notice.store.ts';
import { postNotices } from './post-notices.ts';

const POSTS_AT_ONCE = 4;
const RETRY_AFTER_MS = [200, 500, 1000, 2000, 5000] as const;
const RETRY_FOR_EVER_MS = 10_000;
const PATHS = { BRE_B: 'rail-notices/breb', PSE: 'rail-notices/pse' } as const;

type SenderDeps = Omit<Deps, 'sender'>;

/**
 * Sends what is queued until it is acknowledged. Whatever gathers while posts are under way goes out with the
 * next, so a lone notice waits for nobody and a flood shares its posts. One that waits for its next attempt
 * does not stop those behind it: a notice that is never accepted would stop the rail for ever.
 */
export class NoticeSender {
  readonly #deps: SenderDeps;
  readonly #lanes: Readonly<Record<Rail, Lane>> = { BRE_B: emptyLane('BRE_B'), PSE: emptyLane('PSE') };
  #order = 0;
  #base = -1;
  #pumpIsComing = false;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  /** Only what is on the disk may be offered. */
  offer(notices: Iterable<WaitingNotice>): void {
    for (const waiting of notices) {
      this.#enter(waiting, false);
      if (waiting.fault === 'duplicate') this.#enter(waiting, true);
    }
    this.#pumpSoon();
  }

  /** To be called every now and then: for what waits for a time or for a fault to be removed. */
  pump(): void {
    if (this.#deps.closing.aborted) return;
    for (const lane of Object.values(this.#lanes)) this.#pumpLane(lane);
  }

  #enter(waiting: WaitingNotice, isCopy: boolean): void {
    const nowMs = performance.now();
    const { rail, delayMs, attempts } = waiting;
    this.#order += 1;
    enter(
      this.#lanes[rail],
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

  /** After all that is offered in this turn, so that a bulk payment is one post and not five. */
  #pumpSoon(): void {
    if (this.#pumpIsComing) return;
    this.#pumpIsComing = true;
    setImmediate(() => {
      this.#pumpIsComing = false;
      this.pump();
    });
  }

  #pumpLane(lane: Lane): void {
    const { faults } = this.#deps.state;
    refresh(lane, faults, performance.now());
    if (noticesHeld(faults, lane.rail) === 'all' || this.#urls().length === 0) return;
    while (lane.posting < POSTS_AT_ONCE) {
      const batch = takeBatch(lane);
      if (batch.length === 0) return;
      lane.posting += 1;
      void this.#send(lane, batch);
    }
  }

  async #send(lane: Lane, batch: readonly Delivery[]): Promise<void> {
    const { config, closing } = this.#deps;
    const [first] = batch;
    const status = await postNotices({
      url: `${this.#nextUrl(batch)}/${PATHS[lane.rail]}`,
      secret: lane.rail === 'BRE_B' ? config.breb.noticeSecret : config.pse.noticeSecret,
      notices: batch.map(({ waiting }) => waiting.notice),
      spoilt: spoiltHow(first),
      closing,
    });
    lane.posting -= 1;
    // Nothing may be journaled any more; what was not written down is sent again at the next start.
    if (closing.aborted) return;
    if (status === 200 && !losesAnswer(first)) this.#acknowledged(lane, batch);
    else this.#failed(lane, batch, losesAnswer(first) ? null : status);
    this.#pumpSoon();
  }

  #acknowledged(lane: Lane, batch: readonly Delivery[]): void {
    const { state } = this.#deps;
    const noticeIds = batch
      .map(({ waiting }) => waiting.notice.noticeId)
      .filter((noticeId) => state.notices.waiting.has(noticeId));
    storeAcknowledged(state.notices, noticeIds);
    for (const delivery of batch) noteArrival(lane, delivery);
    // The other one of a duplicated notice came first.
    if (noticeIds.length === 0) return;
    const { rail } = lane;
    this.#note(record(this.#deps, { at: nowIso(state.clock), kind: 'notice.acknowledged', rail, noticeIds }));
  }

  #failed(lane: Lane, batch: readonly Delivery[], status: number | null): void {
    const { state } = this.#deps;
    const { rail } = lane;
    const noticeIds = batch.map(({ waiting }) => waiting.notice.noticeId);
    storeAttempt(state.notices, noticeIds);
    for (const delivery of batch) {
      delivery.dueMs = performance.now() + (RETRY_AFTER_MS[delivery.tries] ?? RETRY_FOR_EVER_MS);
      delivery.tries += 1;
      lane.later.push(delivery);
    }
    this.#note(
      record(this.#deps, { at: nowIso(state.clock), kind: 'notice.attempt', rail, noticeIds, status }),
    );
  }

  /** Nothing waits for these lines, and a journal that cannot be written ends the process by itself. */
  #note(written: Promise<void>): void {
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
