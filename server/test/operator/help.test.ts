import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../src/operator/command-line.ts';
import { COMMON_OPTIONS, OPERATOR_COMMANDS } from '../../src/operator/commands.ts';
import { Options } from '../../src/operator/options.ts';
import { SCOPES } from '../../src/organizations/organization.ts';
import { ERROR_CODES, RAILS } from '../../src/rails/contract.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { runToEnd } from '../harness/run-server.ts';

const FOLDER = fileURLToPath(new URL('../../src/operator/', import.meta.url));
const SOURCES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.ts'),
);
const isCatalog = (path: string) => /^commands[./]/.test(path);
const CODE = SOURCES.filter((path) => !isCatalog(path))
  .map((path) => readFileSync(FOLDER + path, 'utf8'))
  .join('\n');

/** Splits like a shell, as far as our examples need. */
function splitCommandLine(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
}

function findChoices(command: string, option: string): readonly string[] {
  const words = OPERATOR_COMMANDS.find(({ name }) => name === command);
  return words?.options.find(({ name }) => name === option)?.choices ?? [];
}

describe('the command catalog', () => {
  it('imports only types and itself, so that the merchant CLI can show it without loading the server', () => {
    const catalog = SOURCES.filter(isCatalog);
    expect(catalog.length).toBeGreaterThan(5);
    for (const path of catalog) {
      const source = readFileSync(FOLDER + path, 'utf8').replaceAll(/^import type [^;]*;$/gm, '');
      expect(source).not.toMatch(/\bimport\(|^\s*import '/m);
      const own = path === 'commands.ts' ? /^\.\/commands\/[a-z-]+\.ts$/ : /^\.\/[a-z-]+\.ts$/;
      for (const [, imported] of source.matchAll(/\bfrom '([^']*)'/g)) expect(imported).toMatch(own);
    }
  });

  it('is exported by @caudal/server', async () => {
    const name = '@caudal/server/operator-commands';
    const exported = (await import(name)) as { OPERATOR_COMMANDS: typeof OPERATOR_COMMANDS };
    expect(exported.OPERATOR_COMMANDS.map((each) => each.name)).toEqual(
      OPERATOR_COMMANDS.map(({ name: own }) => own),
    );
  });

  it('has no option that no command reads', () => {
    const offered = OPERATOR_COMMANDS.flatMap(({ options }) => options.map(({ name }) => name));
    const unread = [...new Set(offered)].filter((name) => !CODE.includes(`'${name}'`));
    expect(unread).toEqual([]);
  });

  it('has every option that a command reads; otherwise the command fails', () => {
    const words = OPERATOR_COMMANDS.find(({ name }) => name === 'org list');
    if (!words) throw new Error('no such command');
    expect(() => new Options(words, {}, []).hasFlag('loud')).toThrow('"org list" has no option --loud');
  });

  it('lists exactly the choices that the code supports', () => {
    expect(findChoices('rails pause', 'rail')).toEqual(RAILS);
    expect(findChoices('rails resume', 'rail')).toEqual(RAILS);
    expect(findChoices('payouts resolve', 'error-code')).toEqual(ERROR_CODES);
    const roles = OPERATOR_COMMANDS.filter(({ group }) => group === 'server').map(({ name }) => name);
    expect(findChoices('config check', 'role').toSorted()).toEqual(roles.toSorted());
    const scopes = OPERATOR_COMMANDS.find(({ name }) => name === 'keys create')?.details ?? '';
    expect(scopes.match(/[a-z_]+:(?:read|write)/g)).toEqual(SCOPES);
  });

  it('shows all options and arguments of each command in its usage', () => {
    for (const { name, usage, options, args } of OPERATOR_COMMANDS) {
      const shown = new Set([...usage.matchAll(/--([a-z-]+)/g)].map((match) => match[1] ?? ''));
      expect({ name, options: [...shown].toSorted() }).toEqual({
        name,
        options: options.map((option) => option.name).toSorted(),
      });
      for (const line of usage.split('\n')) {
        expect(line.startsWith(name)).toBe(true);
        for (const arg of args) expect(line).toContain(` ${arg.name}`);
      }
    }
  });

  it('has an example per command that the command can parse', () => {
    for (const command of OPERATOR_COMMANDS) {
      expect(command.examples.length).toBeGreaterThan(0);
      for (const example of command.examples) {
        const [program, ...words] = splitCommandLine(example);
        expect(program).toBe('caudal');
        const parsed = parseCommandLine(words, null);
        if (parsed.kind !== 'command') throw new Error(`"${example}" is not a command`);
        expect(parsed.command.name).toBe(command.name);
        expect(() => new Options(command, parsed.values, parsed.args)).not.toThrow();
      }
    }
  });
});

describe('help', () => {
  it('lists every command with its summary, in lines of at most eighty columns', async () => {
    const { code, stdout } = await runOperatorCommand({}, 'help');
    expect(code).toBe(0);
    for (const { name, summary } of OPERATOR_COMMANDS) {
      expect(stdout).toMatch(new RegExp(`^  ${name}  `, 'm'));
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(summary);
    }
    for (const line of stdout.split('\n').slice(5)) expect(line.length).toBeLessThanOrEqual(82);
  });

  it('explains a command with options, choices and an example, in every form of the request', async () => {
    const commandLines = [
      ['help', 'payouts', 'resolve'],
      ['payouts', 'resolve', '--help'],
      ['payouts', 'resolve', '-h'],
      ['payouts', 'resolve', 'not-an-id', '--confirm', '--help'],
    ];
    for (const words of commandLines) {
      const { code, stdout, stderr } = await runOperatorCommand({}, ...words);
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
      expect(stdout).toContain('caudal payouts resolve ID --confirm --by NAME --note TEXT');
      expect(stdout).toContain('RECEIVER_MISMATCH');
      expect(stdout).toMatch(/--note TEXT .*\(required\)/);
      expect(stdout).toMatch(/^Examples:\n {2}caudal payouts resolve/m);
      for (const { name } of COMMON_OPTIONS) expect(stdout).toContain(`--${name}`);
    }
  });

  it('lists a group by its name', async () => {
    for (const words of [['keys'], ['help', 'keys'], ['keys', '--help']]) {
      const { code, stdout } = await runOperatorCommand({}, ...words);
      expect(code).toBe(0);
      expect(stdout.match(/^ {2}keys \w+/gm)).toEqual(
        ['create', 'list', 'revoke', 'update', 'activity'].map((name) => `  keys ${name}`),
      );
    }
  });

  it('explains a server role without starting it', async () => {
    const { code, stdout } = await runToEnd(['worker', '--help'], {});
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: caudal worker\n\nprocess due work/);
    // A role logs; it has no result to print.
    expect(stdout).not.toContain('--json');
  });
});

describe('a mistyped command', () => {
  it('exits with 2 and suggests a correction', async () => {
    const cases: readonly (readonly [readonly string[], string])[] = [
      [['docter'], 'no command "docter" (did you mean "doctor"?). Try: caudal help'],
      [['orgs', 'create'], 'no command "orgs create" (did you mean "org create"?)'],
      [['migrat'], 'did you mean "migrate"?'],
      [
        ['keys', 'destroy'],
        'no command "keys destroy" (keys create, keys list, keys revoke, keys update, keys activity)',
      ],
      [['help', 'paoyuts', 'show'], 'did you mean "payouts show"?'],
      [['frobnicate'], 'no command "frobnicate". Try: caudal help'],
      [['rails', 'list', '--jsno'], 'no option --jsno (did you mean --json?). Try: caudal help rails list'],
      [['rails', 'list', '--loud'], 'no option --loud. Try: caudal help rails list'],
      [['rails', 'resume', '--rail', 'PIX'], '--rail: "PIX" is not one of BRE_B, PSE'],
      [['payouts', 'show'], 'payouts show needs the id of a payout'],
      [['org', 'list', 'all'], '"all" is one argument too many'],
    ];
    for (const [words, message] of cases) {
      // Without any setting: the arguments are parsed before the database is used.
      const { code, stdout, stderr } = await runOperatorCommand({}, ...words);
      expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: '' });
      expect(stderr).toContain(message);
    }
  });
});
