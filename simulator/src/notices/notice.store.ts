import type { QueuedNotice } from './notice.ts';

/**
 * A notice that is not acknowledged yet. `attempts` counts failed attempts. `delayMs` is the delay of the fault
 * `slow`, in real time; a restart ends it.
 */
export type WaitingNotice = QueuedNotice & { attempts: number; readonly delayMs: number };

export type NoticeStore = {
  /** In the order they were queued. */
  readonly waiting: Map<string, WaitingNotice>;
  queued: number;
  acknowledged: number;
  /** Failed posts. */
  attempts: number;
  /** Target URLs set by the control API; null when never set. */
  urls: readonly string[] | null;
};

export function emptyNoticeStore(): NoticeStore {
  return { waiting: new Map(), queued: 0, acknowledged: 0, attempts: 0, urls: null };
}

export function storeNotice(store: NoticeStore, queued: QueuedNotice, delayMs = 0): WaitingNotice {
  const waiting = { ...queued, attempts: 0, delayMs };
  store.waiting.set(queued.notice.noticeId, waiting);
  store.queued += 1;
  return waiting;
}

export function storeAcknowledged(store: NoticeStore, noticeIds: readonly string[]): void {
  for (const noticeId of noticeIds) {
    if (store.waiting.delete(noticeId)) store.acknowledged += 1;
  }
}

export function storeAttempt(store: NoticeStore, noticeIds: readonly string[]): void {
  store.attempts += 1;
  for (const noticeId of noticeIds) {
    const waiting = store.waiting.get(noticeId);
    if (waiting !== undefined) waiting.attempts += 1;
  }
}
