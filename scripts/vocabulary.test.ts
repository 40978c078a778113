import { describe, expect, it } from 'vitest';
import { findOffenses } from './vocabulary.ts';

const messages = (path: string, text: string) => findOffenses([{ path, text }]).map(({ message }) => message);

describe('the vocabulary check', () => {
  it.each([
    ['an identifier in code', 'server/src/x.ts', 'const claimToken = 1;'],
    ['an identifier in a string', 'server/src/x.ts', "query('select claimed_until from caudal.payins');"],
    ['a table in a migration', 'server/migrations/0009_x.sql', 'alter table caudal.webhook_lines add x int;'],
    ['a setting in a document', 'docs/operating/x.md', 'Set `CAUDAL_MOST_AT_ONCE` to 100.'],
    ['a metric', 'docs/operating/x.md', 'Alert on caudal_webhook_lines_behind > 0.'],
    ['a file name', 'server/src/flows/give-payer.ts', ''],
    ['a file name in an import', 'server/src/x.ts', "import { x } from './brake.store.ts';"],
    ['an English word as an identifier', 'server/src/x.ts', 'const told = read();'],
    [
      'an English word inside a template expression',
      'server/src/x.ts',
      'log(`reference ${standing.reference}`);',
    ],
    ['a word without an actor in a comment', 'server/src/x.ts', '// Whoever holds the lease writes it down.'],
    ['a word without an actor in a SQL comment', 'server/migrations/0009_x.sql', '\n-- Unique for ever.'],
    ['a word without an actor in a document', 'docs/guides/x.md', 'Nobody is told.'],
  ])('refuses %s', (_what, path, text) => {
    expect(messages(path, text)).not.toEqual([]);
  });

  it.each([
    ['JavaScript promises', 'server/src/x.ts', 'const promise = Promise.resolve();'],
    [
      'an English word in a product text',
      'server/src/x.ts',
      "const text = 'The key belongs to somebody else.';",
    ],
    ['an English word as a property of a string', 'docs/guides/x.md', 'A line of text, most of the time.'],
    ['the new names', 'server/src/x.ts', 'const leaseToken = newLeaseToken();'],
    [
      'the decision that records the renames',
      'docs/decisions/0036-standard-payment-vocabulary.md',
      '`claimToken`',
    ],
  ])('accepts %s', (_what, path, text) => {
    expect(messages(path, text)).toEqual([]);
  });

  it('names the line and the replacement', () => {
    expect(findOffenses([{ path: 'a.md', text: 'one\ntwo `claimToken`\n' }])).toEqual([
      { path: 'a.md', line: 2, message: 'claimToken was renamed: leaseToken, leased_until' },
    ]);
  });
});
