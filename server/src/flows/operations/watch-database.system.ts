import { type DatabaseState, readDatabaseState } from '../../db/database-state.ts';
import { countPreparedMonths } from '../../db/months.ts';
import type { SystemDeps } from '../../deps.ts';
import type { Reading } from '../../kit/metrics.ts';
import { readBeforeScrape } from './database-gauge.ts';

type Gauges = Readonly<Record<string, readonly [help: string, read: (state: DatabaseState) => Reading]>>;

const GAUGES: Gauges = {
  caudal_database_server_version: [
    'Version of PostgreSQL as a number, 180004 for 18.4.',
    ({ serverVersion }) => serverVersion,
  ],
  caudal_schema_version: [
    'Number of the newest migration of the database.',
    ({ schemaVersion }) => schemaVersion,
  ],
  caudal_database_standbys: [
    'Standbys that receive WAL by state (sync, async); only state unknown when the role may not see it (pg_read_all_stats).',
    ({ standbys, connectedStandbys }) =>
      standbys === null
        ? [{ labels: { state: 'unknown' }, value: connectedStandbys }]
        : [
            { labels: { state: 'sync' }, value: standbys.sync },
            { labels: { state: 'async' }, value: standbys.async },
          ],
  ],
  caudal_database_archive_last_success_timestamp_seconds: [
    'When PostgreSQL last archived a WAL segment, in seconds since 1970, 0 before the first; absent while archive_mode is off.',
    ({ archive }) => archive?.lastSuccess ?? null,
  ],
  caudal_database_archive_failing: [
    'Whether the last attempt of PostgreSQL to archive a WAL segment failed.',
    ({ archive }) => (archive?.failing ? 1 : 0),
  ],
};

/** Metrics of PostgreSQL and what surrounds it. While the database cannot be read they have no value. */
export function watchDatabase(deps: SystemDeps): void {
  const { metrics, system } = deps;
  const state = readBeforeScrape(deps, () => readDatabaseState(system));
  for (const [name, [help, read]] of Object.entries(GAUGES))
    metrics.gauge(name, help, () => {
      const current = state();
      return current && read(current);
    });
  metrics.gauge(
    'caudal_months_prepared',
    'Months after the current one whose partitions exist; at 0 writes fail when the month ends, below 0 they fail now.',
    readBeforeScrape(deps, () => countPreparedMonths(system)),
  );
}
