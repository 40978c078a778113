import { monotonicMs } from './clock.ts';

/**
 * Circuit breaker: callers do not wait for an unavailable peer. It opens after consecutive failures; after `restMs` one
 * call passes as a probe, and its success closes the circuit.
 */
export class Circuit {
  readonly #failuresToOpen: number;
  readonly #restMs: number;
  #failures = 0;
  #openedAt: number | null = null;
  #probing = false;

  constructor(options: { failuresToOpen: number; restMs: number }) {
    this.#failuresToOpen = options.failuresToOpen;
    this.#restMs = options.restMs;
  }

  /** Whether a call may be made now. When an open circuit returns true, the call is the probe: report its result. */
  allows(): boolean {
    if (this.#openedAt === null) return true;
    if (this.resting) return false;
    this.#probing = true;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openedAt = null;
    this.#probing = false;
  }

  failed(): void {
    this.#failures += 1;
    this.#probing = false;
    if (this.#failures >= this.#failuresToOpen) this.#openedAt = monotonicMs();
  }

  get open(): boolean {
    return this.#openedAt !== null;
  }

  /** Whether the circuit is open and a call, or its last probe, failed within this time. */
  failedWithin(ms: number): boolean {
    return this.#openedAt !== null && monotonicMs() - this.#openedAt < ms;
  }

  /** Whether no call is allowed now, not even a probe. */
  get resting(): boolean {
    return this.#openedAt !== null && (this.#probing || monotonicMs() - this.#openedAt < this.#restMs);
  }
}
