import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { COMMON_OPTIONS, OPERATOR_COMMANDS } from '../../src/operator/commands.ts';
import { Options } from '../../src/operator/options.ts';
import { SCOPES } from '../../src/organizations/organization.ts';
import { ERROR_CODES, RAILS } from '../../src/rails/contract.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { runToEnd } from '../harness/run-server.ts';

const FOLDER = fileURLToPath(new URL('../../src/operator/', import.meta.url));
const CATALOGUE = readFileSync(`${FOLDER}catalogue.ts`, 'utf8');
const CODE = readdirSync(FOLDER)
  .filter((name) => name !== 'catalogue.ts')
  .map((name) => readFileSync(FOLDER + name, 'utf8'))
  .join('\n');

/** As a shell cuts it, as far as our examples go. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
}

function choicesOf(command: string, option: string): readonly string[] {
  const words = OPERATOR_COMMANDS.find(({ name }) => name === command);
  return words?.options.find(({ name }) => name === option)?.choices ?? [];
}

describe('the catalogue of commands', () => {
  it('imports nothing, so that the command line of merchants can show it without loading the server', () => {
    expect(CATALOGUE).not.toMatch(/^\s*import\b|\bfrom '/m);
  });

  it('is what @caudal/server exports to it', async () => {
    const name = '@caudal/server/operator-commands';
    const exported = (await import(name)) as { OPERATOR_COMMANDS: typeof OPERATOR_COMMANDS };
    expect(exported.OPERATOR_COMMANDS.map((each) => each.name)).toEqual(
      OPERATOR_COMMANDS.map(({ name: own }) => own),
    );
  });

  it('offers no option that no command reads', () => {
    const offered = OPERATOR_COMMANDS.flatMap(({ options }) => options.map(({ name }) => name));
    const unread = [...new Set(offered)].filter((name) => !CODE.includes(`'${name}'`));
    expect(unread).toEqual([]);
  });

  it('has every option that a command reads, or the command fails', () => {
    const words = OPERATOR_COMMANDS.find(({ name }) => name === 'org list');
    if (!words) throw new Error('no such command');
    expect(() => new Options([], words).given('loud')).toThrow('"org list" has no option --loud');
  });

  it('offers the choices that the code knows, and no other', () => {
    expect(choicesOf('rails pause', 'rail')).toEqual(RAILS);
    expect(choicesOf('rails resume', 'rail')).toEqual(RAILS);
    expect(choicesOf('payouts resolve', 'error-code')).toEqual(ERROR_CODES);
    const roles = OPERATOR_COMMANDS.filter(({ group }) => group === 'server').map(({ name }) => name);
    expect(choicesOf('config check', 'role').toSorted()).toEqual(roles.toSorted());
    const scopes = OPERATOR_COMMANDS.find(({ name }) => name === 'keys create')?.details ?? '';
    expect(scopes.match(/[a-z_]+:(?:read|write)/g)).toEqual(SCOPES);
  });

  it('shows in the usage of each command all its options and words, and no other', () => {
    for (const { name, usage, options, words } of OPERATOR_COMMANDS) {
      const shown = new Set([...usage.matchAll(/--([a-z-]+)/g)].map((match) => match[1] ?? ''));
      expect({ name, options: [...shown].toSorted() }).toEqual({
        name,
        options: options.map((option) => option.name).toSorted(),
      });
      for (const line of usage.split('\n')) {
        expect(line.startsWith(name)).toBe(true);
        for (const word of words) expect(line).toContain(` ${word.name}`);
      }
    }
  });

  it('has an example of each command that the command understands', () => {
    for (const command of OPERATOR_COMMANDS) {
      expect(command.examples?.length ?? 0).toBeGreaterThan(0);
      for (const example of command.examples ?? []) {
        const [program, ...words] = wordsOf(example);
        expect(program).toBe('caudal');
        const own = command.name.split(' ').length;
        expect(words.slice(0, own).join(' ')).toBe(command.name);
        expect(() => new Options(words.slice(own), command)).not.toThrow();
      }
    }
  });
});

describe('help', () => {
  it('lists every command with what it is for, in lines of at most eighty columns', async () => {
    const { code, stdout } = await runOperatorCommand({}, 'help');
    expect(code).toBe(0);
    for (const { name, summary } of OPERATOR_COMMANDS) {
      expect(stdout).toMatch(new RegExp(`^  ${name}  `, 'm'));
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(summary);
    }
    for (const line of stdout.split('\n').slice(5)) expect(line.length).toBeLessThanOrEqual(82);
  });

  it('explains a command with its options, choices and an example, however one asks', async () => {
    const ways = [
      ['help', 'payouts', 'resolve'],
      ['payouts', 'resolve', '--help'],
      ['payouts', 'resolve', '-h'],
      ['payouts', 'resolve', 'not-an-id', '--confirm', '--help'],
    ];
    for (const words of ways) {
      const { code, stdout, stderr } = await runOperatorCommand({}, ...words);
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
      expect(stdout).toContain('caudal payouts resolve ID --confirm --by NAME --note TEXT');
      expect(stdout).toContain('RECEIVER_MISMATCH');
      expect(stdout).toMatch(/--note TEXT .*\(required\)/);
      expect(stdout).toMatch(/^Examples\n {2}caudal payouts resolve/m);
      for (const { name } of COMMON_OPTIONS) expect(stdout).toContain(`--${name}`);
    }
  });

  it('lists a group by its first word alone', async () => {
    for (const words of [['keys'], ['help', 'keys'], ['keys', '--help']]) {
      const { code, stdout } = await runOperatorCommand({}, ...words);
      expect(code).toBe(0);
      expect(stdout.match(/^ {2}keys \w+/gm)).toEqual(['  keys create', '  keys list', '  keys revoke']);
    }
  });

  it('explains a role of the server as well, without starting it', async () => {
    const { code, stdout } = await runToEnd(['worker', '--help'], {});
    expect(code).toBe(0);
    expect(stdout).toContain('caudal worker: do the work that is due');
    // A role logs; it has no result to print.
    expect(stdout).not.toContain('--json');
  });
});

describe('a mistyped command', () => {
  it('is answered with what may have been meant, and exit code 2', async () => {
    const cases: readonly (readonly [readonly string[], string])[] = [
      [['docter'], 'no command "docter" (did you mean "doctor"?). Try: caudal help'],
      [['orgs', 'create'], 'no command "orgs create" (did you mean "org create"?)'],
      [['migrat'], 'did you mean "migrate"?'],
      [['keys', 'destroy'], 'no command "keys destroy" (keys create, keys list, keys revoke)'],
      [['help', 'paoyuts', 'show'], 'did you mean "payouts show"?'],
      [['frobnicate'], 'no command "frobnicate". Try: caudal help'],
      [['rails', 'list', '--jsno'], 'no option --jsno (did you mean --json?). Try: caudal help rails list'],
      [['rails', 'list', '--loud'], 'no option --loud. Try: caudal help rails list'],
      [['rails', 'resume', '--rail', 'PIX'], '--rail: "PIX" is none of BRE_B, PSE'],
      [['payouts', 'show'], 'payouts show needs the id of a payout'],
      [['org', 'list', 'all'], '"all" is one word too many'],
    ];
    for (const [words, said] of cases) {
      // Without any setting: nothing is asked of the database before the words are understood.
      const { code, stdout, stderr } = await runOperatorCommand({}, ...words);
      expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: '' });
      expect(stderr).toContain(said);
    }
  });
});
