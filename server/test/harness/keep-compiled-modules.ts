import { flushCompileCache } from 'node:module';
import { afterAll } from 'vitest';

/**
 * Vitest kills its test processes before Node writes the compiled modules to the cache at exit. Only in CI, where the
 * cache starts empty: Vitest loads test files under names that differ in every run, so each run adds entries.
 */
afterAll(() => {
  if (process.env['CI']) flushCompileCache();
});
