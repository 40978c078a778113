import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { ConfigError, rawSettings, readConfig } from '../../src/config.ts';
import { fileSetting, SETTINGS_WITH_FILES } from '../../src/settings/secret-files.ts';
import { SECRETS, SETTINGS } from '../../src/settings/settings.ts';
import { runToEnd } from '../harness/run-server.ts';

type Settings = Record<string, string>;

const BY_VALUE: Settings = {
  ...serverSettings({
    databaseUrl: 'postgres://owner:pw@127.0.0.1:5432/caudal',
    simulatorUrl: 'http://127.0.0.1:4000',
    baseUrl: 'http://127.0.0.1:8080',
  }),
  CAUDAL_SMTP_URL: 'smtp://user:password@127.0.0.1:2525',
  CAUDAL_MAIL_FROM: 'Caudal <pagos@example.com>',
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'caudal-secret-files-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** The settings with every secret in a file. */
function byFile(settings: Settings, end: string): Settings {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) =>
      SETTINGS_WITH_FILES.includes(name) ? [fileSetting(name), write(name, `${value}${end}`)] : [name, value],
    ),
  );
}

function problems(settings: Settings): readonly string[] {
  try {
    readConfig('all', settings);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/** The settings with the token key in a file, or in what the setting names by mistake. */
function withTokenKeyFile(path: string): Settings {
  const { CAUDAL_TOKEN_KEY: _, ...others } = BY_VALUE;
  return { ...others, CAUDAL_TOKEN_KEY_FILE: path };
}

describe('a secret in a file', () => {
  it.each([
    ['without a newline', ''],
    ['with a newline', '\n'],
    ['with a Windows newline', '\r\n'],
  ])('is the same as a secret in the environment, %s at the end', (_, end) => {
    const settings = byFile(BY_VALUE, end);
    expect(Object.keys(settings).filter((name) => name.endsWith('_FILE')).length).toBeGreaterThan(8);
    expect(rawSettings(settings)).toEqual(BY_VALUE);
    const [file, value] = [readConfig('all', settings), readConfig('all', BY_VALUE)];
    expect(file.database).toEqual(value.database);
    expect(file.mail).toEqual(value.mail);
    expect(file.masterKeys.map(({ id }) => id)).toEqual(value.masterKeys.map(({ id }) => id));
  });

  it('can be any secret and any URL with a password', () => {
    const urls = Object.keys(SETTINGS).filter((name) => /^DATABASE_(?:[A-Z]+_)?URL$/.test(name));
    expect([...SETTINGS_WITH_FILES].sort()).toEqual([...SECRETS, ...urls, 'CAUDAL_SMTP_URL'].sort());
  });

  it('is rejected when the environment contains the value too', () => {
    expect(problems({ ...BY_VALUE, CAUDAL_TOKEN_KEY_FILE: write('token', 'x') })).toEqual([
      'CAUDAL_TOKEN_KEY and CAUDAL_TOKEN_KEY_FILE are set: set only one',
    ]);
  });

  it.each([
    ['', 'names an empty file'],
    ['\n', 'names an empty file'],
    [' \n\n', 'names an empty file'],
    [
      'two newlines at the end of a secret\n\n',
      'names a file that starts or ends with white space: only one newline at the end is ignored',
    ],
  ])('is rejected when its file contains %j', (text, problem) => {
    expect(problems(withTokenKeyFile(write('token', text)))).toEqual([`CAUDAL_TOKEN_KEY_FILE ${problem}`]);
  });

  it('is rejected without the path when its file cannot be read', () => {
    const unreadable = [join(folder, 'missing'), folder, 'a-secret-that-is-set-by-mistake'];
    expect(unreadable.map((path) => problems(withTokenKeyFile(path)))).toEqual([
      ['CAUDAL_TOKEN_KEY_FILE cannot be read (ENOENT)'],
      ['CAUDAL_TOKEN_KEY_FILE cannot be read (EISDIR)'],
      ['CAUDAL_TOKEN_KEY_FILE cannot be read (ENOENT)'],
    ]);
  });

  it('is reported with all other problems, each once', () => {
    const { CAUDAL_BASE_URL: _, DATABASE_URL: __, ...others } = withTokenKeyFile('/missing');
    const settings = {
      ...others,
      DATABASE_URL_FILE: '/missing',
      CAUDAL_KEY_PEPPER: 'short',
      PSE_URL_FILE: '/x',
    };
    expect(problems(settings)).toEqual([
      'CAUDAL_TOKEN_KEY_FILE cannot be read (ENOENT)',
      'DATABASE_URL_FILE cannot be read (ENOENT)',
      'CAUDAL_BASE_URL is not set',
      'CAUDAL_KEY_PEPPER: at least 32 characters',
      'PSE_URL_FILE is not a setting',
    ]);
  });

  it('is checked for weakness by config check', async () => {
    const weak = { ...BY_VALUE, CAUDAL_ENV: 'staging', PSE_SECRET: 'aaaaaaaaaaaaaaaaaaaaaaaa' };
    const { stdout } = await runToEnd(['config', 'check'], byFile(weak, '\n'));
    expect(stdout).toContain('warning  PSE_SECRET has very few different characters');
  });
});
