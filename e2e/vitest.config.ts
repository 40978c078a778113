import { defineConfig } from 'vitest/config';
import { COMPILE_CACHE } from '../scripts/stack/compile-cache.ts';
import { TestCounts } from '../scripts/test-counts.ts';

// For the test processes and the processes that they start.
process.env['NODE_COMPILE_CACHE'] = COMPILE_CACHE;

export default defineConfig({
  test: {
    // Measurements are not tests: only npm run e2e -- --network runs them.
    include: [process.env['E2E_NETWORK'] === undefined ? 'e2e/**/*.e2e.ts' : 'e2e/**/*.network.ts'],
    // Files that need real time, outages or volume run only with npm run e2e -- --long.
    exclude: process.env['E2E_LONG'] === undefined ? ['e2e/**/*.long.e2e.ts'] : [],
    globalSetup: ['server/test/harness/global-setup.ts'],
    testTimeout: 180_000,
    hookTimeout: 240_000,
    maxWorkers: process.env['E2E_LONG'] === undefined ? 2 : 1,
    reporters: ['default', new TestCounts()],
  },
});
