import { describe, expect, it } from 'vitest';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { ConfigError, type Role, readConfig } from '../../src/config.ts';
import { without } from '../harness/payin-requests.ts';
import { runToEnd } from '../harness/run-server.ts';

type Settings = Record<string, string>;

const DEVELOPMENT: Settings = serverSettings({
  databaseUrl: 'postgres://owner:pw@127.0.0.1:5432/caudal',
  simulatorUrl: 'http://127.0.0.1:4000',
  baseUrl: 'http://127.0.0.1:8080',
});

const PRODUCTION: Settings = {
  ...DEVELOPMENT,
  CAUDAL_ENV: 'production',
  BREB_PAYER_DOCUMENT: '900123456',
  CAUDAL_WEBHOOKS_ALLOW_LOOPBACK: 'no',
  CAUDAL_BASE_URL: 'https://api.example.com',
  CAUDAL_CHECKOUT_URL: 'https://pay.example.com',
  BREB_URL: 'https://breb.example.com',
  PSE_URL: 'https://pse.example.com',
  CAUDAL_MASTER_KEY: 'Qm7xVt2sLp9aKd4fHg6jZx1cBn8wEr3y',
  CAUDAL_KEY_PEPPER: 'Ue5iOp0lKj7hGf2dSa9mNb4vCx6zQw1t',
  CAUDAL_TOKEN_KEY: 'Yt3rEw8qAs1dFg5hJk9lZm2xCv7bNn4p',
  BREB_CLIENT_SECRET: 'Pl0okmIj9nUhb8YgvTf7',
  PSE_SECRET: 'Wq2azSx3edCr4fvTg5bY',
  BREB_NOTICE_SECRET: 'Zx9cvBn8mAs7dfGh6jkLq5weRt4yuIo3',
  PSE_NOTICE_SECRET: 'Po3iuYt2reWq1asDf0ghJk9lzXc8vBn7',
};

const DURATION = 'CAUDAL_DATABASE_DEADLINE_MS';

/** The faults the configuration has; none when it is read. */
function faultsOf(settings: Settings, role: Role = 'api'): readonly string[] {
  try {
    readConfig(role, settings);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

function omitting(settings: Settings, ...names: readonly string[]): Settings {
  return names.reduce((rest, name) => without(rest, name) as Settings, settings);
}

describe('a configuration', () => {
  it('without fault is read, with the defaults it leaves out', () => {
    const config = readConfig('api', omitting(DEVELOPMENT, 'CAUDAL_PORT', 'CAUDAL_OPS_PORT', 'CAUDAL_CELL'));
    expect(config).toMatchObject({
      environment: 'development',
      cell: 0,
      http: { host: '127.0.0.1', port: 8080 },
      ops: { host: '127.0.0.1', port: 9090 },
      logLevel: 'info',
    });
    expect(faultsOf(PRODUCTION)).toEqual([]);
  });

  it('reports every fault at once, each by the name of its setting', () => {
    const faults = faultsOf({
      ...omitting(DEVELOPMENT, 'CAUDAL_ENV', 'BREB_CLIENT_ID', 'DATABASE_URL'),
      CAUDAL_CELL: '1024',
      CAUDAL_PORT: 'eighty',
      CAUDAL_BASE_URL: 'ftp://api.example.com',
      CAUDAL_MASTER_KEY: 'short',
      CAUDAL_LOG_LEVEL: 'loud',
      [DURATION]: '5',
      BREB_KEY_PREFIX: 'lower',
      CAUDAL_POTR: '8080',
    });
    const named = faults.map((fault) => /^[A-Z_]+/.exec(fault)?.[0] ?? fault).sort();
    expect(named).toEqual(
      [
        'BREB_CLIENT_ID',
        'BREB_KEY_PREFIX',
        'CAUDAL_BASE_URL',
        'CAUDAL_CELL',
        DURATION,
        'CAUDAL_ENV',
        'CAUDAL_LOG_LEVEL',
        'CAUDAL_MASTER_KEY',
        'CAUDAL_PORT',
        'CAUDAL_POTR',
        'DATABASE_BATCH_URL',
        'DATABASE_READ_URL',
        'DATABASE_SYSTEM_URL',
      ].sort(),
    );
  });

  it('says of a missing setting that it is not set, and never shows the value of a secret', () => {
    const faults = faultsOf({ ...omitting(DEVELOPMENT, 'PSE_URL'), CAUDAL_MASTER_KEY: 'much-too-short' });
    expect(faults).toContain('PSE_URL is not set');
    expect(faults.join('\n')).toContain('CAUDAL_MASTER_KEY: at least 32 characters');
    expect(faults.join('\n')).not.toContain('much-too-short');
  });

  it('takes an empty variable for one that is not set', () => {
    expect(faultsOf({ ...DEVELOPMENT, PSE_SECRET: '' })).toEqual(['PSE_SECRET is not set']);
    expect(readConfig('api', { ...DEVELOPMENT, CAUDAL_PORT: '' }).http.port).toBe(8080);
  });

  it.each(['CAUDAL_POTR', 'CAUDAL_', 'BREB_KEYPREFIX', 'PSE_URI', 'CAUDAL_DATABASE_DEADLINE'])(
    'with the unknown setting %s is refused',
    (name) => {
      expect(faultsOf({ ...DEVELOPMENT, [name]: '1' })).toEqual([`${name} is not a setting`]);
    },
  );

  it('does not mind what the environment holds for other programs', () => {
    expect(
      faultsOf({ ...DEVELOPMENT, PATH: '/bin', PGHOST: 'db', MY_CAUDAL_PORT: '1', PSEUDO: '1' }),
    ).toEqual([]);
  });

  it.each([
    ['CAUDAL_CELL', '-1'],
    ['CAUDAL_CELL', '1.5'],
    ['CAUDAL_CELL', ' '],
    ['CAUDAL_PORT', '65536'],
    ['CAUDAL_PORT', '8080a'],
    ['CAUDAL_BATCH_LANES', '0'],
    ['CAUDAL_BATCH_LANES', '17'],
    ['CAUDAL_READ_CONNECTIONS', '0'],
    [DURATION, '60001'],
    ['DATABASE_URL', 'mysql://owner@127.0.0.1/caudal'],
    ['CAUDAL_ENV', 'prod'],
  ])('with %s set to "%s" is refused', (name, value) => {
    const faults = faultsOf({ ...DEVELOPMENT, [name]: value });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(`${name}: `);
  });

  it('loses the slashes at the end of its addresses, for paths are put behind them', () => {
    const { baseUrl, checkoutUrl } = readConfig('api', {
      ...DEVELOPMENT,
      CAUDAL_BASE_URL: 'https://api.example.com//',
      CAUDAL_CHECKOUT_URL: 'https://pay.example.com/checkout/',
    });
    expect([baseUrl, checkoutUrl]).toEqual(['https://api.example.com', 'https://pay.example.com/checkout']);
  });
});

describe('the configuration of production', () => {
  it('wants the NIT under which money is sent: the one of the simulator is nobody’s', () => {
    expect(faultsOf(omitting(PRODUCTION, 'BREB_PAYER_DOCUMENT'))).toEqual([
      'BREB_PAYER_DOCUMENT is not set: production pays under a NIT of its own',
    ]);
  });

  it('refuses every development secret, by name', () => {
    const secrets = [
      'CAUDAL_MASTER_KEY',
      'CAUDAL_MASTER_KEY_PREVIOUS',
      'CAUDAL_KEY_PEPPER',
      'CAUDAL_KEY_PEPPER_PREVIOUS',
      'CAUDAL_TOKEN_KEY',
      'BREB_CLIENT_SECRET',
      'BREB_NOTICE_SECRET',
      'BREB_NOTICE_SECRET_PREVIOUS',
      'PSE_SECRET',
      'PSE_NOTICE_SECRET',
      'PSE_NOTICE_SECRET_PREVIOUS',
    ];
    const copied = Object.fromEntries(
      secrets.map((name) => [name, `dev-${name.toLowerCase()}-of-a-single-machine-only`]),
    );
    expect(faultsOf({ ...PRODUCTION, ...copied })).toEqual(
      secrets.map((name) => `${name} is a development secret: production refuses it`),
    );
    expect(faultsOf({ ...DEVELOPMENT, ...copied })).toEqual([]);
  });

  it('refuses to be ended by a failpoint', () => {
    const failpoint = { CAUDAL_FAILPOINT: 'apply notices: after commit' };
    expect(faultsOf({ ...PRODUCTION, ...failpoint })).toEqual([
      'CAUDAL_FAILPOINT is for tests: production refuses it',
    ]);
    expect(faultsOf({ ...DEVELOPMENT, ...failpoint })).toEqual([]);
  });

  it('refuses to send webhooks to this machine', () => {
    const loopback = { CAUDAL_WEBHOOKS_ALLOW_LOOPBACK: 'yes' };
    expect(faultsOf({ ...PRODUCTION, ...loopback })).toEqual([
      'CAUDAL_WEBHOOKS_ALLOW_LOOPBACK is for development: production refuses it',
    ]);
    expect(faultsOf({ ...DEVELOPMENT, ...loopback })).toEqual([]);
  });

  it('refuses a plain http address, in every setting that holds one', () => {
    const names = ['CAUDAL_BASE_URL', 'CAUDAL_CHECKOUT_URL', 'BREB_URL', 'PSE_URL'];
    const plain = Object.fromEntries(names.map((name) => [name, 'http://x.example.com']));
    expect(faultsOf({ ...PRODUCTION, ...plain })).toEqual(
      names.map((name) => `${name} must be https in production`),
    );
  });

  it('refuses a plain http address however its scheme is written', () => {
    const written = ['HTTP://x.example.com', 'Http://x.example.com', ' http://x.example.com'];
    expect(written.map((address) => faultsOf({ ...PRODUCTION, PSE_URL: address }))).toEqual(
      written.map(() => ['PSE_URL must be https in production']),
    );
  });

  it('refuses two secrets that are equal', () => {
    const faults = faultsOf({ ...PRODUCTION, CAUDAL_TOKEN_KEY: PRODUCTION['CAUDAL_KEY_PEPPER'] ?? '' });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain('CAUDAL_KEY_PEPPER and CAUDAL_TOKEN_KEY are equal');
  });

  it('refuses a "previous" secret that is the present one, for then nothing was rotated', () => {
    const pepper = PRODUCTION['CAUDAL_KEY_PEPPER'] ?? '';
    expect(faultsOf({ ...PRODUCTION, CAUDAL_KEY_PEPPER_PREVIOUS: pepper })).toHaveLength(1);
  });

  it('refuses a secret of few different characters, however long', () => {
    expect(faultsOf({ ...PRODUCTION, CAUDAL_TOKEN_KEY: 'abcabcabc'.repeat(10) })).toEqual([
      'CAUDAL_TOKEN_KEY is too simple to be a secret',
    ]);
    expect(faultsOf({ ...PRODUCTION, PSE_SECRET: 'password'.slice(0, 7) })).toEqual([
      'PSE_SECRET is too simple to be a secret',
    ]);
  });

  it('reports its own faults together with the ordinary ones', () => {
    const faults = faultsOf({
      ...omitting(PRODUCTION, 'PSE_ENTITY'),
      PSE_URL: 'http://pse.example.com',
      CAUDAL_MASTER_KEY: 'dev-short',
      CAUDAL_FOO: '1',
    });
    expect(faults).toEqual(
      expect.arrayContaining([
        'PSE_ENTITY is not set',
        'CAUDAL_MASTER_KEY: at least 32 characters',
        'CAUDAL_MASTER_KEY is a development secret: production refuses it',
        'PSE_URL must be https in production',
        'CAUDAL_FOO is not a setting',
      ]),
    );
    expect(faults).toHaveLength(5);
  });
});

describe('the addresses of the database', () => {
  const GIVEN = {
    DATABASE_READ_URL: 'postgres://caudal_read:r@10.0.0.1/caudal',
    DATABASE_BATCH_URL: 'postgres://caudal_batch:b@10.0.0.2/caudal',
    DATABASE_SYSTEM_URL: 'postgresql://caudal_system:s@10.0.0.3/caudal',
  };

  it('are derived from the one that is given: another user and password each, the same database', () => {
    const { database } = readConfig('api', DEVELOPMENT);
    const urls = [database.readUrl, database.batchUrl, database.systemUrl].map((url) => new URL(url));
    expect(urls.map((url) => url.username)).toEqual(['caudal_read', 'caudal_batch', 'caudal_system']);
    expect(new Set(urls.map((url) => url.password)).size).toBe(3);
    for (const url of urls) {
      expect(url.password.length).toBeGreaterThanOrEqual(32);
      expect(`${url.host}${url.pathname}`).toBe('127.0.0.1:5432/caudal');
    }
  });

  it('are derived alike by every process and differently from another master key', () => {
    const { database } = readConfig('api', DEVELOPMENT);
    expect(readConfig('migrate', DEVELOPMENT).database.readUrl).toBe(database.readUrl);
    const other = readConfig('api', {
      ...DEVELOPMENT,
      CAUDAL_MASTER_KEY: 'another-master-key-of-32-characters',
    });
    expect(other.database.readUrl).not.toBe(database.readUrl);
  });

  it('keep the options behind the address', () => {
    const url = 'postgres://owner:pw@db.example.com/caudal?sslmode=verify-full';
    const { database } = readConfig('api', { ...DEVELOPMENT, DATABASE_URL: url });
    expect(database.readUrl).toMatch(/@db\.example\.com\/caudal\?sslmode=verify-full$/);
  });

  it('are those that are given, without the owner of the schema when nothing migrates', () => {
    const { database } = readConfig('api', { ...omitting(DEVELOPMENT, 'DATABASE_URL'), ...GIVEN });
    expect(database).toMatchObject({
      ownerUrl: null,
      readUrl: GIVEN.DATABASE_READ_URL,
      batchUrl: GIVEN.DATABASE_BATCH_URL,
      systemUrl: GIVEN.DATABASE_SYSTEM_URL,
    });
  });

  it('win over the derived ones one by one', () => {
    const { database } = readConfig('api', { ...DEVELOPMENT, DATABASE_READ_URL: GIVEN.DATABASE_READ_URL });
    expect(database.readUrl).toBe(GIVEN.DATABASE_READ_URL);
    expect(new URL(database.batchUrl).host).toBe('127.0.0.1:5432');
  });

  it('must be there: one by one named when neither they nor the one are given', () => {
    expect(faultsOf(omitting({ ...DEVELOPMENT, ...GIVEN }, 'DATABASE_URL', 'DATABASE_BATCH_URL'))).toEqual([
      'DATABASE_BATCH_URL is not set, nor DATABASE_URL',
    ]);
  });

  it('must hold the one of the owner for "migrate", even when the three are given', () => {
    const settings = { ...omitting(DEVELOPMENT, 'DATABASE_URL'), ...GIVEN };
    expect(faultsOf(settings, 'migrate')).toEqual([
      'DATABASE_URL is not set (migrate connects as the owner of the schema)',
    ]);
  });
});

describe('the process', () => {
  it('prints every fault and exits with 1, in every role', async () => {
    const settings = {
      ...omitting(DEVELOPMENT, 'CAUDAL_ENV', 'PSE_URL'),
      CAUDAL_PORT: 'eighty',
      BREB_URI: 'http://127.0.0.1:1',
    };
    const ends = await Promise.all(
      ['api', 'worker', 'all', 'migrate'].map((role) => runToEnd([role], settings)),
    );
    for (const { code, stdout, stderr } of ends) {
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ level: 'fatal', code: 'configuration_invalid' });
      for (const name of ['CAUDAL_ENV', 'PSE_URL', 'CAUDAL_PORT', 'BREB_URI']) expect(stderr).toContain(name);
      expect(stderr).toContain('4 faults');
      // In words for an operator: no stack.
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  });

  it('refuses to be a server in production with the settings of npm run dev', async () => {
    const { code, stderr } = await runToEnd(['api'], { ...DEVELOPMENT, CAUDAL_ENV: 'production' });
    expect(code).toBe(1);
    expect(stderr.match(/is a development secret/g)).toHaveLength(7);
    expect(stderr.match(/must be https/g)).toHaveLength(4);
  });

  it('exits with 2 when a role is given arguments, before it looks at anything else', async () => {
    const { code, stderr } = await runToEnd(['api', 'extra'], {});
    expect(code).toBe(2);
    expect(stderr).toContain('caudal api takes no arguments');
  });

  it('exits with 2 and says where help is when there is no such command', async () => {
    const { code, stderr } = await runToEnd(['serve'], {});
    expect(code).toBe(2);
    expect(stderr).toMatch(/no command "serve".*caudal help/);
  });

  it('shows its help without any setting', async () => {
    const ends = await Promise.all([['help'], ['--help'], []].map((args) => runToEnd(args, {})));
    for (const { code, stdout } of ends) {
      expect(code).toBe(0);
      expect(stdout).toContain('migrate');
    }
  });
});
