import { defineConfig } from 'vitest/config';
import { TestCounts } from './scripts/test-counts.ts';

export default defineConfig({
  test: {
    include: [
      'server/test/**/*.test.ts',
      'simulator/test/**/*.test.ts',
      'chaos/test/**/*.test.ts',
      'scripts/**/*.test.ts',
      'examples/**/*.test.ts',
    ],
    globalSetup: ['server/test/harness/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores: more files at once only makes every process wait for the others.
    maxWorkers: 2,
    reporters: ['default', new TestCounts()],
  },
});
