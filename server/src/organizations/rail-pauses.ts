import type { Rail } from '../rails/contract.ts';
import { OPERATOR_ORGANIZATION_ID } from './organization.ts';

/** A rail on which no new order may leave: for one organization, or for all when it is the house's. */
export interface Pause {
  readonly rail: Rail;
  readonly organizationId: string;
}

/**
 * Which rails are paused, as the last heartbeat told this process: a pause holds here within a second. What this
 * process accepted in that second may still be sent; a pause is no recall.
 */
export class RailPauses {
  #pauses: readonly Pause[] = [];
  #heardAt = Number.NEGATIVE_INFINITY;

  /** @param takenAt monotonic time at which the database was asked: of two beats under way the later one counts */
  hear(pauses: readonly Pause[], takenAt: number): void {
    if (takenAt < this.#heardAt) return;
    this.#pauses = pauses;
    this.#heardAt = takenAt;
  }

  paused(rail: Rail, organizationId: string): boolean {
    return this.#pauses.some(
      (pause) =>
        pause.rail === rail &&
        (pause.organizationId === organizationId || pause.organizationId === OPERATOR_ORGANIZATION_ID),
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
