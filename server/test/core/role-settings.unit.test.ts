import { describe, expect, it } from 'vitest';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { ConfigError, readConfig } from '../../src/config.ts';
import { commandSecrets } from '../../src/operator/command-secrets.ts';
import { rolesWith } from '../../src/settings/role-settings.ts';
import { type Role, SECRETS } from '../../src/settings/settings.ts';

const ALL: Readonly<Record<string, string>> = serverSettings({
  databaseUrl: 'postgres://owner:pw@127.0.0.1:5432/caudal',
  simulatorUrl: 'http://127.0.0.1:4000',
  baseUrl: 'http://127.0.0.1:8080',
});

const DATABASE = ['CAUDAL_ENV', 'DATABASE_URL', 'CAUDAL_MASTER_KEY'];
const ADDRESSES = ['CAUDAL_BASE_URL', 'CAUDAL_CHECKOUT_URL', 'BREB_URL', 'PSE_URL'];
const COMMON = [...DATABASE, ...ADDRESSES, 'BREB_CLIENT_ID', 'PSE_ENTITY'];
const CALLS = [...COMMON, 'CAUDAL_TOKEN_KEY', 'CAUDAL_RECEIPT_KEY', 'BREB_CLIENT_SECRET', 'PSE_SECRET'];
const SERVES = [...CALLS, 'CAUDAL_KEY_PEPPER', 'BREB_NOTICE_SECRET', 'PSE_NOTICE_SECRET'];

/** The complete list of settings that each role requires. */
const REQUIRED: Readonly<Record<Role, readonly string[]>> = {
  api: SERVES,
  all: SERVES,
  worker: CALLS,
  operator: COMMON,
  migrate: DATABASE,
};
const ROLES = Object.entries(REQUIRED) as [Role, readonly string[]][];

function problems(role: Role, names: readonly string[], needs: readonly string[] = []): readonly string[] {
  try {
    readConfig(role, Object.fromEntries(names.map((name) => [name, ALL[name]])), needs);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('the settings of a role', () => {
  it.each(ROLES)('"%s" starts with exactly the secrets that it needs', (role, names) => {
    expect(problems(role, names)).toEqual([]);
    for (const name of names) {
      const others = names.filter((other) => other !== name);
      expect(problems(role, others)).toEqual([
        expect.stringMatching(new RegExp(`^(?:${name}|DATABASE_).* not set`)),
        ...(name === 'DATABASE_URL' && role !== 'migrate' ? [expect.anything(), expect.anything()] : []),
      ]);
    }
  });

  it('assign roles to every secret except those of the master key', () => {
    const unassigned = SECRETS.filter((name) => rolesWith(name) === null);
    expect(unassigned.sort()).toEqual([
      'CAUDAL_KMS_TOKEN',
      'CAUDAL_MASTER_KEY',
      'CAUDAL_MASTER_KEY_PREVIOUS',
    ]);
  });

  it('replace a secret that the role lacks by a random one, different in every process', () => {
    const settings = Object.fromEntries(CALLS.map((name) => [name, ALL[name]]));
    const peppers = [1, 2].map(() => readConfig('worker', settings).peppers[0]?.export().toString('hex'));
    expect(new Set(peppers).size).toBe(2);
    expect(peppers).not.toContain(readConfig('api', ALL).peppers[0]?.export().toString('hex'));
  });
});

describe('the secrets of an operator command', () => {
  it.each(['org create', 'keys create'] as const)('%s needs the pepper', (command) => {
    expect(problems('operator', COMMON, commandSecrets(command, true))).toEqual([
      'CAUDAL_KEY_PEPPER is not set',
      'CAUDAL_TOKEN_KEY is not set',
    ]);
  });

  it('a command that changes nothing needs none', () => {
    expect(commandSecrets('payins show', false)).toEqual([]);
  });
});
