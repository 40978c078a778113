import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { ConfigError, readConfig } from '../../src/config.ts';
import { estimateBits, MIN_MASTER_KEY_BITS } from '../../src/settings/key-strength.ts';

/** The same keys in every run: one of ten million random keys repeats eight digits, and is rejected. */
const KEY = hash('sha256', 'a master key', 'base64');
const HEX_KEY = hash('md5', 'a master key', 'hex');
const { CAUDAL_MASTER_KEY: _, ...SETTINGS } = serverSettings({
  databaseUrl: 'postgres://caudal_owner@127.0.0.1/caudal',
  simulatorUrl: 'http://127.0.0.1:1',
  baseUrl: 'http://127.0.0.1:1',
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'caudal-master-key-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const masterKeyId = (settings: Record<string, string>) =>
  readConfig('api', { ...SETTINGS, ...settings }).masterKeys[0]?.id;

function problems(settings: Record<string, string>): readonly string[] {
  try {
    readConfig('api', { ...SETTINGS, ...settings });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('the master key', () => {
  it('is the same by value, by file and by command', () => {
    const byValue = masterKeyId({ CAUDAL_MASTER_KEY: KEY });
    expect(masterKeyId({ CAUDAL_MASTER_KEY_FILE: write('key', `${KEY}\n`) })).toBe(byValue);
    const program = write('print.mjs', `console.log(${JSON.stringify(KEY)})`);
    expect(masterKeyId({ CAUDAL_MASTER_KEY_COMMAND: `${process.execPath} ${program}` })).toBe(byValue);
  });

  it('is read from its command once per process, without a shell', () => {
    const counter = write('count', '');
    const program = write(
      'count.mjs',
      `import { appendFileSync } from 'node:fs';
       appendFileSync(${JSON.stringify(counter)}, 'x');
       console.log(${JSON.stringify(KEY)} + process.argv.slice(2).join(' '));`,
    );
    const command = `${process.execPath} ${program} $HOME;id`;
    const first = masterKeyId({ CAUDAL_MASTER_KEY_COMMAND: command });
    expect(masterKeyId({ CAUDAL_MASTER_KEY_COMMAND: command })).toBe(first);
    expect(first).toBe(masterKeyId({ CAUDAL_MASTER_KEY: `${KEY}$HOME;id` }));
    expect(masterKeyId({ CAUDAL_MASTER_KEY_FILE: counter.replace(/count$/, 'key') })).toBeDefined();
  });

  it('is rejected when a command and another setting give it, or its command fails', () => {
    const twice = 'CAUDAL_MASTER_KEY_COMMAND and CAUDAL_MASTER_KEY are set: set only one';
    expect(problems({ CAUDAL_MASTER_KEY: KEY, CAUDAL_MASTER_KEY_COMMAND: 'x' })).toEqual([twice]);
    const file = write('also', KEY);
    expect(problems({ CAUDAL_MASTER_KEY_FILE: file, CAUDAL_MASTER_KEY_COMMAND: 'x' })).toEqual([twice]);
    const program = write('fail.mjs', 'process.exit(3)');
    expect(problems({ CAUDAL_MASTER_KEY_COMMAND: `${process.execPath} ${program}` })).toContain(
      'CAUDAL_MASTER_KEY_COMMAND failed (exit code 3)',
    );
  });

  it('is rejected in production when it is a phrase', () => {
    const rejected = 'CAUDAL_MASTER_KEY can be guessed';
    const inProduction = (key: string) =>
      problems({ CAUDAL_ENV: 'production', CAUDAL_MASTER_KEY: key }).filter((text) =>
        text.startsWith(rejected),
      );
    expect(inProduction('correct horse battery staple correct')).toHaveLength(1);
    expect(inProduction(KEY)).toEqual([]);
    expect(inProduction('0123456789abcdef0123456789abcdef')).toHaveLength(1);
    expect(inProduction(HEX_KEY)).toEqual([]);
  });

  it('may be a phrase in production while it is replaced', () => {
    const found = problems({
      CAUDAL_ENV: 'production',
      CAUDAL_MASTER_KEY: KEY,
      CAUDAL_MASTER_KEY_PREVIOUS: 'correct horse battery staple correct',
    });
    expect(found.filter((text) => text.includes('MASTER_KEY'))).toEqual([]);
  });
});

describe('the estimate of a secret', () => {
  it.each([
    'correct horse battery staple correct',
    'CorrectHorseBatteryStapleCorrectHorse',
    'another-master-key-of-32-characters',
    'abababababababababababababababababab',
    '00000000000000000000000000000000',
    'deadbeefdeadbeefdeadbeefdeadbeef',
    'deadbeefcafebabefeedfacebadc0ded',
    '0123456789abcdef0123456789abcdef',
    '000102030405060708090a0b0c0d0e0f',
    '00112233445566778899AABBCCDDEEFF',
    '31415926535897932384626433832795',
  ])('is below 128 bits for %s', (phrase) => {
    expect(estimateBits(phrase)).toBeLessThan(MIN_MASTER_KEY_BITS);
  });

  it('is at least 128 bits for 16 random bytes in hexadecimal', () => {
    const keys = Array.from({ length: 10_000 }, (_, index) => hash('md5', `key ${index}`, 'hex'));
    const texts = keys.flatMap((key) => [key, key.toUpperCase()]);
    expect(texts.filter((text) => estimateBits(text) < MIN_MASTER_KEY_BITS)).toEqual([]);
  });

  it('is at least 128 bits for 32 random bytes in common encodings', () => {
    for (let round = 0; round < 2000; round += 1) {
      const bytes = hash('sha256', `key ${round}`, 'buffer');
      for (const encoding of ['base64', 'base64url', 'hex'] as const)
        expect(estimateBits(bytes.toString(encoding))).toBeGreaterThan(MIN_MASTER_KEY_BITS);
    }
  });
});
