import { afterEach, beforeEach, vi } from 'vitest';
import { TIMED } from '../../../scripts/testing/expect-within.ts';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';

/** Connectors in this process wait for a rail as long as tests do: on a starved machine a late answer is not a lost one. */
export function waitPatientlyForAnswers(): void {
  beforeEach(() => {
    if (TIMED) return;
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(PATIENCE_MS));
  });
  afterEach(() => vi.restoreAllMocks());
}

/** From here to the end of the test connectors have the deadlines of production. */
export function useProductionDeadlines(): void {
  vi.restoreAllMocks();
}
