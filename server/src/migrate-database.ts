import { compose } from './compose.ts';
import type { Config } from './config.ts';
import { awaitDatabase } from './db/await-database.ts';
import { migrate } from './db/migrate.ts';
import { auditMigration } from './flows/operations/audit-migration.system.ts';
import { ensureOperatorOrganization } from './flows/operations/manage-organizations.system.ts';
import { storeHashKeys } from './flows/operations/store-hash-keys.system.ts';
import { installSchedules } from './jobs/schedule-schema.ts';
import type { Log } from './kit/log.ts';

/**
 * Migrates the database, its schedules and the operator's organization to this version of the server. Changes nothing in
 * a database that a newer, compatible version migrated, so that a deployment can be rolled back with the same steps.
 */
export async function migrateDatabase(config: Config, log: Log, author: string): Promise<void> {
  const { database, environment, cell } = config;
  const { rolePrefix, roles, readUrl, batchUrl, systemUrl, backupUrl } = database;
  const ownerUrl = database.ownerUrl ?? '';
  await awaitDatabase([ownerUrl], log, database.startWaitMs);
  const { deps, close } = compose(config, log);
  let newer: readonly string[] = [];
  try {
    await auditMigration(deps, author, async (beforeChanges) => {
      newer = await migrate({
        ownerUrl,
        rolePrefix,
        roles,
        roleUrls: { read: readUrl, batch: batchUrl, system: systemUrl, backup: backupUrl },
        environment,
        cell,
        lockWaitSeconds: database.migrateLockWaitSeconds,
        log,
        beforeChanges,
      });
      if (newer.length > 0) return;
      await installSchedules(ownerUrl, roles);
      await ensureOperatorOrganization(deps);
      await storeHashKeys(deps);
    });
  } finally {
    await close();
  }
  if (newer.length > 0) {
    log.warn(
      { code: 'database_newer', migrations: newer },
      'nothing to migrate: a newer version has migrated the database, and this version runs on it',
    );
    return;
  }
  log.info({ code: 'migrate_finished', environment, cell }, 'database up to date');
}
