import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { failedLogins } from './login.ts';

const RETRY_MS = 500;
const LOGIN_WITHIN_MS = 5000;

/**
 * Waits while PostgreSQL is starting: machines restart together, and a process that ends at once is restarted later and
 * later by its supervisor. Anything else, a refused login above all, is not waited for: the checks that follow name it.
 * @param urls every address that will be used
 * @throws Error when one of them cannot be reached in time
 */
export async function awaitDatabase(urls: readonly string[], log: Log, withinMs: number): Promise<void> {
  const startedAt = monotonicMs();
  for (let attempt = 1; ; attempt += 1) {
    const failures = await failedLogins(urls, LOGIN_WITHIN_MS, 'caudal-start');
    const [starting] = failures.filter(({ refused }) => !refused);
    if (!starting) {
      if (attempt > 1)
        log.info(
          { code: 'database_reachable', durationMs: Math.round(monotonicMs() - startedAt) },
          'the database answers',
        );
      return;
    }
    if (monotonicMs() - startedAt + RETRY_MS > withinMs)
      throw new Error(`the database did not answer within ${withinMs / 1000} s: ${starting.message}`);
    if (attempt === 1) {
      log.warn({ code: 'database_awaited', reason: starting.message }, 'waiting for the database');
      log.flush();
    }
    await sleep(RETRY_MS);
  }
}
