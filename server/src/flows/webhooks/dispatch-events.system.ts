import type { SystemDeps } from '../../deps.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { unpackTraceContext } from '../../kit/trace-context.ts';
import { type DispatchOrder, dispatchEvents } from '../../webhooks/delivery.store.ts';

const MAX_BATCH = 500;
/** An event may have fifty endpoints: when a batch takes longer than this, the next one is smaller. */
const SLOW_BATCH_MS = 250;
const LOOK_BACK_EVERY_MS = 1000;
/** Searching for old events is expensive after many recent dispatches; it takes at most a tenth of the time. */
const LOOK_BACK_FACTOR = 9;

/**
 * Adds recorded events to the queues of the subscribed endpoints. This runs outside the transaction that recorded the
 * events, so that transactions that move money do not wait for locks on queues.
 *
 * It dispatches the newest events first, alternating with the oldest: the backlog of one merchant does not delay new
 * events of the others.
 */
export class EventDispatcher {
  readonly #deps: SystemDeps;
  #batchSize = MAX_BATCH;
  #lookBackAt = 0;

  constructor(deps: SystemDeps) {
    this.#deps = deps;
  }

  /** @returns the number of dispatched events; call again immediately while it is positive */
  async dispatch(): Promise<number> {
    const newest = await this.#dispatchBatch('newest');
    if (!newest.full && monotonicMs() < this.#lookBackAt) return newest.events;
    const oldest = await this.#dispatchBatch('oldest');
    this.#lookBackAt = oldest.full
      ? 0
      : monotonicMs() + Math.max(LOOK_BACK_EVERY_MS, oldest.tookMs * LOOK_BACK_FACTOR);
    return newest.events + oldest.events;
  }

  async #dispatchBatch(first: DispatchOrder) {
    const limit = this.#batchSize;
    const startedAt = monotonicMs();
    try {
      const { events, traces } = await this.#deps.system.transaction('dispatch events', (tx) =>
        dispatchEvents(tx, first, limit),
      );
      const tookMs = monotonicMs() - startedAt;
      this.#trace(traces, events, tookMs);
      this.#batchSize = tookMs > SLOW_BATCH_MS ? Math.max(1, limit >> 1) : Math.min(MAX_BATCH, limit * 2);
      return { events, full: events === limit, tookMs };
    } catch (error) {
      // A batch that times out must not be retried at the same size.
      this.#batchSize = Math.max(1, limit >> 2);
      throw error;
    }
  }

  #trace(traces: readonly Buffer[], events: number, tookMs: number): void {
    for (const trace of traces) {
      const parent = unpackTraceContext(trace);
      if (parent)
        this.#deps.tracer
          .startSpan('dispatch event', {
            parent,
            kind: 'producer',
            attributes: { 'caudal.batch.size': events },
            startedMsAgo: tookMs,
          })
          ?.end();
    }
  }
}
