import { expect, test } from 'vitest';
import { isFresh } from '../src/breb/directory.store.ts';
import { COLLECTOR } from '../src/breb/directory.ts';

test('a resolution is fresh for exactly ten minutes', () => {
  const resolution = { key: '@CDL1', holder: COLLECTOR, at: '2026-11-20T12:00:00.000Z' };
  expect(isFresh(resolution, '2026-11-20T12:10:00.000Z')).toBe(true);
  expect(isFresh(resolution, '2026-11-20T12:10:00.001Z')).toBe(false);
});
