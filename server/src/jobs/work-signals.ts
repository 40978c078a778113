/** Kinds of due work; a worker has one loop per kind. The names are sent between processes. */
export const WORK_KINDS = [
  'key_registration',
  'pse_opening',
  'payin_notices',
  'payout_notices',
  'key_resolution',
  'payout_sending',
  'payout_polling',
  'acceptance_posting',
  'link_expiry',
  'receipt_emails',
  'event_dispatch',
  'webhook_delivery',
  'breb_polling',
  'pse_polling',
] as const;

export type WorkKind = (typeof WORK_KINDS)[number];

export function isWorkKind(text: string): text is WorkKind {
  return (WORK_KINDS as readonly string[]).includes(text);
}

/**
 * Announces that a commit made work due, so that a loop starts before the next poll. A signal may be lost, repeated or
 * spurious: only latency depends on it.
 */
export class WorkSignals {
  readonly #listeners = new Set<(kind: WorkKind) => void>();

  /** Call after the commit. Returns immediately: a request never waits for it. */
  raise(...kinds: readonly WorkKind[]): void {
    for (const kind of kinds) for (const listener of this.#listeners) listener(kind);
  }

  subscribe(listener: (kind: WorkKind) => void): void {
    this.#listeners.add(listener);
  }
}
