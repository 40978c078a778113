import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Stack, startStack } from '../../server/test/harness/stack.ts';
import { CommandLine, stackUrl } from './command-line.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

const configFilePath = (home: CommandLine) => join(home.folder, 'config', 'caudal', 'config.json');

test('login checks the API key, stores it readable by its owner only, and commands use it', async () => {
  const home = new CommandLine();
  const { apiKey } = stack.organization;
  const args = ['login', '--profile', 'staging', '--base-url', `${stackUrl(stack)}/`];
  const stored = await home.runWithInput(`${apiKey}\n`, ...args);
  expect(stored).toMatchObject({ code: 0, stdout: expect.stringContaining('staging is stored and current') });
  expect(stored.stdout + stored.stderr).not.toContain(apiKey);
  expect(statSync(configFilePath(home)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(configFilePath(home), 'utf8'))).toEqual({
    current: 'staging',
    profiles: { staging: { baseUrl: stackUrl(stack), apiKey } },
  });
  expect(await home.json('whoami')).toMatchObject({
    source: 'profile staging',
    accepted: true,
    kind: 'test',
  });
});

test('login does not store an API key that the server rejects', async () => {
  const home = new CommandLine();
  const wrong = `cdl_test_01KE2265M7YPHEEX_${'a'.repeat(49)}`;
  const rejected = await home.runWithInput(wrong, 'login', '--base-url', stackUrl(stack));
  expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringContaining('401 unauthorized')]);
  const garbage = await home.runWithInput('hello', 'login', '--base-url', stackUrl(stack));
  expect([garbage.code, garbage.stderr]).toEqual([1, expect.stringContaining('not an API key')]);
  expect(() => statSync(configFilePath(home))).toThrow(/ENOENT/);
});

test('profiles can be listed, switched and deleted; a stored API key is never sent to another base URL', async () => {
  const home = new CommandLine();
  const { apiKey } = await stack.newOrganization();
  const login = (name: string, key: string) =>
    home.runWithInput(key, 'login', '--profile', name, '--base-url', stackUrl(stack));
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
    expect.stringContaining('only sent to the base URL'),
  ]);
  for (const [variables, message] of [
    [{ CAUDAL_BASE_URL: 'http://127.0.0.1:1' }, 'CAUDAL_BASE_URL needs --api-key or CAUDAL_API_KEY'],
    [{ CAUDAL_BASE_URL: stackUrl(stack), CAUDAL_API_KEY: '' }, 'CAUDAL_API_KEY is empty'],
    [{ CAUDAL_API_KEY: '' }, 'CAUDAL_API_KEY is empty'],
    [{ CAUDAL_BASE_URL: '', CAUDAL_API_KEY: 'cdl_test_x' }, 'CAUDAL_BASE_URL is empty'],
  ] as const) {
    const { code, stderr } = await home.start(['whoami'], variables).ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  }
  const chosen = await home.start(['whoami', '--json', '--profile', 'two'], { CAUDAL_API_KEY: '' }).ended;
  expect(JSON.parse(chosen.stdout)).toMatchObject({ source: 'profile two' });
  expect((await home.run('logout', '--profile', 'two')).code).toBe(0);
  const gone = await home.run('whoami', '--profile', 'two');
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('Profiles: one')]);
});

test('credentials come from options, then the environment, then a profile, then the dev stack', async () => {
  const home = new CommandLine();
  const { apiKey, organizationId } = stack.organization;
  const clone = join(home.folder, '.data', 'dev');
  mkdirSync(clone, { recursive: true });
  const running = { baseUrl: stackUrl(stack), simulatorUrl: stack.simulatorUrl, apiKey, pid: process.pid };
  writeFileSync(join(clone, 'stack.json'), JSON.stringify(running));
  expect(organizationId).not.toBe('');
  expect(await home.json('whoami')).toMatchObject({
    source: 'the caudal dev stack',
    simulatorUrl: stack.simulatorUrl,
  });
  await home.runWithInput(apiKey, 'login', '--base-url', stackUrl(stack));
  expect(await home.json('whoami')).toMatchObject({ source: 'profile default' });
  const named = { CAUDAL_API_KEY: apiKey, CAUDAL_BASE_URL: stackUrl(stack) };
  const environment = await home.start(['whoami', '--json'], named).ended;
  expect(JSON.parse(environment.stdout)).toMatchObject({ source: 'CAUDAL_API_KEY' });
  expect(await home.json('whoami', '--api-key', apiKey, '--base-url', stackUrl(stack))).toMatchObject({
    source: '--api-key',
  });
});

test('an operator command uses the settings of the dev stack of this clone', async () => {
  const home = new CommandLine();
  const clone = join(home.folder, '.data', 'dev');
  mkdirSync(clone, { recursive: true });
  const running = {
    baseUrl: stackUrl(stack),
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

test('the stack file of a killed stack is ignored', async () => {
  const home = new CommandLine();
  const clone = join(home.folder, '.data', 'dev');
  mkdirSync(clone, { recursive: true });
  // Above the largest PID of Linux.
  const dead = 4_194_305;
  const left = {
    baseUrl: 'http://killed.example:1',
    simulatorUrl: 'http://killed.example:1',
    apiKey: 'cdl_test_x',
    pid: dead,
  };
  writeFileSync(join(clone, 'stack.json'), JSON.stringify(left));
  const { stdout, stderr } = await home.run('whoami');
  expect(stdout + stderr).not.toContain('http://killed.example:1');
});

test('on a terminal login prompts and does not echo the API key', async () => {
  const home = new CommandLine();
  const { apiKey } = stack.organization;
  const terminal = home.onTerminal(['login']);
  await terminal.waitForOutput('Base URL of the API');
  terminal.child.stdin.write(`${stackUrl(stack)}\r`);
  await terminal.waitForOutput('API key (hidden)');
  terminal.child.stdin.write(`${apiKey}\r`);
  await terminal.waitForOutput('is stored and current');
  expect(terminal.stdout()).not.toContain(apiKey);
  expect(JSON.parse(readFileSync(configFilePath(home), 'utf8'))).toMatchObject({
    profiles: { default: { apiKey } },
  });
});

test('on a terminal a payout is created only after confirmation', async () => {
  const { apiKey } = stack.organization;
  const home = new CommandLine({ CAUDAL_API_KEY: apiKey, CAUDAL_BASE_URL: stackUrl(stack) });
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
  await terminal.waitForOutput('Send COP 1,000 to @TESTOK? [y/N]');
  terminal.child.stdin.write('\r');
  const { code, stdout } = await terminal.ended;
  expect([code, stdout]).toEqual([1, expect.stringContaining('nothing was sent')]);
  expect(await home.json('payouts', 'list')).toMatchObject({ data: [] });
});

test('output is colored on a terminal, but not with NO_COLOR or in a pipe', async () => {
  const home = new CommandLine({
    CAUDAL_API_KEY: stack.organization.apiKey,
    CAUDAL_BASE_URL: stackUrl(stack),
  });
  const escape = `${String.fromCharCode(27)}[`;
  const [colored, plain, piped] = await Promise.all([
    home.onTerminal(['balance']).ended,
    home.onTerminal(['balance'], { NO_COLOR: '1' }).ended,
    home.run('balance'),
  ]);
  expect(colored.stdout).toContain(escape);
  expect(plain.stdout).toContain('available');
  expect(plain.stdout).not.toContain(escape);
  expect(piped.stdout).not.toContain(escape);
});
