import { monotonicMs } from './clock.ts';

/**
 * Keeps callers from waiting for a peer that is known to be away. Opens after some failures in a row; after a while
 * one call is let through as a probe, and its success closes the circuit.
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

  /** Whether a call may be made now. A true answer to an open circuit is the one probe: report its result. */
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

  /** Whether asking now is pointless: nobody, not even a probe, would be let through. */
  get resting(): boolean {
    return this.#openedAt !== null && (this.#probing || monotonicMs() - this.#openedAt < this.#restMs);
  }
}
