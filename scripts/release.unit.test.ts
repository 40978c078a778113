import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { datedChangelog } from './release/changelog.ts';
import { type Commit, nextVersion, parseCommit, releaseNotes } from './release/conventional-commits.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const commits = (...messages: readonly string[]): Commit[] =>
  messages.flatMap((message) => parseCommit(message) ?? []);

describe('the next version', () => {
  it.each([
    ['0.1.0', ['fix: a'], '0.1.1'],
    ['0.1.3', ['fix: a', 'feat(sdk): b'], '0.2.0'],
    ['0.1.3', ['fix!: a'], '0.2.0'],
    ['1.4.2', ['feat: a'], '1.5.0'],
    ['1.4.2', ['docs: a', 'refactor: b\n\nBREAKING CHANGE: c'], '2.0.0'],
    ['1.4.2', ['docs: a', 'Not conventional'], '1.4.3'],
  ])('after %s with %j is %s', (current, messages, expected) => {
    expect(nextVersion(current, commits(...messages))).toBe(expected);
  });
});

it('groups the release notes, and lists breaking changes first and once', () => {
  const notes = releaseNotes('0.2.0', '2026-11-17', commits('fix: a', 'feat(sdk)!: b', 'test: c', 'feat: d'));
  expect(notes).toBe(
    '## 0.2.0 (2026-11-17)\n\n### Breaking changes\n\n- **sdk:** b\n\n### Features\n\n- d\n\n### Fixes\n\n- a\n',
  );
});

it('dates the unreleased section of the changelog, and refuses an empty one', () => {
  expect(datedChangelog('# C\n\n## Unreleased\n\n- a\n', '0.2.0', '2026-11-17')).toBe(
    '# C\n\n## Unreleased\n\n## 0.2.0 (2026-11-17)\n\n- a\n',
  );
  const released = '## Unreleased\n\n- a\n\n## 0.2.0 (2026-11-16)\n\n- b\n';
  expect(() => datedChangelog(released, '0.2.0', 'x')).toThrow(/tag its commit with v0.2.0 first/);
  expect(() => datedChangelog('## Unreleased\n\n## 0.1.0 (2026-11-16)\n\n- a\n', '0.2.0', 'x')).toThrow(
    /no unreleased change/,
  );
});

it('the docs name the tarballs of the current version', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const guides = readdirSync(join(ROOT, 'docs/guides')).map((name) => join('docs/guides', name));
  const named = [...guides, 'README.md', 'sdk/README.md', 'cli/README.md'].flatMap((name) => [
    ...readFileSync(join(ROOT, name), 'utf8').matchAll(/caudal-(?:sdk|cli)-(\d[^/\s`)]*)\.tgz/g),
  ]);
  expect(new Set(named.map(([, each]) => each))).toEqual(new Set([version]));
});
