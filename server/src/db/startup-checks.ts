import type { Environment } from '../kit/environment.ts';
import { newestMigration } from './migrate.ts';
import type { SystemDb } from './system.ts';
import { statement } from './tx.ts';

const FACTS = statement(
  'startup.facts',
  `select d.environment, d.cell, (select max(name) from caudal_meta.migrations) as newest,
     current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
     current_setting('full_page_writes') as full_page_writes, current_setting('lc_messages') as lc_messages
   from caudal.deployment d`,
);

interface Facts {
  environment: string;
  cell: number;
  newest: string | null;
  fsync: string;
  synchronous_commit: string;
  full_page_writes: string;
  lc_messages: string;
}

/**
 * What must hold of the database before this process serves anyone: the right database, migrated, and durable.
 * @returns every fault found, in words for an operator
 */
export async function databaseFaults(
  db: SystemDb,
  expected: { environment: Environment; cell: number },
): Promise<string[]> {
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
  if (facts?.environment !== expected.environment || facts.cell !== expected.cell) {
    faults.push(
      `the database belongs to ${facts?.environment}, cell ${facts?.cell}; the configuration says ${expected.environment}, cell ${expected.cell}`,
    );
  }
  const newest = await newestMigration();
  if (facts && facts.newest !== newest) {
    const ahead = (facts.newest ?? '') > newest;
    faults.push(
      ahead
        ? `the database is at migration ${facts.newest}, which this version does not know: run a newer version`
        : `the database is at migration ${facts.newest}, this version at ${newest}: run the role "migrate"`,
    );
  }
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
