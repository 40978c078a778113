import { describe, expect, it } from 'vitest';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { ConfigError, readConfig } from '../../src/config.ts';
import { receiptKeyId } from '../../src/receipts/receipt-keys.ts';
import type { Role } from '../../src/settings/settings.ts';
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
  CAUDAL_RECEIPT_KEY: 'Hq6vZp1mXs8cLk3nBt7wRj2yDg5fTe9u',
  BREB_CLIENT_SECRET: 'Pl0okmIj9nUhb8YgvTf7',
  PSE_SECRET: 'Wq2azSx3edCr4fvTg5bY',
  BREB_NOTICE_SECRET: 'Zx9cvBn8mAs7dfGh6jkLq5weRt4yuIo3',
  PSE_NOTICE_SECRET: 'Po3iuYt2reWq1asDf0ghJk9lzXc8vBn7',
};

const DURATION = 'CAUDAL_DATABASE_DEADLINE_MS';

/** Configuration errors; empty when the configuration is valid. */
function configErrors(settings: Settings, role: Role = 'api'): readonly string[] {
  try {
    readConfig(role, settings);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

function omit(settings: Settings, ...names: readonly string[]): Settings {
  return names.reduce((rest, name) => without(rest, name) as Settings, settings);
}

describe('readConfig', () => {
  it('applies the defaults of omitted settings', () => {
    const config = readConfig('api', omit(DEVELOPMENT, 'CAUDAL_PORT', 'CAUDAL_OPS_PORT', 'CAUDAL_CELL'));
    expect(config).toMatchObject({
      environment: 'development',
      cell: 0,
      http: { host: '127.0.0.1', port: 8080 },
      ops: { host: '127.0.0.1', port: 9090 },
      logLevel: 'info',
    });
    expect(configErrors(PRODUCTION)).toEqual([]);
  });

  it('reports all errors together, each by its setting name', () => {
    const errors = configErrors({
      ...omit(DEVELOPMENT, 'CAUDAL_ENV', 'BREB_CLIENT_ID', 'DATABASE_URL'),
      CAUDAL_CELL: '1024',
      CAUDAL_PORT: 'eighty',
      CAUDAL_BASE_URL: 'ftp://api.example.com',
      CAUDAL_MASTER_KEY: 'short',
      CAUDAL_LOG_LEVEL: 'loud',
      [DURATION]: '5',
      BREB_KEY_PREFIX: 'lower',
      CAUDAL_POTR: '8080',
    });
    const named = errors.map((error) => /^[A-Z_]+/.exec(error)?.[0] ?? error).sort();
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

  it('reports a missing setting as not set and never prints a secret', () => {
    const errors = configErrors({ ...omit(DEVELOPMENT, 'PSE_URL'), CAUDAL_MASTER_KEY: 'much-too-short' });
    expect(errors).toContain('PSE_URL is not set');
    expect(errors.join('\n')).toContain('CAUDAL_MASTER_KEY: at least 32 characters');
    expect(errors.join('\n')).not.toContain('much-too-short');
  });

  it('treats an empty variable as not set', () => {
    expect(configErrors({ ...DEVELOPMENT, PSE_SECRET: '' })).toEqual(['PSE_SECRET is not set']);
    expect(readConfig('api', { ...DEVELOPMENT, CAUDAL_PORT: '' }).http.port).toBe(8080);
  });

  it.each(['CAUDAL_POTR', 'CAUDAL_', 'BREB_KEYPREFIX', 'PSE_URI', 'CAUDAL_DATABASE_DEADLINE'])(
    'rejects the unknown setting %s',
    (name) => {
      expect(configErrors({ ...DEVELOPMENT, [name]: '1' })).toEqual([`${name} is not a setting`]);
    },
  );

  it('ignores variables of other programs', () => {
    expect(
      configErrors({ ...DEVELOPMENT, PATH: '/bin', PGHOST: 'db', MY_CAUDAL_PORT: '1', PSEUDO: '1' }),
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
  ])('rejects %s set to "%s"', (name, value) => {
    const errors = configErrors({ ...DEVELOPMENT, [name]: value });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(`${name}: `);
  });

  it.each([
    'postgres://owner:x@db1:5432,db2:5432/caudal?target_session_attrs=read-write',
    'postgres://db1,db2/caudal',
    'postgres://owner:x@db1/caudal?host=db1,db2',
  ])('rejects the several hosts of %s', (url) => {
    expect(configErrors({ ...DEVELOPMENT, DATABASE_URL: url })).toEqual([
      'DATABASE_URL: names several hosts; the driver connects to one: use the address of HAProxy or of the primary',
    ]);
  });

  it('accepts a comma in the password of PostgreSQL', () => {
    expect(configErrors({ ...DEVELOPMENT, DATABASE_URL: 'postgres://owner:a,b@db1/caudal' })).toEqual([]);
  });

  it('removes trailing slashes from URLs, because paths are appended to them', () => {
    const { baseUrl, checkoutUrl } = readConfig('api', {
      ...DEVELOPMENT,
      CAUDAL_BASE_URL: 'https://api.example.com//',
      CAUDAL_CHECKOUT_URL: 'https://pay.example.com/checkout/',
    });
    expect([baseUrl, checkoutUrl]).toEqual(['https://api.example.com', 'https://pay.example.com/checkout']);
  });
});

describe('a production configuration', () => {
  it("requires BREB_PAYER_DOCUMENT, because the simulator's NIT belongs to no company", () => {
    expect(configErrors(omit(PRODUCTION, 'BREB_PAYER_DOCUMENT'))).toEqual([
      'BREB_PAYER_DOCUMENT is not set: production requires the NIT of the operator',
    ]);
  });

  it('rejects every development secret by name', () => {
    const secrets = [
      'CAUDAL_MASTER_KEY',
      'CAUDAL_MASTER_KEY_PREVIOUS',
      'CAUDAL_KEY_PEPPER',
      'CAUDAL_KEY_PEPPER_PREVIOUS',
      'CAUDAL_TOKEN_KEY',
      'CAUDAL_RECEIPT_KEY',
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
    expect(configErrors({ ...PRODUCTION, ...copied })).toEqual(
      secrets.map((name) => `${name} is a development secret: not allowed in production`),
    );
    expect(configErrors({ ...DEVELOPMENT, ...copied })).toEqual([]);
  });

  it('rejects a failpoint', () => {
    const failpoint = { CAUDAL_FAILPOINT: 'apply notices: after commit' };
    expect(configErrors({ ...PRODUCTION, ...failpoint })).toEqual([
      'CAUDAL_FAILPOINT is for tests: not allowed in production',
    ]);
    expect(configErrors({ ...DEVELOPMENT, ...failpoint })).toEqual([]);
  });

  it('rejects the factor by which tests multiply deadlines', () => {
    const factor = { CAUDAL_TEST_DEADLINE_FACTOR: '10' };
    expect(configErrors({ ...PRODUCTION, ...factor })).toEqual([
      'CAUDAL_TEST_DEADLINE_FACTOR is for tests: not allowed in production',
    ]);
    expect(configErrors({ ...DEVELOPMENT, ...factor })).toEqual([]);
    expect(configErrors({ ...DEVELOPMENT, CAUDAL_TEST_DEADLINE_FACTOR: '0' })).toEqual([
      'CAUDAL_TEST_DEADLINE_FACTOR: a whole number from 1 to 99',
    ]);
  });

  it('rejects loopback webhooks', () => {
    const loopback = { CAUDAL_WEBHOOKS_ALLOW_LOOPBACK: 'yes' };
    expect(configErrors({ ...PRODUCTION, ...loopback })).toEqual([
      'CAUDAL_WEBHOOKS_ALLOW_LOOPBACK is for development: not allowed in production',
    ]);
    expect(configErrors({ ...DEVELOPMENT, ...loopback })).toEqual([]);
  });

  it('rejects plain http in every URL setting', () => {
    const names = ['CAUDAL_BASE_URL', 'CAUDAL_CHECKOUT_URL', 'BREB_URL', 'PSE_URL'];
    const plain = Object.fromEntries(names.map((name) => [name, 'http://x.example.com']));
    expect(configErrors({ ...PRODUCTION, ...plain })).toEqual(
      names.map((name) => `${name} must be https in production`),
    );
  });

  it('rejects plain http however the scheme is written', () => {
    const spellings = ['HTTP://x.example.com', 'Http://x.example.com', ' http://x.example.com'];
    expect(spellings.map((address) => configErrors({ ...PRODUCTION, PSE_URL: address }))).toEqual(
      spellings.map(() => ['PSE_URL must be https in production']),
    );
  });

  it('rejects two equal secrets', () => {
    const errors = configErrors({ ...PRODUCTION, CAUDAL_TOKEN_KEY: PRODUCTION['CAUDAL_KEY_PEPPER'] ?? '' });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain('CAUDAL_KEY_PEPPER and CAUDAL_TOKEN_KEY are equal');
  });

  it('rejects a "previous" secret equal to the current one', () => {
    const pepper = PRODUCTION['CAUDAL_KEY_PEPPER'] ?? '';
    expect(configErrors({ ...PRODUCTION, CAUDAL_KEY_PEPPER_PREVIOUS: pepper })).toHaveLength(1);
  });

  it('rejects a long secret with few different characters', () => {
    expect(configErrors({ ...PRODUCTION, CAUDAL_TOKEN_KEY: 'abcabcabc'.repeat(10) })).toEqual([
      'CAUDAL_TOKEN_KEY is too simple to be a secret',
    ]);
    expect(configErrors({ ...PRODUCTION, PSE_SECRET: 'password'.slice(0, 7) })).toEqual([
      'PSE_SECRET is too simple to be a secret',
    ]);
  });

  it('reports production errors together with the ordinary ones', () => {
    const errors = configErrors({
      ...omit(PRODUCTION, 'PSE_ENTITY'),
      PSE_URL: 'http://pse.example.com',
      CAUDAL_MASTER_KEY: 'dev-short',
      CAUDAL_FOO: '1',
    });
    expect(errors).toEqual(
      expect.arrayContaining([
        'PSE_ENTITY is not set',
        'CAUDAL_MASTER_KEY: at least 32 characters',
        'CAUDAL_MASTER_KEY is a development secret: not allowed in production',
        'PSE_URL must be https in production',
        'CAUDAL_FOO is not a setting',
      ]),
    );
    expect(errors).toHaveLength(5);
  });
});

describe('database URLs', () => {
  const EXPLICIT = {
    DATABASE_READ_URL: 'postgres://caudal_read:r@10.0.0.1/caudal',
    DATABASE_BATCH_URL: 'postgres://caudal_batch:b@10.0.0.2/caudal',
    DATABASE_SYSTEM_URL: 'postgresql://caudal_system:s@10.0.0.3/caudal',
  };

  it('are derived from DATABASE_URL with a user and password per role', () => {
    const { database } = readConfig('api', DEVELOPMENT);
    const urls = [database.readUrl, database.batchUrl, database.systemUrl].map((url) => new URL(url));
    expect(urls.map((url) => url.username)).toEqual(['caudal_read', 'caudal_batch', 'caudal_system']);
    expect(new Set(urls.map((url) => url.password)).size).toBe(3);
    for (const url of urls) {
      expect(url.password.length).toBeGreaterThanOrEqual(32);
      expect(`${url.host}${url.pathname}`).toBe('127.0.0.1:5432/caudal');
    }
  });

  it('are derived equally by every process and differently for another master key', () => {
    const { database } = readConfig('api', DEVELOPMENT);
    expect(readConfig('migrate', DEVELOPMENT).database.readUrl).toBe(database.readUrl);
    const other = readConfig('api', {
      ...DEVELOPMENT,
      CAUDAL_MASTER_KEY: 'another-master-key-of-32-characters',
    });
    expect(other.database.readUrl).not.toBe(database.readUrl);
  });

  it('keep the query parameters', () => {
    const url = 'postgres://owner:pw@db.example.com/caudal?sslmode=verify-full';
    const { database } = readConfig('api', { ...DEVELOPMENT, DATABASE_URL: url });
    expect(database.readUrl).toMatch(/@db\.example\.com\/caudal\?sslmode=verify-full$/);
  });

  it('are taken from the settings, without an owner URL when nothing migrates', () => {
    const { database } = readConfig('api', { ...omit(DEVELOPMENT, 'DATABASE_URL'), ...EXPLICIT });
    expect(database).toMatchObject({
      ownerUrl: null,
      readUrl: EXPLICIT.DATABASE_READ_URL,
      batchUrl: EXPLICIT.DATABASE_BATCH_URL,
      systemUrl: EXPLICIT.DATABASE_SYSTEM_URL,
    });
  });

  it('override the derived ones individually', () => {
    const { database } = readConfig('api', { ...DEVELOPMENT, DATABASE_READ_URL: EXPLICIT.DATABASE_READ_URL });
    expect(database.readUrl).toBe(EXPLICIT.DATABASE_READ_URL);
    expect(new URL(database.batchUrl).host).toBe('127.0.0.1:5432');
  });

  it('are reported individually when neither they nor DATABASE_URL are set', () => {
    expect(configErrors(omit({ ...DEVELOPMENT, ...EXPLICIT }, 'DATABASE_URL', 'DATABASE_BATCH_URL'))).toEqual(
      ['DATABASE_BATCH_URL is not set, nor DATABASE_URL'],
    );
  });

  it('require DATABASE_URL for "migrate", even when the other three are set', () => {
    const settings = { ...omit(DEVELOPMENT, 'DATABASE_URL'), ...EXPLICIT };
    expect(configErrors(settings, 'migrate')).toEqual([
      'DATABASE_URL is not set (migrate connects as the owner of the schema)',
    ]);
  });
});

describe('receipt keys', () => {
  it('are read with the last day of each retired key, in Bogotá', () => {
    const publicKey = Buffer.alloc(32, 7).toString('base64url');
    const { receiptKeys } = readConfig('api', {
      ...PRODUCTION,
      CAUDAL_RECEIPT_KEYS_RETIRED: `${publicKey}@2026-11-30, ${publicKey}@2027-01-31`,
      CAUDAL_RECEIPT_KEYS_REVOKED: '0123ABCD',
    });
    expect(receiptKeys.retired.map(({ validUntil }) => validUntil.toISOString())).toEqual([
      '2026-12-01T04:59:59.000Z',
      '2027-02-01T04:59:59.000Z',
    ]);
    expect(receiptKeys.revokedIds).toEqual(['0123ABCD']);
  });

  it('are rejected when malformed, and when the current key is revoked', () => {
    expect(configErrors({ ...PRODUCTION, CAUDAL_RECEIPT_KEYS_RETIRED: 'abc@2026-11-30' })).toEqual([
      'CAUDAL_RECEIPT_KEYS_RETIRED: entries are PUBLIC_KEY@YYYY-MM-DD, separated by commas',
    ]);
    expect(configErrors({ ...PRODUCTION, CAUDAL_RECEIPT_KEYS_REVOKED: 'first' })).toEqual([
      'CAUDAL_RECEIPT_KEYS_REVOKED: key ids of 8 characters, separated by commas',
    ]);
    const id = receiptKeyId(readConfig('api', PRODUCTION).receiptKeys.current.publicKey);
    expect(configErrors({ ...PRODUCTION, CAUDAL_RECEIPT_KEYS_REVOKED: id })).toEqual([
      `CAUDAL_RECEIPT_KEYS_REVOKED contains ${id}, the id of CAUDAL_RECEIPT_KEY: set a new CAUDAL_RECEIPT_KEY`,
    ]);
  });
});

describe('the settings of e-mail', () => {
  const mail = {
    CAUDAL_SMTP_URL: 'smtps://user:pw@mail.example.com',
    CAUDAL_MAIL_FROM: 'Caudal <a@example.com>',
  };

  it('are optional, need each other, and require TLS in production', () => {
    expect(readConfig('api', PRODUCTION).mail).toBeNull();
    expect(readConfig('api', { ...PRODUCTION, ...mail }).mail).toMatchObject({ requireTls: true });
    const together = ['CAUDAL_SMTP_URL and CAUDAL_MAIL_FROM must be set together'];
    expect(configErrors({ ...PRODUCTION, CAUDAL_SMTP_URL: mail.CAUDAL_SMTP_URL })).toEqual(together);
    expect(configErrors(omit({ ...PRODUCTION, ...mail }, 'CAUDAL_SMTP_URL'), 'worker')).toEqual(together);
    expect(
      configErrors({ ...PRODUCTION, ...mail, CAUDAL_SMTP_URL: 'https://mail.example.com' }),
    ).toHaveLength(1);
  });

  it('need no SMTP server in an API process, which only offers e-mail', () => {
    const api = readConfig('api', omit({ ...PRODUCTION, ...mail }, 'CAUDAL_SMTP_URL'));
    expect(api).toMatchObject({ offersEmail: true, mail: null });
  });

  it('reject parameters of the SMTP URL, which could turn off TLS', () => {
    const url = `${mail.CAUDAL_SMTP_URL}?tls.rejectUnauthorized=false`;
    expect(configErrors({ ...PRODUCTION, ...mail, CAUDAL_SMTP_URL: url })).toEqual([
      'CAUDAL_SMTP_URL: takes no parameters',
    ]);
  });
});

describe('the server process', () => {
  it('prints every configuration error and exits with 1, in every server role', async () => {
    const settings = {
      ...omit(DEVELOPMENT, 'CAUDAL_ENV', 'PSE_URL'),
      CAUDAL_PORT: 'eighty',
      BREB_URI: 'http://127.0.0.1:1',
    };
    const results = await Promise.all(['api', 'worker', 'all'].map((role) => runToEnd([role], settings)));
    for (const { code, stdout, stderr } of results) {
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ level: 'fatal', code: 'configuration_invalid' });
      for (const name of ['CAUDAL_ENV', 'PSE_URL', 'CAUDAL_PORT', 'BREB_URI']) expect(stderr).toContain(name);
      expect(stderr).toContain('4 problems');
      // Readable for an operator: no stack trace.
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  });

  it('does not start in production with the settings of npm run dev', async () => {
    const { code, stderr } = await runToEnd(['api'], { ...DEVELOPMENT, CAUDAL_ENV: 'production' });
    expect(code).toBe(1);
    expect(stderr.match(/is a development secret/g)).toHaveLength(8);
    expect(stderr.match(/must be https/g)).toHaveLength(4);
  });

  it('exits with 2 when a role gets arguments, before it reads the configuration', async () => {
    const { code, stderr } = await runToEnd(['api', 'extra'], {});
    expect(code).toBe(2);
    expect(stderr).toContain('caudal api takes no arguments');
  });

  it('exits with 2 and refers to the help for an unknown command', async () => {
    const { code, stderr } = await runToEnd(['serve'], {});
    expect(code).toBe(2);
    expect(stderr).toMatch(/no command "serve".*caudal help/);
  });

  it('prints its help without any setting', async () => {
    const results = await Promise.all([['help'], ['--help'], []].map((args) => runToEnd(args, {})));
    for (const { code, stdout } of results) {
      expect(code).toBe(0);
      expect(stdout).toContain('migrate');
    }
  });
});
