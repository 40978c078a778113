import { expect, it } from 'vitest';
import { findTestViolations } from './test-rules.ts';

const find = (path: string, text: string) => findTestViolations([{ path, text }], {});

it.each([
  ['clock', 'expect(performance.now() - startedAt).toBeLessThan(1000);'],
  ['clock', 'const at = Date.now();'],
  ['random', 'const n = Math.random();'],
  ['fast-check', "import * as fc from 'fast-check';"],
  ['timer', "import { setTimeout as sleep } from 'node:timers/promises';"],
  ['timer', 'await sleep(100);'],
  ['timer', 'setTimeout(() => undefined, 5);'],
])('rejects a %s in a test of the gate: %s', (rule, text) => {
  expect(find('server/test/x.test.ts', text)).toEqual([expect.stringContaining(`x.test.ts:1: ${rule}: `)]);
  expect(find('e2e/x.e2e.ts', text)).toHaveLength(1);
  expect(find('server/test/x.long.test.ts', text)).toEqual([]);
  expect(find('server/test/harness/until.ts', text)).toEqual([]);
});

it('accepts a comment, and an exception with a reason', () => {
  expect(find('server/test/x.test.ts', '// sleep(1) would not do')).toEqual([]);
  const files = [{ path: 'server/test/x.test.ts', text: 'await sleep(100);' }];
  expect(
    findTestViolations(files, { 'server/test/x.test.ts': { timer: 'a peer that answers late' } }),
  ).toEqual([]);
});

it('rejects an exception that is not used', () => {
  expect(findTestViolations([], { 'server/test/x.test.ts': { timer: 'a peer that answers late' } })).toEqual([
    'server/test/x.test.ts: the exception from "timer" is not used: remove it',
  ]);
});
