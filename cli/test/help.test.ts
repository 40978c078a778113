import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ALL_COMMANDS } from '../src/all-commands.ts';
import type { CommandDescription } from '../src/framework/command.ts';
import { GLOBAL_OPTIONS } from '../src/framework/global-options.ts';
import { CommandLine } from './command-line.ts';

const shell = new CommandLine();

test('caudal without arguments lists every command in 80 columns, operator commands under their own heading', async () => {
  const { code, stdout } = await shell.run();
  expect(code).toBe(0);
  for (const { name } of ALL_COMMANDS) expect(stdout).toContain(name.split(' ')[1] ?? name);
  expect(stdout).toMatch(
    /For operators[\s\S]*\n {2}org .*create, list[\s\S]*\n {2}doctor|For operators[\s\S]*\n {2}doctor[\s\S]*\n {2}org/,
  );
  expect(stdout).toMatch(/^Exit codes:\n {2}0 +success\n {2}1 +failed/m);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test('help for a command shows usage, options, choices and an example', async () => {
  const results = await Promise.all([
    shell.run('help', 'payins', 'create'),
    shell.run('payins', 'create', '--help'),
    shell.run('payins', 'create', '-h'),
  ]);
  expect(new Set(results.map(({ stdout }) => stdout)).size).toBe(1);
  expect(results[0]?.stdout).toMatch(/^Usage: caudal payins create \[OPTIONS\]$/m);
  expect(results[0]?.stdout).toMatch(/--amount PESOS .*49\.800/);
  expect(results[0]?.stdout).toMatch(/\(BRE_B, PSE\)/);
  expect(results[0]?.stdout).toContain('  caudal payins create --amount 49800 --qr --reference order-1001');
});

test('a first word without a subcommand lists its subcommands and exits 2, or 0 with --help', async () => {
  const [incomplete, withFlag, help] = await Promise.all([
    shell.run('payouts'),
    shell.run('payouts', '--help'),
    shell.run('help', 'payouts'),
  ]);
  for (const { stdout } of [incomplete, withFlag, help]) {
    expect(stdout).toContain('payouts cancel');
    expect(stdout).toContain('payouts unknown');
  }
  expect([incomplete.code, withFlag.code, help.code]).toEqual([2, 0, 0]);
});

test('the CLI shows the help of an operator command and the server program runs it', async () => {
  const [explained, ran] = await Promise.all([
    shell.run('help', 'org', 'create'),
    shell.run('org', 'create'),
  ]);
  expect(explained.stdout).toMatch(/^Usage: caudal org create --name/m);
  // The server's parser rejects the missing --name before it connects to a database.
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain('--name');
});

test.each([
  [['payin', 'list'], 'Did you mean: caudal payins list'],
  [['payins', 'lst'], 'Did you mean: caudal payins list'],
  [['lisen'], 'Did you mean: caudal listen'],
  [['ledger', 'verfy'], 'Did you mean: caudal ledger verify'],
  [['help', 'trigge'], 'Did you mean: caudal trigger'],
  [['events', 'show', 'latest'], 'Did you mean: caudal events get'],
  [['endpoints', 'show'], 'Did you mean: caudal endpoints get'],
  [['endpoints', 'rm'], 'Did you mean: caudal endpoints delete'],
  [['endpoints', 'update', 'https://shop.example.com/'], 'needs at least one option'],
  [['endpoints', 'update', 'https://shop.example.com/', '--header', 'x'], '--header must be NAME:VALUE'],
  [['payins', 'list', '--limt', '3'], 'Did you mean --limit?'],
  [['trigger', 'payin.confirmd'], 'Did you mean payin.confirmed?'],
  [['payins', 'list', '--status', 'confirmd'], 'Did you mean CONFIRMED?'],
  [['listen', '--events', 'payin.confirm'], 'Did you mean payin.confirmed?'],
  [['payins', 'get'], 'payins get needs ID'],
  [['payins', 'get', 'a', 'b'], 'unexpected argument "b"'],
  [['payins', 'list', '--limit'], '--limit needs a value'],
  [['payins', 'list', '--limit', '--json'], '--limit needs a value'],
  [['payins', 'list', '--all=yes'], '--all takes no value'],
  [['payins', 'create', '--amount', '12x'], 'not an amount in pesos'],
  [['payins', 'create', '--amount', '1', '--amount-in-cents', '1'], 'not both'],
  [['payins', 'create', '--amount', '1', '--name', 'Ana'], '--id-number, --phone, --email'],
  [['payins', 'create', '--data', '{'], '--data is not valid JSON'],
  [['completion', 'fish'], 'not one of bash, zsh'],
])('caudal %j is a usage error: exits 2 and prints nothing to stdout', async (args, hint) => {
  const { code, stdout, stderr } = await new CommandLine({
    CAUDAL_API_KEY: 'cdl_test_x',
    CAUDAL_BASE_URL: 'http://127.0.0.1:1',
  }).run(...args);
  expect(stderr).toContain(hint);
  expect([code, stdout]).toEqual([2, '']);
});

test('every command has a unique name, a summary, an example of itself and no duplicate option', () => {
  expect(new Set(ALL_COMMANDS.map(({ name }) => name)).size).toBe(ALL_COMMANDS.length);
  for (const { name, summary, examples, options } of ALL_COMMANDS) {
    expect(summary).not.toBe('');
    expect(examples.length).toBeGreaterThan(0);
    expect(`${examples.at(-1)} `).toContain(`caudal ${name} `);
    // A global option would take the value of an option with the same name.
    const accepted = [...options, ...GLOBAL_OPTIONS].map((option) => option.name);
    expect(new Set(accepted).size).toBe(accepted.length);
  }
});

/** The candidates that bash offers for this input after sourcing the real script. */
function completed(...words: readonly string[]): string[] {
  const script = join(shell.folder, 'completion.bash');
  const program = `source "$1"; shift; COMP_WORDS=(caudal "$@"); COMP_CWORD=$#; _caudal; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-uc', program, 'bash', script, ...words], { encoding: 'utf8' })
    .trim()
    .split('\n');
}

test('bash completion offers commands, options, choices and the commands after help', async () => {
  const { stdout } = await shell.run('completion', 'bash');
  writeFileSync(join(shell.folder, 'completion.bash'), stdout);
  expect(completed('pay')).toEqual(['payins', 'payouts']);
  expect(completed('payins', '')).toEqual(['accept', 'create', 'end', 'find', 'get', 'list', 'show']);
  expect(completed('payouts', 'u')).toEqual(['unknown']);
  expect(completed('help', 'links', 'e')).toEqual(['expire']);
  expect(completed('payins', 'create', '--am')).toEqual(['--amount', '--amount-in-cents']);
  expect(completed('payins', 'list', '--status', 'C')).toEqual(['CONFIRMED', 'CANCELED']);
  expect(completed('--profile', 'staging', 'payins', 'l')).toEqual(['list']);
  expect(completed('trigger', 'payout.')).toEqual(['payout.confirmed', 'payout.canceled', 'payout.declined']);
  expect(completed('completion', '')).toEqual(['bash', 'zsh']);
  expect(completed('rails', 'pause', '--ra')).toEqual(['--rail']);
  expect(
    execFileSync(
      'bash',
      ['-c', `source "$1"; complete -p caudal`, 'bash', join(shell.folder, 'completion.bash')],
      { encoding: 'utf8' },
    ),
  ).toContain('-F _caudal');
});

test('zsh completion contains every command and parses where zsh is installed', async () => {
  const { stdout } = await shell.run('completion', 'zsh');
  expect(stdout.startsWith('#compdef caudal')).toBe(true);
  for (const { name } of ALL_COMMANDS) expect(stdout).toContain(`'${name}')`);
  const file = join(shell.folder, 'completion.zsh');
  writeFileSync(file, stdout);
  const found = execFileSync('bash', ['-c', 'command -v zsh || true'], { encoding: 'utf8' }).trim();
  if (found !== '') execFileSync(found, ['-n', file]);
});

/** The CLI installed alone: without a clone and without the server package. */
function standaloneCli(): CommandLine {
  const { folder } = new CommandLine();
  const scope = join(folder, 'node_modules', '@caudal');
  mkdirSync(scope, { recursive: true });
  for (const name of ['sdk', 'command-tree'])
    symlinkSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), join(scope, name));
  cpSync(fileURLToPath(new URL('../src', import.meta.url)), join(folder, 'program', 'src'), {
    recursive: true,
  });
  writeFileSync(join(folder, 'program', 'package.json'), '{"type":"module"}');
  return new CommandLine({}, join(folder, 'program', 'src', 'main.ts'));
}

test('outside a clone, errors say what is missing: a clone for dev, the server for operator commands, credentials for the rest', async () => {
  const shop = standaloneCli();
  const [dev, org, list, overview] = await Promise.all([
    shop.run('dev'),
    shop.run('org', 'list'),
    shop.run('payins', 'list'),
    shop.run(),
  ]);
  expect([dev.code, dev.stderr]).toEqual([1, expect.stringContaining('not a clone')]);
  expect(org.code).toBe(2);
  expect([list.code, list.stderr]).toEqual([1, expect.stringMatching(/no credentials[\s\S]*caudal login/)]);
  expect(overview.stdout).toContain('run caudal on the server host');
});

test('help --json prints a JSON document', async () => {
  const { commands } = await shell.json<{ commands: CommandDescription[] }>('help');
  expect(commands.map(({ name }) => name)).toContain('payins create');
});
