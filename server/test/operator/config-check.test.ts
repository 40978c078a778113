import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { runToEnd } from '../harness/run-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'caudal-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DEVELOPMENT = serverSettings({
  databaseUrl: 'postgres://owner:a-password@127.0.0.1:5432/caudal',
  simulatorUrl: 'http://127.0.0.1:4010',
  baseUrl: 'http://127.0.0.1:8080',
});

const STRONG = {
  CAUDAL_MASTER_KEY: 'q7Zt0mXv3RkLw9Ya2Nb8Hs5Pd6Gf1Jc4',
  CAUDAL_KEY_PEPPER: 'Vh2Kx9Qm4Tn7Bz1Wp6Rs3Ld8Fg0Yc5Ja',
  CAUDAL_TOKEN_KEY: 'Nd5Gj8Lp1Sx4Cv7Bq0Ew3Ru6Ty9Zi2Ho',
  CAUDAL_RECEIPT_KEY: 'Kx7Wn2Vb5Ht8Qe1Rj4Mz6Gd9Ya3Uc0Lf',
  BREB_CLIENT_SECRET: 'Mf3Wk6Zr9Dq2Xt5Hb8',
  BREB_NOTICE_SECRET: 'Ua8Ci1Oe4Gy7Jw0Kn3Pv6Sm9Bt2Fx5Lh',
  PSE_SECRET: 'Pz4Yb7Vn0Qs3Tc6Wj9',
  PSE_NOTICE_SECRET: 'Ej6Rl9Ip2Ag5Ku8Xo1Dv4Hn7Mz0Sq3Wf',
};

/** A valid production configuration. */
const PRODUCTION = {
  ...DEVELOPMENT,
  ...STRONG,
  CAUDAL_ENV: 'production',
  CAUDAL_BASE_URL: 'https://api.example.com',
  CAUDAL_CHECKOUT_URL: 'https://pay.example.com',
  BREB_URL: 'https://breb.example.com',
  PSE_URL: 'https://pse.example.com',
  BREB_PAYER_DOCUMENT: '901234567',
  CAUDAL_WEBHOOKS_ALLOW_LOOPBACK: 'no',
  CAUDAL_TRUSTED_PROXIES: '10.0.0.0/8',
  DATABASE_URL: '',
  DATABASE_READ_URL: 'postgres://caudal_read:x@db.example.com/caudal?sslmode=verify-full',
  DATABASE_BATCH_URL: 'postgres://caudal_batch:x@db.example.com/caudal?sslmode=verify-full',
  DATABASE_SYSTEM_URL: 'postgres://caudal_system:x@db.example.com/caudal?sslmode=verify-full',
};

/** The settings of `PRODUCTION`, all unset. */
const EMPTY = Object.fromEntries(Object.keys(PRODUCTION).map((name) => [name, '']));

interface ConfigReport {
  readonly role: string;
  readonly environment: string | null;
  readonly ok: boolean;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

async function check(settings: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const { code, stdout } = await runOperatorCommand(settings, 'config', 'check', '--json', ...args);
  return { code, ...(JSON.parse(stdout) as ConfigReport) };
}

describe('caudal config check', () => {
  it('reports nothing for a valid configuration', async () => {
    expect(await check(PRODUCTION)).toEqual({
      code: 0,
      role: 'all',
      environment: 'production',
      ok: true,
      problems: [],
      warnings: [],
    });
    expect(await check(DEVELOPMENT)).toMatchObject({ code: 0, problems: [], warnings: [] });
  });

  it('reports all errors together and exits with 1', async () => {
    const { code, problems } = await check({
      ...PRODUCTION,
      CAUDAL_PORT: 'eighty',
      PSE_URL: '',
      CAUDAL_KEY_PEPPER: 'short',
      CAUDAL_MASTERKEY: 'misspelt',
      DATABASE_SYSTEM_URL: '',
    });
    expect(code).toBe(1);
    expect(problems.toSorted()).toEqual([
      'CAUDAL_KEY_PEPPER is too simple to be a secret',
      'CAUDAL_KEY_PEPPER: at least 32 characters',
      'CAUDAL_MASTERKEY is not a setting',
      'CAUDAL_PORT: a whole number',
      'DATABASE_SYSTEM_URL is not set, nor DATABASE_URL',
      'PSE_URL is not set',
    ]);
  });

  it('validates for the given role: migrate needs the owner URL', async () => {
    const migrate = await check(PRODUCTION, '--role', 'migrate');
    expect(migrate.problems).toEqual([expect.stringContaining('DATABASE_URL is not set')]);
    const owner = {
      ...PRODUCTION,
      DATABASE_URL: 'postgres://owner:x@db.example.com/caudal?sslmode=verify-full',
    };
    const { DATABASE_URL, CAUDAL_ENV, CAUDAL_MASTER_KEY } = owner;
    const migration = { ...EMPTY, DATABASE_URL, CAUDAL_ENV, CAUDAL_MASTER_KEY };
    expect(await check(migration, '--role', 'migrate')).toMatchObject({ problems: [], warnings: [] });
    expect((await check(owner, '--role', 'api')).warnings).toEqual([
      expect.stringContaining('DATABASE_URL is set: "api" needs only the three role addresses'),
    ]);
  });

  it('warns in production when CAUDAL_TRUSTED_PROXIES is not set', async () => {
    expect((await check({ ...PRODUCTION, CAUDAL_TRUSTED_PROXIES: '' })).warnings).toEqual([
      expect.stringContaining('CAUDAL_TRUSTED_PROXIES is not set'),
    ]);
    expect((await check({ ...PRODUCTION, CAUDAL_TRUSTED_PROXIES: 'none' })).warnings).toEqual([]);
    const worker = await check({ ...PRODUCTION, CAUDAL_TRUSTED_PROXIES: '' }, '--role', 'worker');
    expect(worker.warnings.filter((warning) => warning.includes('PROXIES'))).toEqual([]);
  });

  it('warns about guessable secrets, with name and weakness', async () => {
    const weak: readonly (readonly [string, RegExp])[] = [
      ['a'.repeat(40), /very few different characters/],
      ['correct-horse-1'.repeat(3), /repeats itself/],
      ['abcdefghijklmnopqrstuvwxyz0123456789', /in order/],
      ['please-change-me-before-production-ok', /placeholder/],
    ];
    for (const [value, weakness] of weak) {
      const { code, warnings } = await check({ ...DEVELOPMENT, CAUDAL_TOKEN_KEY: value });
      expect({ code, warnings }).toEqual({ code: 0, warnings: [expect.stringMatching(weakness)] });
      expect(warnings[0]).toMatch(/^CAUDAL_TOKEN_KEY /);
    }
    expect((await check({ ...PRODUCTION, PSE_SECRET: 'k3Jx9Qw2' })).warnings).toEqual([
      'PSE_SECRET has only 8 characters, which can be guessed by brute force',
    ]);
    const twice = { ...DEVELOPMENT, ...STRONG, CAUDAL_KEY_PEPPER: STRONG.CAUDAL_MASTER_KEY };
    expect((await check(twice)).warnings).toEqual([
      expect.stringContaining('CAUDAL_MASTER_KEY and CAUDAL_KEY_PEPPER are equal'),
    ]);
  });

  it('does not warn about generated secrets', async () => {
    const generated = [
      '0f3c9a1be84d7265f01b6ad98c3e4527a90d1f4b6c8e2357',
      'kX8v/2mQ+Zr4Tn0bLw7YcPs5HdJ1fGa9uEoI3q6=',
      'R3-t_9'.padEnd(9, 'kQ') + 'Zp7vW2xB5nM8cJ4hF6gD1sA0',
    ];
    for (const value of generated)
      expect((await check({ ...DEVELOPMENT, CAUDAL_TOKEN_KEY: value })).warnings).toEqual([]);
  });

  it('warns in staging about settings that are valid only on one machine', async () => {
    const { code, warnings } = await check({
      ...DEVELOPMENT,
      CAUDAL_ENV: 'staging',
      CAUDAL_BASE_URL: 'http://api.example.com',
      CAUDAL_CHECKOUT_URL: 'http://api.example.com',
      PSE_URL: DEVELOPMENT['BREB_URL'] ?? '',
      DATABASE_URL: 'postgres://owner:a-password@db.example.com/caudal',
      CAUDAL_FAILPOINT: 'BRE_B pay: after call',
      CAUDAL_TRUSTED_PROXIES: '0.0.0.0/0',
      CAUDAL_PORT: '8080',
      CAUDAL_OPS_PORT: '8080',
    });
    expect(code).toBe(0);
    const text = warnings.join('\n');
    expect(text.match(/is a development secret/g)).toHaveLength(8);
    expect(text).toContain('CAUDAL_WEBHOOKS_ALLOW_LOOPBACK is yes');
    expect(text).toContain('CAUDAL_FAILPOINT is set');
    expect(text).toContain('CAUDAL_BASE_URL is plain http');
    expect(text).not.toContain('BREB_URL is plain http');
    expect(text).toContain('DATABASE_URL is a remote address without TLS');
    expect(text).toContain('CAUDAL_CHECKOUT_URL and CAUDAL_BASE_URL are the same address');
    expect(text).toContain('BREB_URL and PSE_URL are the same address');
    expect(text).toContain('CAUDAL_PORT and CAUDAL_OPS_PORT are both 8080');
    expect(text).toContain('CAUDAL_TRUSTED_PROXIES trusts every address');
  });

  it('reports what production rejects once, not again as a warning', async () => {
    const { problems, warnings } = await check({ ...PRODUCTION, PSE_SECRET: 'dev-pse-secret' });
    expect(problems).toEqual(['PSE_SECRET is a development secret: not allowed in production']);
    expect(warnings).toEqual([]);
  });

  it('never prints a secret or a database password', async () => {
    const settings = {
      ...DEVELOPMENT,
      CAUDAL_ENV: 'staging',
      CAUDAL_TOKEN_KEY: 'abcdefghijklmnopqrstuvwxyz0123456789',
      PSE_NOTICE_SECRET: 'hush-hush',
      DATABASE_URL: 'postgres://owner:hush-password@db.example.com/caudal',
    };
    for (const extra of [[], ['--json']]) {
      const { stdout, stderr } = await runOperatorCommand(settings, 'config', 'check', ...extra);
      expect(stdout).toContain('PSE_NOTICE_SECRET');
      for (const hidden of ['abcdefgh', 'hush-hush', 'hush-password', 'dev-master'])
        expect(stdout + stderr).not.toContain(hidden);
    }
  });

  it('reads settings from --env-file in any position, and the environment takes precedence', async () => {
    const file = join(folder, 'server.env');
    const { CAUDAL_PORT: _left, ...rest } = DEVELOPMENT;
    writeFileSync(
      file,
      Object.entries(rest)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
    const commandLines = [
      ['--env-file', file, 'config', 'check'],
      ['config', 'check', '--env-file', file, '--role', 'worker'],
      [`--env-file=${file}`, 'config', 'check'],
    ];
    const results = await Promise.all(commandLines.map((args) => runToEnd(args, {})));
    for (const { code, stderr, stdout } of results) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/The configuration is valid for "(?:all|worker)" \(development\)/);
    }
    const overridden = await runToEnd(['config', 'check', '--env-file', file], { PSE_URL: 'nowhere' });
    expect(overridden.code).toBe(1);
    expect(overridden.stdout).toContain('PSE_URL');
    const missing = await runToEnd(['config', 'check', '--env-file', join(folder, 'none.env')], {});
    expect(missing.code).not.toBe(0);
    expect(missing.stderr).toContain('none.env');
    expect((await runToEnd(['config', 'check', '--env-file'], {})).code).not.toBe(0);
  });

  it('ignores the settings of the merchant CLI in the same shell', async () => {
    const shell = {
      CAUDAL_API_KEY: 'cdl_test_x',
      CAUDAL_PROFILE: 'shop',
      CAUDAL_SIMULATOR_URL: 'http://127.0.0.1:1',
    };
    expect(await check({ ...DEVELOPMENT, ...shell })).toMatchObject({ code: 0, problems: [] });
  });
});
