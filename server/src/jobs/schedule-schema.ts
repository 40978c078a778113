import type { Client } from 'pg';
import { PgBoss, type QueueOptions } from 'pg-boss';
import { OWNER_SESSION, ownerClient } from '../db/owner-client.ts';
import { type RoleNames, withRoleNames } from '../kit/database-roles.ts';
import { SCHEDULES, type Schedule } from './schedule-catalogue.ts';

/** Used by pg-boss only; our tables do not reference it. */
export const JOBS_SCHEMA = 'caudal_jobs';

/** Without a heartbeat for this long a worker counts as dead and another worker takes its run. The minimum of pg-boss. */
const HEARTBEAT_TIMEOUT_SECONDS = 10;

const RUN_RETENTION_SECONDS = 172_800;
const MAX_RETRY_DELAY_SECONDS = 600;

/**
 * Creates pg-boss's tables, queues and schedules as their owner, so that workers need no right to alter tables.
 * Forward only, like migrations, and serialized by a lock: concurrent grants on one table fail in PostgreSQL.
 */
export async function installSchedules(
  ownerUrl: string,
  roles: RoleNames,
  schedules: readonly Schedule[] = SCHEDULES,
): Promise<void> {
  const client = ownerClient(ownerUrl, 'caudal-migrate');
  await client.connect();
  try {
    // The lock is held until the connection ends.
    await client.query("select pg_advisory_lock(hashtext('caudal.schedules'))");
    await installTables(ownerUrl, schedules);
    await grantRights(client, roles);
  } finally {
    await client.end();
  }
}

async function installTables(ownerUrl: string, schedules: readonly Schedule[]): Promise<void> {
  const boss = new PgBoss({
    connectionString: ownerUrl,
    application_name: 'caudal-migrate',
    options: OWNER_SESSION,
    schema: JOBS_SCHEMA,
    max: 1,
    schedule: false,
    supervise: false,
  });
  // The failed call reports the error; an 'error' event without a listener would end the process.
  boss.on('error', () => undefined);
  try {
    await boss.start();
    for (const schedule of schedules) await ensureSchedule(boss, schedule);
    for (const { name } of await boss.getSchedules())
      if (!schedules.some((schedule) => schedule.name === name)) await boss.unschedule(name);
  } finally {
    await boss.stop({ graceful: false });
  }
}

async function ensureSchedule(boss: PgBoss, schedule: Schedule): Promise<void> {
  const options: QueueOptions = {
    expireInSeconds: schedule.timeoutSeconds,
    heartbeatSeconds: HEARTBEAT_TIMEOUT_SECONDS,
    retryLimit: schedule.retries,
    retryDelay: schedule.retryAfterSeconds,
    retryBackoff: true,
    retryDelayMax: MAX_RETRY_DELAY_SECONDS,
    deleteAfterSeconds: RUN_RETENTION_SECONDS,
  };
  // Exclusive: at most one run is queued or active, so that several workers create only one run.
  await boss.createQueue(schedule.name, { ...options, policy: 'exclusive' });
  await boss.updateQueue(schedule.name, options);
  await boss.schedule(schedule.name, schedule.cron, null, {
    tz: schedule.timezone,
    missed: schedule.missed,
  });
}

/** The backup role reads everything: a dump without the schedules would restore to a deployment without them. */
const RIGHTS = `
  grant usage on schema ${JOBS_SCHEMA} to caudal_system, caudal_backup;
  grant select, insert, update, delete on all tables in schema ${JOBS_SCHEMA} to caudal_system;
  grant usage on all sequences in schema ${JOBS_SCHEMA} to caudal_system;
  grant select on all tables in schema ${JOBS_SCHEMA} to caudal_backup;
  grant select on all sequences in schema ${JOBS_SCHEMA} to caudal_backup`;

async function grantRights(client: Client, roles: RoleNames): Promise<void> {
  await client.query(withRoleNames(RIGHTS, roles));
}
