import { defineConfig } from 'vitest/config';
import { COMPILE_CACHE } from './scripts/stack/compile-cache.ts';
import { TestCounts } from './scripts/test-counts.ts';

// For the test processes and the processes that they start.
process.env['NODE_COMPILE_CACHE'] = COMPILE_CACHE;

export default defineConfig({
  test: {
    include: [
      'server/test/**/*.test.ts',
      'simulator/test/**/*.test.ts',
      'sdk/test/**/*.test.ts',
      'cli/test/**/*.test.ts',
      'docs/test/**/*.test.ts',
      'chaos/test/**/*.test.ts',
      'fuzz/test/**/*.test.ts',
      'bench/test/**/*.test.ts',
      'scripts/**/*.test.ts',
      'examples/**/*.test.ts',
    ],
    globalSetup: ['server/test/harness/global-setup.ts'],
    setupFiles: ['server/test/harness/print-server-logs.ts', 'server/test/harness/keep-compiled-modules.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // CI has two cores. Some files wait for timers and responses, so a third one runs meanwhile.
    maxWorkers: 3,
    // Node runs the TypeScript files itself, as in production, and keeps them in the compile cache.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    reporters: ['default', new TestCounts()],
  },
});
