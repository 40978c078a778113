import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { findJsonProblem, isTooDeep } from '../../src/http/json-scan.ts';

/** A JSON value whose objects are lists of members, so that names may repeat. */
type Node =
  | { readonly text: string }
  | readonly Node[]
  | { readonly members: readonly (readonly [string, Node])[] };

const NAMES = ['a', 'b', '"', '\\', 'ñ', '😀', '__proto__', '', ',', '{"a":1}'];

const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.json({ maxDepth: 0 }).map((text) => ({ text })),
    fc.array(tie('node'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.constantFrom(...NAMES), tie('node')), { maxLength: 4 })
      .map((members) => ({ members })),
  ),
}));

/** Writes the value; every second name is escaped completely, and there is whitespace everywhere. */
function write(value: Node, spelling: { count: number }): string {
  if ('text' in value) return value.text;
  if ('members' in value)
    return `{ ${value.members.map(([name, inner]) => `${spell(name, spelling)}\n: ${write(inner, spelling)}`).join(' ,\t')} }`;
  return `[ ${value.map((inner) => write(inner, spelling)).join(' , ')} ]`;
}

function spell(name: string, spelling: { count: number }): string {
  spelling.count += 1;
  if (spelling.count % 2 === 0) return JSON.stringify(name);
  const units = Array.from({ length: name.length }, (_, index) => name.charCodeAt(index));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

function hasRepeatedName(value: Node): boolean {
  if ('text' in value) return false;
  if (!('members' in value)) return value.some(hasRepeatedName);
  const names = value.members.map(([name]) => name);
  return new Set(names).size < names.length || value.members.some(([, inner]) => hasRepeatedName(inner));
}

describe('findJsonProblem', () => {
  it('finds a repeated member in any spelling and only then', () => {
    fc.assert(
      fc.property(node, (value) => {
        const text = write(value, { count: 0 });
        JSON.parse(text);
        expect(findJsonProblem(text)?.code ?? null).toBe(hasRepeatedName(value) ? 'duplicate_field' : null);
      }),
      { numRuns: 2000 },
    );
  });

  it('accepts everything that JSON.stringify writes within its limits', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(findJsonProblem(JSON.stringify(value))).toBeNull();
      }),
    );
  });

  it('ends without an exception on any text', () => {
    const unit = fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', 'a', 'u');
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        expect(() => findJsonProblem(text)).not.toThrow();
      }),
    );
  });

  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"customer":{"name":"x","\\u006eame":"y"}}', 'customer.name'],
    ['{"list":[{"b":1},{"b":1,"b":1}]}', 'list.b'],
  ])('names the repeated member of %s', (text, path) => {
    expect(findJsonProblem(text)).toEqual({ code: 'duplicate_field', path });
  });

  it('rejects more than 500 values and more than 20 levels', () => {
    const members = (count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1])));
    expect(findJsonProblem(members(500))).toBeNull();
    expect(findJsonProblem(members(501))).toEqual({ code: 'too_many_fields', path: 'body' });
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(findJsonProblem(nested(20))).toBeNull();
    expect(findJsonProblem(nested(21))).toEqual({ code: 'too_deep', path: 'body' });
  });
});

describe('isTooDeep', () => {
  it('counts levels of objects and arrays', () => {
    const nested = (levels: number): unknown => JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels));
    expect([20, 21, 5000].map((levels) => isTooDeep(nested(levels)))).toEqual([false, true, true]);
  });
});
