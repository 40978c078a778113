import { recordAction } from '../../audit/operator-action.store.ts';
import { readBackupCheck, recordBackupCheck } from '../../db/backup-check.ts';
import type { SystemDeps } from '../../deps.ts';
import { readBeforeScrape } from './database-gauge.ts';

/** Stores the result of a backup check for the metrics, with its audit row. */
export async function storeBackupCheck(
  deps: SystemDeps,
  operator: string,
  { lastBackupAt, failures }: { readonly lastBackupAt: Date | null; readonly failures: number },
): Promise<void> {
  await deps.system.transaction('record action', async (tx) => {
    await recordBackupCheck(tx, lastBackupAt, failures);
    const details = { failures };
    await recordAction(tx, {
      operator,
      action: 'backup.check',
      organizationId: null,
      resource: null,
      details,
    });
  });
}

/** Metrics of the last `backup check`, which every worker reads from the database. */
export function watchBackups(deps: SystemDeps): void {
  const { metrics, system } = deps;
  const check = readBeforeScrape(deps, async () => ({ last: await readBackupCheck(system) }));
  metrics.gauge(
    'caudal_backup_last_check_timestamp_seconds',
    'When `backup check` last ran, in seconds since 1970; 0 before the first time.',
    () => {
      const current = check();
      return current && (current.last?.checkedAtSeconds ?? 0);
    },
  );
  metrics.gauge(
    'caudal_backup_age_seconds',
    'Age of the last backup that `backup check` found.',
    // No sample until a backup is known: a zero would claim that there is a fresh one.
    () => check()?.last?.ageSeconds ?? null,
  );
}
