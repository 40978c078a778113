import { deadline } from '../kit/deadline.ts';
import type { Environment } from '../kit/environment.ts';
import { loginFailures, tryLogin } from './login.ts';
import { migrationStatus } from './migration-files.ts';
import { POOLER_ERROR } from './pooler.ts';
import { schemaProblems } from './schema-range.ts';
import { versionError } from './server-version.ts';
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
 * Checks the database before this process serves requests: the right database, migrated, and durable.
 * @param urls database URLs this process logs in with
 * @returns a sentence for operators about each problem found
 */
export async function findDatabaseProblems(
  db: SystemDb,
  expected: { environment: Environment; cell: number },
  urls: readonly string[],
): Promise<string[]> {
  // First, because through a pooler the first prepared statement may fail with an unrelated error.
  const logins = await Promise.all(
    urls.map((url) => tryLogin(url, deadline(LOGIN_WITHIN_MS), 'caudal-start')),
  );
  if (logins.some(({ kind }) => kind === 'pooler')) return [POOLER_ERROR];
  let facts: Facts | undefined;
  try {
    [facts] = await db.query<Facts>(FACTS);
  } catch (error) {
    // 3F000, 42P01: schema or table missing; 28000, 28P01: the roles do not exist or have another password.
    const state = (error as { code?: string }).code ?? '';
    if (['3F000', '42P01', '42501', '28000', '28P01'].includes(state))
      return ['the database is not migrated, or its roles have other passwords: run `caudal migrate` first'];
    throw error;
  }
  const problems: string[] = [];
  const version = versionError(facts?.version ?? 0);
  if (version !== null) problems.push(version);
  for (const { message } of loginFailures(urls, logins))
    problems.push(`${message}: correct the address, or run \`caudal migrate\``);
  if (facts?.environment !== expected.environment || facts.cell !== expected.cell) {
    problems.push(
      `the database belongs to ${facts?.environment}, cell ${facts?.cell}; the configuration says ${expected.environment}, cell ${expected.cell}`,
    );
  }
  problems.push(...schemaProblems(await migrationStatus(db)));
  if (facts?.fsync !== 'on' || facts.full_page_writes !== 'on')
    problems.push(
      'PostgreSQL runs with fsync or full_page_writes off: an acknowledged payment would not survive a crash',
    );
  if (facts?.synchronous_commit === 'off' || facts?.synchronous_commit === 'local') {
    problems.push(
      `PostgreSQL runs with synchronous_commit = ${facts.synchronous_commit}: an acknowledged payment could be lost`,
    );
  }
  // db/pool.ts matches the English text of the notice that a standby did not confirm a commit.
  if (!/^(?:C|POSIX|en|$)/i.test(facts?.lc_messages ?? ''))
    problems.push(`PostgreSQL runs with lc_messages = ${facts?.lc_messages}: set lc_messages = 'C'`);
  return problems;
}
