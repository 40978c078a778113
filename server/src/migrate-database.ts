import { compose } from './compose.ts';
import type { Config } from './config.ts';
import { awaitDatabase } from './db/await-database.ts';
import { migrate } from './db/migrate.ts';
import { auditMigration } from './flows/operations/audit-migration.system.ts';
import { ensureOperatorOrganization } from './flows/operations/manage-organizations.system.ts';
import { storeHashKeys } from './flows/operations/store-hash-keys.system.ts';
import { installSchedules } from './jobs/schedule-schema.ts';
import type { Log } from './kit/log.ts';

/** Migrates the database, its schedules and the operator's organization to this version of the server. */
export async function migrateDatabase(config: Config, log: Log, author: string): Promise<void> {
  const { database, environment, cell } = config;
  const { rolePrefix, roles, readUrl, batchUrl, systemUrl, backupUrl } = database;
  const ownerUrl = database.ownerUrl ?? '';
  await awaitDatabase([ownerUrl], log, database.startWaitMs);
  const { deps, close } = compose(config, log);
  try {
    await auditMigration(deps, author, async (beforeChanges) => {
      await migrate({
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
      await installSchedules(ownerUrl, roles);
      await ensureOperatorOrganization(deps);
      await storeHashKeys(deps);
    });
  } finally {
    await close();
  }
  log.info({ code: 'migrate_finished', environment, cell }, 'database up to date');
}
