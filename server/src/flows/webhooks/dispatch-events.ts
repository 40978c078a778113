import type { SystemDeps } from '../../deps.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { type DispatchedFirst, dispatchEvents } from '../../webhooks/delivery.store.ts';

const AT_ONCE = 500;
/** An event may have fifty endpoints: what took longer than this is taken in smaller parts. */
const LONG_MS = 250;
const LOOK_BACK_EVERY_MS = 1000;
/** Looking for old ones may be dear where much has been dispatched of late; it takes a tenth of the time at most. */
const LOOK_BACK_FACTOR = 9;

/**
 * Gives events that were recorded to the lines of the endpoints that want them. Apart from the transaction that recorded
 * them: whoever moves money waits for no endpoint's row.
 *
 * New ones first, and in turn with them the oldest: what one merchant has gathered in an outage does not stand before
 * everybody's next event.
 */
export class EventDispatcher {
  readonly #deps: SystemDeps;
  #atOnce = AT_ONCE;
  #lookBackAt = 0;

  constructor(deps: SystemDeps) {
    this.#deps = deps;
  }

  /** @returns how many were taken; call again at once while there are any */
  async dispatch(): Promise<number> {
    const newest = await this.#take('newest');
    if (!newest.full && monotonicMs() < this.#lookBackAt) return newest.events;
    const oldest = await this.#take('oldest');
    this.#lookBackAt = oldest.full
      ? 0
      : monotonicMs() + Math.max(LOOK_BACK_EVERY_MS, oldest.tookMs * LOOK_BACK_FACTOR);
    return newest.events + oldest.events;
  }

  async #take(first: DispatchedFirst) {
    const limit = this.#atOnce;
    const began = monotonicMs();
    try {
      const events = await this.#deps.system.transaction('dispatch events', (tx) =>
        dispatchEvents(tx, first, limit),
      );
      const tookMs = monotonicMs() - began;
      this.#atOnce = tookMs > LONG_MS ? Math.max(1, limit >> 1) : Math.min(AT_ONCE, limit * 2);
      return { events, full: events === limit, tookMs };
    } catch (error) {
      // So that none that take too long together are tried together for ever.
      this.#atOnce = Math.max(1, limit >> 2);
      throw error;
    }
  }
}
