/**
 * How long tests wait for a condition. Waiting ends as soon as the condition holds, so only a failing test waits this long; a
 * machine that runs much else must not fail one.
 */
export const PATIENCE_MS = 60_000;
