import { defineConfig } from 'vitest/config';
import { COMPILE_CACHE } from './scripts/stack/compile-cache.ts';
import { TestCounts } from './scripts/test-counts.ts';

// For the test processes and the processes that they start.
process.env['NODE_COMPILE_CACHE'] = COMPILE_CACHE;

const FOLDERS = [
  'server/test',
  'simulator/test',
  'sdk/test',
  'cli/test',
  'docs/test',
  'chaos/test',
  'fuzz/test',
  'bench/test',
  'scripts',
  'examples',
];
const UNIT = '**/*.unit.test.ts';
const LONG = '**/*.long.test.ts';
const EXCLUDED = ['**/node_modules/**'];

const shared = {
  testTimeout: 180_000,
  hookTimeout: 240_000,
  // CI has two cores. Some files wait for timers and responses, so a third one runs meanwhile.
  maxWorkers: 3,
  // Node runs the TypeScript files itself, as in production, and keeps them in the compile cache.
  experimental: { viteModuleRunner: false, nodeLoader: false },
} as const;
const withServers = {
  ...shared,
  globalSetup: ['server/test/harness/global-setup.ts'],
  setupFiles: ['server/test/harness/print-server-logs.ts', 'server/test/harness/keep-compiled-modules.ts'],
};
const files = (ending: string) => FOLDERS.map((folder) => `${folder}/**/*${ending}`);

/**
 * The name of a test file says its project. `*.unit.test.ts`: pure functions, without servers. `*.long.test.ts`: needs real time,
 * outages, kills or volume, and runs only in .ci/long. All others are system tests.
 */
export default defineConfig({
  test: {
    reporters: ['default', new TestCounts()],
    projects: [
      {
        test: { ...shared, isolate: false, name: 'unit', include: files('.unit.test.ts'), exclude: EXCLUDED },
      },
      {
        test: {
          ...withServers,
          name: 'system',
          include: files('.test.ts'),
          exclude: [...EXCLUDED, UNIT, LONG],
        },
      },
      { test: { ...withServers, name: 'long', include: files('.long.test.ts'), exclude: EXCLUDED } },
      {
        test: {
          ...withServers,
          name: 'compatibility',
          include: ['server/test/compatibility/*.test.ts', 'server/test/core/migrate-roles.test.ts'],
          // The oldest supported PostgreSQL, of Debian and with its defaults (JIT among them).
          env: { POSTGRES_BIN: process.env['POSTGRES_BIN'] ?? '/usr/lib/postgresql/15/bin' },
        },
      },
    ],
  },
});
