import { defineConfig } from 'vitest/config';
import { COMPILE_CACHE } from '../scripts/stack/compile-cache.ts';
import { TestCounts } from '../scripts/test-counts.ts';

// For the test processes and the processes that they start.
process.env['NODE_COMPILE_CACHE'] = COMPILE_CACHE;

export default defineConfig({
  test: {
    include: ['e2e/**/*.e2e.ts'],
    globalSetup: ['server/test/harness/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
    reporters: ['default', new TestCounts()],
  },
});
