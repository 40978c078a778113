import type { Rail } from '../rails/contract.ts';
import { OPERATOR_ORGANIZATION_ID } from './organization.ts';

/** A rail on which no new orders are sent: for one organization, or for all when the organization is the operator's. */
export interface Pause {
  readonly rail: Rail;
  readonly organizationId: string;
}

/**
 * The paused rails as of the last heartbeat: a pause takes effect in this process within a second. Orders accepted within
 * that second may still be sent.
 */
export class RailPauses {
  #pauses: readonly Pause[] = [];
  #takenAt = Number.NEGATIVE_INFINITY;
  readonly #guard: { readonly held: boolean };

  /** @param guard while it holds, both rails are paused for every organization */
  constructor(guard: { readonly held: boolean }) {
    this.#guard = guard;
  }

  /** @param takenAt monotonic time of the query: of two concurrent heartbeats, the later one wins */
  apply(pauses: readonly Pause[], takenAt: number): void {
    if (takenAt < this.#takenAt) return;
    this.#pauses = pauses;
    this.#takenAt = takenAt;
  }

  paused(rail: Rail, organizationId: string): boolean {
    return (
      this.#guard.held ||
      this.#pauses.some(
        (pause) =>
          pause.rail === rail &&
          (pause.organizationId === organizationId || pause.organizationId === OPERATOR_ORGANIZATION_ID),
      )
    );
  }

  allPaused(rail: Rail): boolean {
    return this.paused(rail, OPERATOR_ORGANIZATION_ID);
  }

  count(rail: Rail): number {
    return this.#pauses.filter((pause) => pause.rail === rail).length;
  }

  pausedOrganizations(rail: Rail): string[] {
    return this.#pauses
      .filter((pause) => pause.rail === rail && pause.organizationId !== OPERATOR_ORGANIZATION_ID)
      .map((pause) => pause.organizationId);
  }
}
