import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyDatabase } from '../harness/empty-database.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';

/**
 * Must match the server version: pg_dump refuses a newer server, and the embedded one has no client tools.
 */
const TOOLS = process.env['POSTGRES_BIN'] ?? '';
const HAS_TOOLS = existsSync(join(TOOLS, 'pg_dump')) && TOOLS !== '';
const PASSWORD = 'dev-backup';

let stack: Stack;
let backupUrl: string;
beforeAll(async () => {
  stack = await startStack({ workers: 1 });
  const driver = new PayinDriver(stack);
  const { payin, key } = await driver.breb();
  await driver.simulator.pay({ key });
  await driver.waitForStatus(payin.id, 'CONFIRMED');
  await driver.waitUntilIdle();
  // Nothing changes from here on: a settlement run would change the counts between two readings.
  await Promise.all([...stack.apis, ...stack.workers].map((child) => child.stop()));
  await stack.database.query(`alter role caudal_backup password '${PASSWORD}'`);
  const url = new URL(stack.database.url);
  url.username = 'caudal_backup';
  url.password = PASSWORD;
  backupUrl = url.href;
});
afterAll(() => stack?.stop());

interface Table {
  readonly name: string;
}

const TABLES = `select format('%I.%I', n.nspname, c.relname) as name from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('caudal', 'caudal_meta', 'caudal_jobs') and c.relkind in ('r', 'p') order by 1`;

/** Row counts of each table and partition. */
async function rowCounts(
  query: <Row extends object>(text: string) => Promise<Row[]>,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { name } of await query<Table>(TABLES)) {
    const [row] = await query<{ count: number }>(`select count(*)::int as count from ${name}`);
    counts.set(name, row?.count ?? -1);
  }
  return counts;
}

describe('the backup role', () => {
  it('has a policy on every table with row-level security, including partitions', async () => {
    const without = await stack.database.query(
      `select c.relname from pg_class c
       where c.relnamespace = 'caudal'::regnamespace and c.relkind in ('r', 'p') and c.relrowsecurity
         and not exists (select from pg_policy p where p.polrelid = c.oid and p.polcmd = 'r' and p.polpermissive
           and p.polroles = array['caudal_backup'::regrole::oid] and pg_get_expr(p.polqual, p.polrelid) = 'true')`,
    );
    expect(without).toEqual([]);
  });

  it('reads what the superuser reads, also in later partitions and tables, and writes nothing', async () => {
    await stack.database.query("select caudal.make_months(caudal.now() + interval '5 months')");
    const client = new Client({ connectionString: backupUrl });
    await client.connect();
    try {
      const all = await rowCounts((text) => stack.database.query(text));
      const visible = await rowCounts(
        async <Row extends object>(text: string) => (await client.query<Row>(text)).rows,
      );
      expect(visible).toEqual(all);
      expect(all.get('caudal.payins')).toBe(1);
      await expect(client.query('delete from caudal.payins')).rejects.toThrow('permission denied');
      await expect(client.query('create table caudal.loot (id int)')).rejects.toThrow('permission denied');
    } finally {
      await client.end();
    }
  });

  it.skipIf(!HAS_TOOLS)('takes a dump that restores to the same rows and a consistent ledger', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'caudal-dump-'));
    const restored = await emptyDatabase();
    try {
      const file = join(folder, 'caudal.dump');
      const run = (tool: string, ...args: readonly string[]) =>
        execFileSync(join(TOOLS, tool), [...args], { encoding: 'utf8', stdio: 'pipe' });
      run('pg_dump', '--format=custom', '--enable-row-security', `--file=${file}`, backupUrl);
      run('pg_restore', '--exit-on-error', `--dbname=${restored.ownerUrl}`, file);
      const before = await rowCounts((text) => stack.database.query(text));
      expect(await rowCounts((text) => restored.query(text))).toEqual(before);
      expect(before.get('caudal.ledger_transfers')).toBeGreaterThan(0);
      const settings = { ...stack.settings, DATABASE_URL: restored.ownerUrl };
      const verified = await runOperatorCommand(settings, 'ledger', 'verify');
      expect(verified).toMatchObject({ code: 0, stderr: '' });
    } finally {
      await restored.drop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
