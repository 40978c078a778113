import { defineConfig } from 'vitest/config';
import { inSample } from './scripts/sample.ts';
import { COMPILE_CACHE } from './scripts/stack/compile-cache.ts';
import { TestCounts } from './scripts/test-counts.ts';

/**
 * What takes longer than fifteen seconds, mostly waiting for real time to pass. `npm test` runs them all; CI, which has
 * minutes for everything, runs the quarter that TEST_SAMPLE chooses (`.ci/run`).
 *
 * Not among them though they take as long, for no commit may land without them: a sender killed between an answer and its
 * record (webhooks/killed), one that hangs beside others (webhooks/isolation).
 */
const LONG = [
  'bench/test/engines.test.ts',
  'chaos/test/checker.test.ts',
  'chaos/test/link-checker.test.ts',
  'chaos/test/payout-checker.test.ts',
  'chaos/test/webhook-checker.test.ts',
  'cli/test/examples.test.ts',
  'cli/test/listen.test.ts',
  'cli/test/payments.test.ts',
  'cli/test/staging.test.ts',
  'scripts/dev.test.ts',
  'server/test/api/breb-keys.503.test.ts',
  'server/test/api/breb-keys.test.ts',
  'server/test/api/payouts.cancel.test.ts',
  'server/test/api/payouts.create.test.ts',
  // CI runs these two on PostgreSQL 15 each time (vitest.compatibility.config.ts).
  'server/test/compatibility/backup.test.ts',
  'server/test/compatibility/pooler.test.ts',
  'server/test/concurrency/cut-commit.test.ts',
  'server/test/concurrency/idempotency.test.ts',
  'server/test/core/clock-steps.test.ts',
  'server/test/core/credentials.test.ts',
  'server/test/core/late-heartbeat.test.ts',
  'server/test/core/login-rejected.test.ts',
  'server/test/core/migrate-locks.test.ts',
  // CI runs it on PostgreSQL 15 each time, too.
  'server/test/core/migrate-roles.test.ts',
  'server/test/core/migrations.test.ts',
  'server/test/core/missing-standby.test.ts',
  'server/test/core/pool.test.ts',
  'server/test/core/rolling-restart.test.ts',
  'server/test/core/start-wait.test.ts',
  'server/test/flows/key-registration.test.ts',
  'server/test/flows/pse-page.test.ts',
  'server/test/flows/rail-pause.test.ts',
  'server/test/isolation/personal-data.test.ts',
  'server/test/jobs/schedule-takeover.test.ts',
  'server/test/jobs/schedules.test.ts',
  'server/test/operator/doctor.test.ts',
  'server/test/operator/doctor.work.test.ts',
  'server/test/outcomes/anomaly-commands.test.ts',
  'server/test/outcomes/event-snapshot.test.ts',
  'server/test/outcomes/outage.test.ts',
  'server/test/outcomes/payin-outcomes.test.ts',
  'server/test/outcomes/payout-bad-row.test.ts',
  'server/test/outcomes/payout-commands.test.ts',
  'server/test/outcomes/payout-faults.test.ts',
  'server/test/outcomes/payout-kills.test.ts',
  'server/test/outcomes/payout-notices.test.ts',
  'server/test/outcomes/payout-outage.test.ts',
  'server/test/outcomes/payout-outcomes.test.ts',
  'server/test/outcomes/payout-returns.test.ts',
  'server/test/outcomes/payout-waiting.test.ts',
  'server/test/overload/shedding.test.ts',
  'server/test/payment-links/link-attempts.test.ts',
  'server/test/payment-links/link-outcomes.test.ts',
  'server/test/payment-links/links.test.ts',
  'server/test/rails/orders.test.ts',
  'server/test/webhooks/many-failing-endpoints.test.ts',
  'server/test/webhooks/endpoints.test.ts',
  'server/test/webhooks/disabled-endpoints.test.ts',
  'server/test/webhooks/replays.test.ts',
  'server/test/webhooks/retries.test.ts',
  'server/test/webhooks/secrets.test.ts',
  'server/test/webhooks/stream.test.ts',
  'simulator/test/notices-restart.test.ts',
  'simulator/test/notices.test.ts',
  'simulator/test/restart.test.ts',
];
const seed = process.env['TEST_SAMPLE'];
const leftOut = seed === undefined ? [] : LONG.filter((file) => !inSample(seed, file, 4));

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
      'bench/test/**/*.test.ts',
      'scripts/**/*.test.ts',
      'examples/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', ...leftOut],
    globalSetup: ['server/test/harness/global-setup.ts'],
    setupFiles: [
      'server/test/harness/print-server-logs.ts',
      'server/test/harness/keep-compiled-modules.ts',
    ],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores: more files at once only makes every process wait for the others.
    maxWorkers: 2,
    // Node runs the TypeScript files itself, as in production, and keeps them in the compile cache.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    reporters: ['default', new TestCounts()],
  },
});
