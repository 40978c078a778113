import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../kit/clock.ts';
import { deadline } from '../kit/deadline.ts';
import type { Log } from '../kit/log.ts';
import { failedLogins } from './login.ts';

const RETRY_MS = 500;
const LOGIN_WITHIN_MS = 5000;

/**
 * Waits while PostgreSQL is starting. Machines restart together, and a supervisor backs off when a process exits
 * immediately. Other failures, such as a rejected login, are not waited for: the startup checks report them.
 * @param urls all database URLs the process uses
 * @throws Error when one of them is not reachable in time
 */
export async function awaitDatabase(urls: readonly string[], log: Log, withinMs: number): Promise<void> {
  const startedAt = monotonicMs();
  for (let attempt = 1; ; attempt += 1) {
    const failures = await failedLogins(urls, deadline(LOGIN_WITHIN_MS), 'caudal-start');
    const [starting] = failures.filter(({ rejected }) => !rejected);
    if (!starting) {
      if (attempt > 1)
        log.info(
          { code: 'database_reachable', durationMs: Math.round(monotonicMs() - startedAt) },
          'database reachable',
        );
      return;
    }
    if (monotonicMs() - startedAt + RETRY_MS > withinMs)
      throw new Error(`the database did not answer within ${withinMs / 1000} s: ${starting.message}`);
    if (attempt === 1) {
      log.warn({ code: 'waiting_for_database', reason: starting.message }, 'waiting for the database');
      log.flush();
    }
    await sleep(RETRY_MS);
  }
}
