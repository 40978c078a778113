import type { Environment } from '../kit/environment.ts';
import { loginFailures, tryLogin } from './login.ts';
import { migrationStatus } from './migration-files.ts';
import { POOLER_FAULT } from './pooler.ts';
import { versionFault } from './server-version.ts';
import type { SystemDb } from './system.ts';
import { statement } from './tx.ts';

const FACTS = statement(
  'startup.facts',
  `select d.environment, d.cell,
     current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
     current_setting('full_page_writes') as full_page_writes, current_setting('lc_messages') as lc_messages,
     current_setting('server_version_num')::int as version
   from caudal.deployment d`,
);

interface Facts {
  environment: string;
  cell: number;
  fsync: string;
  synchronous_commit: string;
  full_page_writes: string;
  lc_messages: string;
  version: number;
}

const LOGIN_WITHIN_MS = 5000;

/**
 * What must hold of the database before this process serves anyone: the right database, migrated, and durable.
 * @param urls addresses that this process logs in by
 * @returns every fault found, in words for an operator
 */
export async function databaseFaults(
  db: SystemDb,
  expected: { environment: Environment; cell: number },
  urls: readonly string[],
): Promise<string[]> {
  // First: through a pooler the first prepared statement may fail in ways that do not name it.
  const logins = await Promise.all(urls.map((url) => tryLogin(url, LOGIN_WITHIN_MS, 'caudal-start')));
  if (logins.some(({ kind }) => kind === 'pooler')) return [POOLER_FAULT];
  let facts: Facts | undefined;
  try {
    [facts] = await db.query<Facts>(FACTS);
  } catch (error) {
    // 3F000, 42P01: no schema or table yet; 28000, 28P01: the roles do not exist or have another password.
    const state = (error as { code?: string }).code ?? '';
    if (['3F000', '42P01', '42501', '28000', '28P01'].includes(state))
      return [
        'the database is not migrated (or its roles have other passwords): run the role "migrate" first',
      ];
    throw error;
  }
  const faults: string[] = [];
  const version = versionFault(facts?.version ?? 0);
  if (version !== null) faults.push(version);
  for (const { message } of loginFailures(urls, logins))
    faults.push(`${message}: correct its address, or run the role "migrate"`);
  if (facts?.environment !== expected.environment || facts.cell !== expected.cell) {
    faults.push(
      `the database belongs to ${facts?.environment}, cell ${facts?.cell}; the configuration says ${expected.environment}, cell ${expected.cell}`,
    );
  }
  faults.push(...(await migrationFaults(db)));
  if (facts?.fsync !== 'on' || facts.full_page_writes !== 'on')
    faults.push(
      'PostgreSQL runs with fsync or full_page_writes off: an acknowledged payment would not survive a crash',
    );
  if (facts?.synchronous_commit === 'off' || facts?.synchronous_commit === 'local') {
    faults.push(
      `PostgreSQL runs with synchronous_commit = ${facts.synchronous_commit}: an acknowledged payment could be lost`,
    );
  }
  // The notice that a commit was not confirmed by its standby is recognised by its English text (db/pool.ts).
  if (!/^(?:C|POSIX|en|$)/i.test(facts?.lc_messages ?? ''))
    faults.push(`PostgreSQL speaks ${facts?.lc_messages}: set lc_messages = 'C'`);
  return faults;
}

/** Every name is compared: one of an earlier number may be missing where branches were merged or a file was removed. */
async function migrationFaults(db: SystemDb): Promise<string[]> {
  const { pending, unknown } = await migrationStatus(db);
  const faults: string[] = [];
  if (unknown.length > 0)
    faults.push(
      `the database has migrations that this version does not know (${unknown.join(', ')}): run a newer version`,
    );
  if (pending.length > 0)
    faults.push(
      `the database lacks migrations of this version (${pending.join(', ')}): run the role "migrate"`,
    );
  return faults;
}
