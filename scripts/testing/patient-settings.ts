import { TIMED } from './expect-within.ts';

/**
 * Settings of servers in tests: a starved machine is not a broken database, and must not change an answer. Tests of the
 * deadlines themselves set other values; `.ci/long timing` runs with those of production.
 */
export const PATIENT_SETTINGS: Readonly<Record<string, string>> = TIMED
  ? {}
  : { CAUDAL_DATABASE_DEADLINE_MS: '30000', CAUDAL_TEST_DEADLINE_FACTOR: '10' };

/** Deadlines of production, for tests in which the server must meet one. */
export const PRODUCTION_DEADLINES: Readonly<Record<string, string>> = {
  CAUDAL_DATABASE_DEADLINE_MS: '5000',
  CAUDAL_TEST_DEADLINE_FACTOR: '1',
};
