import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ACTION_CODES, type StoredAction } from '../../src/audit/operator-action.ts';
import { readOnly } from '../../src/db/system.ts';
import { statement } from '../../src/db/tx.ts';
import { ACTIONS } from '../../src/operator/command.ts';
import { type AuditedCommandName, OPERATOR_COMMANDS } from '../../src/operator/commands.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { type ExitResult, runToEnd } from '../harness/run-server.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { AUDITED_COMMANDS, type AuditStage, auditStage } from './audited-commands.ts';

const AUDITED = OPERATOR_COMMANDS.filter(({ audit }) => audit !== 'none');
const WITH_CHANGE = AUDITED.filter(({ audit }) => audit === 'with_change');

let stack: Stack;
let caudal: InProcess;
let stage: AuditStage;
// No worker: only the commands under test write.
beforeAll(async () => {
  stack = await startStack();
  caudal = await composeInProcess(stack.settings);
  stage = await auditStage(stack, caudal);
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});
afterEach(() => stack.database.query('delete from caudal.rail_pauses'));

/** @param author null: neither `--by` nor CAUDAL_BY */
function run(name: string, args: readonly string[], author: string | null): Promise<ExitResult> {
  const settings = { ...stack.settings, CAUDAL_BY: '', DATABASE_URL: stack.database.ownerUrl };
  const commandLine = [...name.split(' '), ...args, ...(author === null ? [] : ['--by', author])];
  return name === 'migrate' ? runToEnd(commandLine, settings) : runOperatorCommand(settings, ...commandLine);
}

const prepare = async (name: string) => AUDITED_COMMANDS[name as AuditedCommandName](stage);

function actionsBy(author: string) {
  return stack.database.query<{ action: string; phase: string }>(
    'select action, phase from caudal.operator_actions where operator = $1 order by at, phase desc',
    [author],
  );
}

/** A digest of each table, except those that processes write periodically. */
async function digestTables(): Promise<Record<string, string>> {
  const client = new Client({ connectionString: stack.database.url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'caudal' and c.relkind in ('r', 'p') and not c.relispartition
         and c.relname not in ('id_clock', 'write_probe', 'api_key_networks', 'ledger_status', 'continuity_marks') order by 1`,
    );
    const { rows } = await client.query<{ name: string; digest: string }>(
      tables
        .map(
          // The API periodically records when and from where an API key was used and how many values a data key has encrypted.
          ({
            name,
          }) => `select '${name}' as name, coalesce(md5(string_agg(r.row, '' order by r.row)), '') as digest
             from (select (to_jsonb(t) - 'last_used_at' - 'messages')::text as row from caudal.${name} t) r`,
        )
        .join(' union all '),
    );
    return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
  } finally {
    await client.end();
  }
}

describe('a command that changes something', () => {
  it('has its own action code, and every code has a command', () => {
    expect(Object.keys(ACTIONS).toSorted()).toEqual(AUDITED.map(({ name }) => name).toSorted());
    expect(Object.values(ACTIONS).toSorted()).toEqual(ACTION_CODES.toSorted());
  });

  it.each(AUDITED.map(({ name }) => name).filter((name) => name !== 'migrate'))(
    'is rejected without --by and changes nothing: %s',
    async (name) => {
      const args = await prepare(name);
      const before = await digestTables();
      const { code, stderr } = await run(name, args, null);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--by is missing') });
      expect(await digestTables()).toEqual(before);
    },
  );

  it.each(AUDITED)('records its author in the audit log: $name', async ({ name, audit }) => {
    const author = `Author of ${name}`;
    const { code, stderr } = await run(name, await prepare(name), author);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const phases = audit === 'with_change' ? ['done'] : ['started', 'finished'];
    const action = ACTIONS[name as AuditedCommandName];
    expect(await actionsBy(author)).toEqual(phases.map((phase) => ({ action, phase })));
  });

  it.each(WITH_CHANGE.map(({ name }) => name))(
    'changes nothing when its audit row cannot be written: %s',
    async (name) => {
      const args = await prepare(name);
      await stack.database.query(
        'alter table caudal.operator_actions add constraint refuse_all check (false) not valid',
      );
      try {
        const before = await digestTables();
        const { code, stderr } = await run(name, args, 'Laura');
        expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('refuse_all') });
        expect(await digestTables()).toEqual(before);
      } finally {
        await stack.database.query('alter table caudal.operator_actions drop constraint refuse_all');
      }
    },
  );

  it('takes its author from CAUDAL_BY when --by is absent', async () => {
    const settings = { ...stack.settings, CAUDAL_BY: 'Inés de Ávila' };
    const args = await prepare('ledger deposit');
    expect((await runOperatorCommand(settings, 'ledger', 'deposit', ...args)).code).toBe(0);
    expect(await actionsBy('Inés de Ávila')).toHaveLength(1);
  });

  it.each(['', ' ', ' ana', 'ana ', 'a\nb', 'a\u0000b', 'ana\u202e', '\u200b', 'x'.repeat(121)])(
    'rejects %j as an author',
    async (author) => {
      const { code, stderr } = await run('ledger deposit', await prepare('ledger deposit'), author);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--by') });
    },
  );
});

describe('a read-only command', () => {
  it('cannot write: the database rejects it', async () => {
    const db = readOnly(caudal.deps.system);
    const write = statement(
      'test.write',
      "insert into caudal.operator_actions (operator, action) values ('x', 'x')",
    );
    await expect(db.query(write)).rejects.toThrow('read-only transaction');
    await expect(db.transaction('read', (tx) => tx.query(write))).rejects.toThrow('read-only transaction');
  });

  it('needs no author: org limits without a new limit prints them', async () => {
    expect((await run('org limits', [stage.shop.id], null)).code).toBe(0);
  });
});

describe('the audit table', () => {
  it.each(['readUrl', 'batchUrl', 'systemUrl', 'ownerUrl'] as const)(
    'is append-only for the role of %s',
    async (role) => {
      const { database } = caudal.config;
      const client = new Client({ connectionString: database[role] ?? stack.database.url });
      await client.connect();
      try {
        for (const change of [
          "update caudal.operator_actions set operator = 'x'",
          'delete from caudal.operator_actions',
          'truncate caudal.operator_actions',
        ])
          await expect(client.query(change)).rejects.toThrow(/permission denied|append-only/);
      } finally {
        await client.end();
      }
    },
  );
});

describe('audit list', () => {
  const listActions = async (...filters: readonly string[]) => {
    const { code, stdout } = await runOperatorCommand(stack.settings, 'audit', 'list', '--json', ...filters);
    expect(code).toBe(0);
    return (JSON.parse(stdout) as StoredAction[]).map(({ operator, action }) => `${operator}: ${action}`);
  };

  it('filters by organization, author, command and time', async () => {
    const { organizationId } = await stack.newOrganization('--by', 'Rosa');
    const amount = ['--amount', '5', '--reference', 'r', '--by', 'Hugo'];
    expect(
      (await runOperatorCommand(stack.settings, 'ledger', 'deposit', '--org', organizationId, ...amount))
        .code,
    ).toBe(0);
    const both = ['Hugo: ledger.deposit', 'Rosa: org.create'];
    expect(await listActions('--org', organizationId)).toEqual(both);
    expect(await listActions('--org', organizationId, '--by', 'Rosa')).toEqual([both[1]]);
    expect(await listActions('--org', organizationId, '--action', 'ledger deposit')).toEqual([both[0]]);
    expect(await listActions('--by', 'Hugo', '--since', '2026-01-01')).toEqual([both[0]]);
    expect(await listActions('--by', 'Hugo', '--since', '2999-01-01T00:00:00Z')).toEqual([]);
  });

  it.each([
    ['--since', 'yesterday'],
    ['--since', '2026-02-30T99:00:00Z'],
    ['--org', 'aurora'],
  ])('rejects %s %s', async (...filter) => {
    expect((await runOperatorCommand(stack.settings, 'audit', 'list', ...filter)).code).toBe(2);
  });

  it('stores no secret', async () => {
    const created = await stack.newOrganization('--by', 'Rosa');
    const rows = await stack.database.query('select to_jsonb(a)::text as row from caudal.operator_actions a');
    expect(JSON.stringify(rows)).not.toContain(created.apiKey);
    expect(JSON.stringify(rows)).not.toContain(created.apiKey.slice(-20));
  });
});

describe('migrate', () => {
  it('records the OS user as the author by default', async () => {
    expect((await run('migrate', [], null)).code).toBe(0);
    const rows = await stack.database.query<{ operator: string }>(
      "select operator from caudal.operator_actions where action = 'migrate' order by at desc limit 1",
    );
    expect(rows[0]?.operator).toMatch(/^os:./);
  });

  it.each([['--by', 'a\u202eb'], ['--loud'], ['now']])('rejects %j', async (...args) => {
    expect(await run('migrate', args, null)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('caudal help migrate'),
    });
  });
});
