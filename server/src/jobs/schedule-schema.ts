import type { Client } from 'pg';
import { PgBoss, type QueueOptions } from 'pg-boss';
import { OWNER_SESSION, ownerClient } from '../db/owner-client.ts';
import { type RoleNames, withRoleNames } from '../kit/database-roles.ts';
import { SCHEDULES, type Schedule } from './schedule-catalogue.ts';

/** pg-boss has it to itself; nothing of ours refers to it. */
export const JOBS_SCHEMA = 'caudal_jobs';

/** A worker that has said nothing of its run for so long is dead, and the run is another's. The shortest pg-boss takes. */
const SILENT_FOR_SECONDS = 10;

const KEEP_RUNS_SECONDS = 172_800;
const LONGEST_RETRY_SECONDS = 600;

/**
 * Makes pg-boss's tables, queues and schedules as their owner, so that workers need no right to change a table.
 * Forward only, like migrations, and one at a time: two grants on one table at once fail in PostgreSQL.
 */
export async function installSchedules(
  ownerUrl: string,
  roles: RoleNames,
  schedules: readonly Schedule[] = SCHEDULES,
): Promise<void> {
  const client = ownerClient(ownerUrl, 'caudal-migrate');
  await client.connect();
  try {
    // Held until the connection ends.
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
  // A failure reaches us by the call that failed; without a listener the event of it would end the process.
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
    expireInSeconds: schedule.withinSeconds,
    heartbeatSeconds: SILENT_FOR_SECONDS,
    retryLimit: schedule.retries,
    retryDelay: schedule.retryAfterSeconds,
    retryBackoff: true,
    retryDelayMax: LONGEST_RETRY_SECONDS,
    deleteAfterSeconds: KEEP_RUNS_SECONDS,
  };
  // Exclusive: one run waiting or under way, whoever asks for a second; that is how two workers make one run.
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
