import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Stack, startStack } from '../../server/test/harness/stack.ts';
import { addressOf, CommandLine } from './command-line.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

const fileOf = (home: CommandLine) => join(home.folder, 'config', 'caudal', 'config.json');

test('login checks the key, keeps it for its owner alone, and commands use it from then on', async () => {
  const home = new CommandLine();
  const { apiKey } = stack.organization;
  const args = ['login', '--profile', 'staging', '--base-url', `${addressOf(stack)}/`];
  const kept = await home.feed(`${apiKey}\n`, ...args);
  expect(kept).toMatchObject({ code: 0, stdout: expect.stringContaining('staging is kept and in use') });
  expect(kept.stdout + kept.stderr).not.toContain(apiKey);
  expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(fileOf(home), 'utf8'))).toEqual({
    current: 'staging',
    profiles: { staging: { baseUrl: addressOf(stack), apiKey } },
  });
  expect(await home.json('whoami')).toMatchObject({
    source: 'profile staging',
    accepted: true,
    kind: 'test',
  });
});

test('a key that is not accepted is not kept', async () => {
  const home = new CommandLine();
  const wrong = `cdl_test_01KE2265M7YPHEEX_${'a'.repeat(49)}`;
  const refused = await home.feed(wrong, 'login', '--base-url', addressOf(stack));
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('401 unauthorized')]);
  const garbage = await home.feed('hello', 'login', '--base-url', addressOf(stack));
  expect([garbage.code, garbage.stderr]).toEqual([1, expect.stringContaining('no API key')]);
  expect(() => statSync(fileOf(home))).toThrow(/ENOENT/);
});

test('profiles are listed, changed and forgotten; a key that is kept goes to no other address', async () => {
  const home = new CommandLine();
  const { apiKey } = await stack.newOrganization();
  const login = (name: string, key: string) =>
    home.feed(key, 'login', '--profile', name, '--base-url', addressOf(stack));
  await login('one', stack.organization.apiKey);
  await login('two', apiKey);
  const listed = await home.json<{ data: { name: string; current: boolean }[] }>('profiles', 'list');
  expect(listed.data.map(({ name, current }) => [name, current])).toEqual([
    ['one', false],
    ['two', true],
  ]);
  expect(JSON.stringify(listed)).not.toContain(apiKey);
  expect((await home.run('profiles', 'use', 'one')).code).toBe(0);
  expect(await home.json('whoami')).toMatchObject({ source: 'profile one' });
  expect(await home.json('whoami', '--profile', 'two')).toMatchObject({ source: 'profile two' });
  const elsewhere = await home.run('whoami', '--base-url', 'http://127.0.0.1:1');
  expect([elsewhere.code, elsewhere.stderr]).toEqual([
    2,
    expect.stringContaining('only ever sent to the address'),
  ]);
  expect((await home.run('logout', '--profile', 'two')).code).toBe(0);
  const gone = await home.run('whoami', '--profile', 'two');
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('There are: one')]);
});

test('the options come before the environment, the environment before a profile, a profile before the stack of a clone', async () => {
  const home = new CommandLine();
  const { apiKey, organizationId } = stack.organization;
  const clone = join(home.folder, '.data', 'dev');
  mkdirSync(clone, { recursive: true });
  const running = { baseUrl: addressOf(stack), simulatorUrl: stack.simulatorUrl, apiKey, pid: process.pid };
  writeFileSync(join(clone, 'stack.json'), JSON.stringify(running));
  expect(organizationId).not.toBe('');
  expect(await home.json('whoami')).toMatchObject({
    source: 'the stack that caudal dev runs',
    simulatorUrl: stack.simulatorUrl,
  });
  await home.feed(apiKey, 'login', '--base-url', addressOf(stack));
  expect(await home.json('whoami')).toMatchObject({ source: 'profile default' });
  const named = { CAUDAL_API_KEY: apiKey, CAUDAL_BASE_URL: addressOf(stack) };
  const environment = await home.start(['whoami', '--json'], named).ended;
  expect(JSON.parse(environment.stdout)).toMatchObject({ source: 'CAUDAL_API_KEY' });
  expect(await home.json('whoami', '--api-key', apiKey, '--base-url', addressOf(stack))).toMatchObject({
    source: '--api-key',
  });
});

test('a command of operators takes the settings of the stack that runs in this clone', async () => {
  const home = new CommandLine();
  const clone = join(home.folder, '.data', 'dev');
  mkdirSync(clone, { recursive: true });
  const running = {
    baseUrl: addressOf(stack),
    simulatorUrl: stack.simulatorUrl,
    apiKey: stack.organization.apiKey,
    pid: process.pid,
  };
  writeFileSync(join(clone, 'stack.json'), JSON.stringify(running));
  const settings = { ...stack.settings, DATABASE_URL: stack.database.ownerUrl };
  writeFileSync(
    join(clone, 'server.env'),
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const { code, stdout } = await home.run(
    'keys',
    'list',
    '--org',
    stack.organization.organizationId,
    '--json',
  );
  expect([code, stdout]).toEqual([0, expect.stringContaining(stack.organization.keyId)]);
});

test('a stack that was killed is not taken for one that runs', async () => {
  const home = new CommandLine();
  const clone = join(home.folder, '.data', 'dev');
  mkdirSync(clone, { recursive: true });
  const dead = Number(execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }));
  const left = {
    baseUrl: 'http://127.0.0.1:1',
    simulatorUrl: 'http://127.0.0.1:1',
    apiKey: 'cdl_test_x',
    pid: dead,
  };
  writeFileSync(join(clone, 'stack.json'), JSON.stringify(left));
  const { stdout, stderr } = await home.run('whoami');
  expect(stdout + stderr).not.toContain('http://127.0.0.1:1');
});

test('on a terminal login asks, and what is typed as the key is not shown', async () => {
  const home = new CommandLine();
  const { apiKey } = stack.organization;
  const terminal = home.onTerminal(['login']);
  await terminal.says('Address of the API');
  terminal.child.stdin.write(`${addressOf(stack)}\r`);
  await terminal.says('API key (not shown)');
  terminal.child.stdin.write(`${apiKey}\r`);
  await terminal.says('is kept and in use');
  expect(terminal.stdout()).not.toContain(apiKey);
  expect(JSON.parse(readFileSync(fileOf(home), 'utf8'))).toMatchObject({ profiles: { default: { apiKey } } });
});

test('on a terminal a payout is sent only after a yes', async () => {
  const { apiKey } = stack.organization;
  const home = new CommandLine({ CAUDAL_API_KEY: apiKey, CAUDAL_BASE_URL: addressOf(stack) });
  const person = [
    '--name',
    'Janeth Smith Prueba',
    '--id-number',
    '1000000099',
    '--phone',
    '+573001234567',
    '--email',
    'j@example.com',
  ];
  const terminal = home.onTerminal(['payouts', 'create', '--amount', '1000', '--key', '@TESTOK', ...person]);
  await terminal.says('Send COP 1,000 to @TESTOK? [y/N]');
  terminal.child.stdin.write('\r');
  const { code, stdout } = await terminal.ended;
  expect([code, stdout]).toEqual([1, expect.stringContaining('nothing was sent')]);
  expect(await home.json('payouts', 'list')).toMatchObject({ data: [] });
});

test('there are colours on a terminal, and none with NO_COLOR or in a pipe', async () => {
  const home = new CommandLine({
    CAUDAL_API_KEY: stack.organization.apiKey,
    CAUDAL_BASE_URL: addressOf(stack),
  });
  const escape = `${String.fromCharCode(27)}[`;
  const [coloured, plain, piped] = await Promise.all([
    home.onTerminal(['balance']).ended,
    home.onTerminal(['balance'], { NO_COLOR: '1' }).ended,
    home.run('balance'),
  ]);
  expect(coloured.stdout).toContain(escape);
  expect(plain.stdout).toContain('available');
  expect(plain.stdout).not.toContain(escape);
  expect(piped.stdout).not.toContain(escape);
});
