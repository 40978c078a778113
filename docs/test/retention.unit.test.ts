import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RETENTION_POLICY } from '../../server/src/people/retention-policy.ts';

const PAGE = readFileSync(new URL('../operating/personal-data.md', import.meta.url), 'utf8');
const ROW = /^\| `(?<table>\w+)` \| (?<kept>[^|]+) \| (?<ended>[^|]+) \| (?<personal>[^|]+) \|$/gm;

const ENDED_BY = {
  never: 'nothing',
  months_detach: '`months detach`',
  housekeeping: 'schedule `housekeeping`',
  erasure: '`people erase`, schedule `personal-data`',
  change: 'the change itself',
} as const;

describe('the page about personal data', () => {
  it('shows the retention policy of every table', () => {
    const shown = [...PAGE.matchAll(ROW)].map(({ groups }) => ({ ...groups }));
    const policy = RETENTION_POLICY.map(({ table, kept, endedBy, personal }) => ({
      table,
      kept,
      ended: ENDED_BY[endedBy],
      personal: personal.map((column) => `\`${column}\``).join(', ') || 'none',
    }));
    expect(shown).toEqual(policy);
  });
});
