import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${ROOT}docs/security/asvs.md`, 'utf8');

const ROW = /^\| ([\d.]+) \| ([123]) \| (.+?) \| (met|not met|n\/a) \| (.+) \|$/gm;
const rows = [...page.matchAll(ROW)].map(([, number = '', level = '', , state = '', evidence = '']) => ({
  number,
  level,
  state,
  files: [...evidence.matchAll(/`([\w./-]+\.(?:ts|md|json))`/g)].map((match) => match[1] ?? ''),
}));

/** How many requirements of levels 1 and 2 each chapter of ASVS 5.0 has. */
const REQUIREMENTS: Readonly<Record<string, number>> = {
  1: 27,
  2: 11,
  3: 19,
  4: 10,
  5: 9,
  6: 35,
  7: 18,
  8: 7,
  9: 7,
  10: 29,
  11: 14,
  12: 9,
  13: 13,
  14: 9,
  15: 13,
  16: 16,
  17: 7,
};

describe('the table of ASVS requirements', () => {
  it('has every requirement of levels 1 and 2 once, in order', () => {
    const tableRows = page.split('\n').filter((line) => /^\| \d/.test(line));
    expect(rows).toHaveLength(tableRows.length);
    expect(new Set(rows.map(({ number }) => number)).size).toBe(rows.length);
    const required = rows.filter(({ level }) => level !== '3');
    const counts = Object.groupBy(required, ({ number }) => number.split('.')[0] ?? '');
    expect(Object.fromEntries(Object.entries(counts).map(([name, some]) => [name, some?.length]))).toEqual(
      REQUIREMENTS,
    );
    const collator = new Intl.Collator('en', { numeric: true });
    const numbers = rows.map(({ number }) => number);
    expect(numbers).toEqual(numbers.toSorted(collator.compare));
  });

  it('names a test, code or document for every requirement that is met', () => {
    expect(rows.filter(({ state, files }) => state === 'met' && files.length === 0)).toEqual([]);
  });

  it('names only files that exist', () => {
    const missing = rows.flatMap(({ files }) => files).filter((file) => !existsSync(ROOT + file));
    expect(missing).toEqual([]);
  });

  it('states the totals of its rows', () => {
    const count = (state: string) => rows.filter((row) => row.state === state).length;
    expect(page).toContain(
      `**${count('met')} met, ${count('not met')} not met, ${count('n/a')} not applicable.**`,
    );
  });
});
