import type { Deps } from '../../deps.ts';

/**
 * Reads a value from the database before each scrape, for gauges. The value is null while the database has not answered the
 * read of this scrape: an old value would show a quiet system during an outage.
 */
export function readBeforeScrape<T>(
  { metrics, failures }: Pick<Deps, 'metrics' | 'failures'>,
  read: () => Promise<T>,
): () => T | null {
  let value: T | null = null;
  metrics.beforeScrape(async () => {
    value = null;
    try {
      value = await read();
      failures.succeeded('refresh_metrics');
    } catch (error) {
      failures.failed('refresh_metrics', error);
    }
  });
  return () => value;
}
