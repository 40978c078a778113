import { expect, test } from 'vitest';
import { findOperation } from '../src/document/route.ts';
import { generate } from '../src/generate/generate.ts';
import { toBytes } from '../src/generate/request.ts';
import { buildWorld } from './fixtures.ts';

const COUNT = 2000;

/** Notices carry the time of their signature. */
function listRequests(seed: number): string[] {
  const world = buildWorld(seed);
  return Array.from({ length: COUNT }, (_, index) => generate(world, index))
    .filter(({ subject }) => subject !== 'rail notices')
    .map((request) => toBytes(request).toString('latin1'));
}

test('the same seed generates the same requests', () => {
  expect(listRequests(7)).toEqual(listRequests(7));
  expect(listRequests(7)).not.toEqual(listRequests(8));
});

test('requests cover every operation and every kind', () => {
  // The seed of the gate.
  const world = buildWorld(1);
  const subjects = new Set(Array.from({ length: COUNT }, (_, index) => generate(world, index).subject));
  const kinds = [
    'checkout pages',
    'other pages',
    'receipt check',
    'rail notices',
    'changed methods and paths',
    'raw bytes',
  ];
  world.a.pages.add('/l/token');
  world.b.pages.add('/l/token');
  for (let index = 0; index < 100; index += 1) subjects.add(generate(world, index).subject);
  expect([...subjects].sort()).toEqual([...world.operations.map(({ id }) => id), ...kinds].sort());
});

test('a path is matched like a router does', () => {
  const { operations } = buildWorld(1);
  const find = (method: string, target: string) => findOperation(operations, method, target)?.id ?? null;
  expect(find('GET', '/payins/x?y=1')).toBe('getPayin');
  expect(find('HEAD', '/payins/%40')).toBe('getPayin');
  expect(find('GET', '/events/stream')).toBe('streamEvents');
  expect(find('GET', '/payins/')).toBeNull();
  const otherSpellings = ['/%70ayins', '/payins/%41', '//payins', '/./payins', '/payins/..', '/payins%2fx'];
  expect(otherSpellings.filter((path) => find('GET', path) !== null)).toEqual([]);
  expect(find('GET', '/payins/%')).toBeNull();
  expect(find('PUT', '/payins')).toBeNull();
});
