import { defineConfig } from 'vitest/config';
import { TestCounts } from '../scripts/test-counts.ts';

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
