/**
 * Deadlines after which the server answers differently: with 503, or without a bank page. A test that waits for a condition on a
 * starved machine must not meet them, so processes of tests multiply them (CAUDAL_TEST_DEADLINE_FACTOR, rejected in production).
 */
let factor = 1;

export function multiplyDeadlines(by: number): void {
  factor = by;
}

/** @param ms the duration in production */
export function deadline(ms: number): number {
  return ms * factor;
}
