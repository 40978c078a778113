import { execFile } from 'node:child_process';
import { readConfig } from '../config.ts';
import { type Archiving, readArchiving } from '../db/backup-check.ts';
import { findTablesMissingInDumps } from '../db/diagnostics.ts';
import type { SystemDeps } from '../deps.ts';
import { storeBackupCheck } from '../flows/operations/watch-backups.system.ts';
import { realTime } from '../kit/clock.ts';
import { readTime } from './audit.ts';
import { duration, type Finding, fail, ok, warn } from './finding.ts';
import type { Options, Output } from './options.ts';

/** A segment is archived at the latest after `archive_timeout`, which the documented configuration sets to a minute. */
const MAX_SEGMENT_AGE_SECONDS = 600;
const PGBACKREST_WITHIN_MS = 30_000;

/** Checks that a restore to any second would be possible now. */
export async function backupCheck(deps: SystemDeps, options: Options): Promise<Output> {
  const maxAgeHours = Number(options.matching('max-age', /^[1-9]\d{0,3}$/, 'a number of hours', '26'));
  const stanza = options.matching('stanza', /^[\w-]{1,60}$/, 'the name of a stanza', 'caudal');
  const given = readTime(options, 'backup-at');
  const lastBackup = given ? { at: given, problem: null } : await askPgBackRest(stanza);
  const archiving = await readArchiving(deps.system);
  const { roles } = readConfig('operator').database;
  const missing = await findTablesMissingInDumps(deps.system, roles.backup);
  const findings = [
    archivingFinding(archiving, given !== null),
    backupFinding(lastBackup, maxAgeHours),
    missing.length === 0
      ? ok('backup role', `${roles.backup} can read every table`)
      : fail('backup role', `${roles.backup} cannot read ${missing.join(', ')}`, 'caudal migrate --by NAME'),
    warn(
      'secrets',
      'no backup of the database contains CAUDAL_MASTER_KEY, CAUDAL_KEY_PEPPER, CAUDAL_TOKEN_KEY and CAUDAL_RECEIPT_KEY',
      'keep a copy of each elsewhere: without the master key no customer or receiver can be decrypted',
    ),
  ];
  const failures = findings.filter(({ status }) => status === 'fail').length;
  await storeBackupCheck(deps, options.by, { lastBackupAt: lastBackup.at, failures });
  return {
    json: { ok: failures === 0, lastBackupAt: lastBackup.at, checks: findings },
    text: findings.map(toLines).join('\n'),
    bad: failures > 0,
  };
}

function toLines({ name, status, message, todo }: Finding): string {
  return `${status.padEnd(4)}  ${name.padEnd(13)}  ${message}${todo === null ? '' : `\n${' '.repeat(21)}→ ${todo}`}`;
}

/** @param ownProgram whether backups are made with another program than pgBackRest, which may not need the archive */
function archivingFinding(
  { mode, hasTimeout, lastArchivedTime, failing, lastFailedWal }: Archiving,
  ownProgram: boolean,
): Finding {
  const name = 'archiving';
  if (mode === 'off')
    return (ownProgram ? warn : fail)(
      name,
      'archive_mode is off: only whole backups can be restored',
      'see docs/operating/backup.md',
    );
  if (failing)
    return fail(
      name,
      `archiving fails since segment ${lastFailedWal}`,
      'see the log of PostgreSQL and of pgBackRest',
    );
  if (lastArchivedTime === null)
    return fail(name, 'no segment has been archived yet', 'pgbackrest --stanza=caudal check');
  const age = (realTime().getTime() - lastArchivedTime.getTime()) / 1000;
  const message = `the last segment was archived ${duration(age)} ago`;
  if (!hasTimeout) return warn(name, `${message}; archive_timeout is 0`, 'set archive_timeout = 60');
  return age > MAX_SEGMENT_AGE_SECONDS
    ? fail(name, message, 'check archive_command, the repository and the clocks of both hosts')
    : ok(name, message);
}

interface LastBackup {
  readonly at: Date | null;
  /** Why it is not known. */
  readonly problem: string | null;
}

function backupFinding({ at, problem }: LastBackup, maxAgeHours: number): Finding {
  if (at === null)
    return fail(
      'last backup',
      problem ?? 'there is none',
      'pgbackrest --stanza=caudal backup, or give --backup-at',
    );
  const age = (realTime().getTime() - at.getTime()) / 1000;
  const message = `the last backup ended ${duration(age)} ago`;
  return age > maxAgeHours * 3600
    ? fail('last backup', `${message}, more than ${maxAgeHours} h`, 'run the backup, and check its timer')
    : ok('last backup', message);
}

interface Stanza {
  readonly backup?: readonly { readonly error?: boolean; readonly timestamp?: { readonly stop?: number } }[];
}

/** The end of the newest backup without page errors, from `pgbackrest info`. */
async function askPgBackRest(stanza: string): Promise<LastBackup> {
  const args = [`--stanza=${stanza}`, '--output=json', 'info'];
  const result = await new Promise<{ readonly text: string; readonly problem: string | null }>((resolve) => {
    execFile('pgbackrest', args, { timeout: PGBACKREST_WITHIN_MS }, (error, stdout) =>
      resolve({ text: stdout, problem: error ? describeFailure(error) : null }),
    );
  });
  if (result.problem !== null) return { at: null, problem: result.problem };
  const backups = (JSON.parse(result.text) as Stanza[]).flatMap(({ backup = [] }) => backup);
  const stops = backups.flatMap(({ error, timestamp }) => (error === true ? [] : (timestamp?.stop ?? [])));
  if (stops.length === 0) return { at: null, problem: `pgBackRest has no backup of the stanza ${stanza}` };
  return { at: new Date(Math.max(...stops) * 1000), problem: null };
}

function describeFailure(error: Error & { readonly code?: string | number | null | undefined }): string {
  return error.code === 'ENOENT'
    ? 'pgbackrest is not installed on this host'
    : `pgbackrest info failed (${error.code ?? error.name})`;
}
