import { defineConfig } from 'vitest/config';
import { COMPILE_CACHE } from './scripts/stack/compile-cache.ts';
import { TestCounts } from './scripts/test-counts.ts';

/**
 * What must hold on the oldest supported PostgreSQL, of Debian and with its defaults (JIT among them): POSTGRES_BIN
 * names its folder. The same files run on the embedded PostgreSQL with all the others.
 */
process.env['POSTGRES_BIN'] ??= '/usr/lib/postgresql/15/bin';

// For the test processes and the processes that they start.
process.env['NODE_COMPILE_CACHE'] = COMPILE_CACHE;

export default defineConfig({
  test: {
    include: ['server/test/compatibility/*.test.ts', 'server/test/core/migrate-roles.test.ts'],
    globalSetup: ['server/test/harness/global-setup.ts'],
    setupFiles: ['server/test/harness/print-server-logs.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    reporters: ['default', new TestCounts()],
  },
});
