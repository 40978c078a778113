import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { compatibleFrom } from '../../src/db/migration-header.ts';
import { migrationNumber, SCHEMA_RANGE, schemaProblems } from '../../src/db/schema-range.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { runToEnd } from '../harness/run-server.ts';
import { copyServer, type ServerCopy } from '../harness/server-copy.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { runDoctor } from '../operator/doctor-report.ts';

const NEWEST = readdirSync(fileURLToPath(new URL('../../migrations/', import.meta.url)))
  .filter((name) => name.endsWith('.sql'))
  .map(migrationNumber)
  .reduce((newest, number) => Math.max(newest, number));

describe('SCHEMA_RANGE', () => {
  it('states the newest migration, and an oldest one that is not newer: decide both when you add a migration', () => {
    expect(SCHEMA_RANGE.newest).toBe(NEWEST);
    expect(SCHEMA_RANGE.oldest).toBeLessThanOrEqual(NEWEST);
    expect(SCHEMA_RANGE.oldest).toBeGreaterThanOrEqual(16);
  });

  it.each([
    ['its own schema', [], [], 0],
    ['an index is missing', ['0018_index.sql'], [], 0],
    ['a needed migration is missing', ['0017_column.sql'], [], 1],
    ['a newer expanded schema', [], [{ name: '0019_column.sql', compatibleFrom: 16 }], 0],
    ['a newer schema without what it uses', [], [{ name: '0020_drop.sql', compatibleFrom: 19 }], 1],
    [
      'a newer schema without what older releases used',
      [],
      [{ name: '0020_drop.sql', compatibleFrom: 18 }],
      0,
    ],
    ['a newer schema that says nothing', [], [{ name: '0019_x.sql', compatibleFrom: null }], 1],
  ])('finds for %s the right number of problems', (_case, pending, unknown, problems) => {
    expect(schemaProblems({ pending, unknown }, { oldest: 17, newest: 18 })).toHaveLength(problems);
  });
});

describe('the header of a migration', () => {
  it.each([
    ['0016_x.sql', 'select 1;', null],
    ['0017_x.sql', '-- schema: expand\nselect 1;', 16],
    ['0021_x.sql', '-- schema: contract from 0020\nselect 1;', 20],
  ])('of %s "%s" gives %s', (name, text, expected) => {
    expect(compatibleFrom(name, text)).toBe(expected);
  });

  it.each([
    '',
    'select 1;',
    '\n-- schema: expand',
    '-- schema: expand 0016',
    '-- schema: contract',
    '-- schema: contract from 0021',
    '-- schema: contract from 0015',
  ])('"%s" is rejected', (text) => {
    expect(() => compatibleFrom('0021_x.sql', text)).toThrow(
      'the first line of migration 0021_x.sql must be',
    );
  });
});

function fileName(number: number, title: string): string {
  return `${String(number).padStart(4, '0')}_${title}.sql`;
}

describe('a release and the database of another release', () => {
  let stack: Stack;
  let newer: ServerCopy;
  const next = SCHEMA_RANGE.newest + 1;
  const name = fileName(next, 'expand');
  const contract = fileName(next + 1, 'contract');
  beforeAll(async () => {
    stack = await startStack();
    newer = copyServer();
  });
  afterAll(async () => {
    newer?.remove();
    await stack?.stop();
  });

  const readReady = async () => {
    const response = await fetch(`${stack.apis[0]?.opsUrl}/readyz`);
    return {
      ...((await response.json()) as { codes: string[]; reasons: string[] }),
      status: response.status,
    };
  };
  it('a release that needs a migration does not start before it is applied', async () => {
    newer.writeMigration(name, '-- schema: expand\nalter table caudal.payins add column color text;');
    newer.setSchemaRange({ oldest: next, newest: next });
    const { code, stderr } = await runToEnd(['api'], stack.settings, newer.main);
    expect(code).toBe(1);
    expect(stderr).toContain(`lacks migrations of this version (${name}): run \`caudal migrate\``);
  });

  it('after an expand migration of a newer release the older one serves, starts, commands and migrates nothing', async () => {
    const migrated = await runToEnd(['migrate'], stack.settings, newer.main);
    expect(migrated).toMatchObject({ code: 0, stderr: '' });
    expect(
      await stack.database.query('select compatible_from from caudal_meta.migrations where name = $1', [
        name,
      ]),
    ).toEqual([{ compatible_from: 16 }]);
    expect(await readReady()).toMatchObject({ status: 200 });
    expect((await stack.api.post('/payins', brebPayin())).status).toBe(201);
    const older = await runToEnd(['migrate'], stack.settings);
    expect(older).toMatchObject({ code: 0, stderr: '' });
    expect(older.stdout).toContain('"code":"database_newer"');
    expect(older.stdout).not.toContain('migrate_finished');
    expect(await runOperatorCommand(stack.settings, 'org', 'list')).toMatchObject({ code: 0 });
    const report = await runDoctor(stack.settings);
    expect(report.check('migrations')).toMatchObject({
      status: 'warn',
      message: `the database is newer than this program, which runs on it: it has ${name}`,
    });
    expect(report.check('roles').status).toBe('ok');
    const restarted = await startServer('api', { ...stack.settings, CAUDAL_PORT: '0' });
    expect(await restarted.stop()).toBe(0);
  });

  it('after a contract migration the older release becomes unready, and neither starts nor migrates', async () => {
    newer.writeMigration(contract, `-- schema: contract from ${name.slice(0, 4)}\nselect 1;`);
    expect(await runToEnd(['migrate'], stack.settings, newer.main)).toMatchObject({ code: 0 });
    const unready = await until('the process is unready', async () => {
      const answer = await readReady();
      return answer.status === 503 && answer;
    });
    expect(unready.codes).toEqual(['schema_incompatible']);
    expect(unready.reasons[0]).toContain(contract);
    const results = await Promise.all(
      ['api', 'worker', 'migrate'].map((role) => runToEnd([role], stack.settings)),
    );
    for (const { code, stderr } of results) {
      expect(code).toBe(1);
      expect(stderr).toMatch(new RegExp(`${contract}.*run a newer version`));
    }
    await stack.database.query('delete from caudal_meta.migrations where name = $1', [contract]);
    await until('the process is ready again', async () => (await readReady()).status === 200);
  });
});
