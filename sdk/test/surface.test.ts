import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ApiDocument, operationsOf } from '../generate/document.ts';
import { propertyName } from '../generate/operations-file.ts';
import { SURFACE } from '../generate/surface.ts';
import { OPERATIONS } from '../src/generated/operations.ts';
import { Caudal } from '../src/index.ts';
import { REPEATS } from '../src/retry-policy.ts';

const document = JSON.parse(
  readFileSync(new URL('../../docs/reference/openapi.json', import.meta.url), 'utf8'),
) as ApiDocument;
const caudal = new Caudal({ apiKey: 'cdl_test_x' });
/** What a client offers beyond single operations. */
const BEYOND = ['payins.waitFor', 'payouts.waitFor', 'paymentLinks.waitFor'];

describe('the SDK and openapi.json', () => {
  it('name the same operations, with the same methods and paths', () => {
    const described = operationsOf(document).map(({ operationId, method, path }) => ({
      operationId,
      method,
      path,
    }));
    const known = Object.entries(OPERATIONS).map(([operationId, { method, path }]) => ({
      operationId,
      method,
      path,
    }));
    expect(known).toEqual(described);
  });

  it('lead to each other: every operation has one method of the client, every method an operation', () => {
    const called = Object.values(OPERATIONS).map((operation) => operation.called);
    expect(new Set(called).size).toBe(called.length);
    expect([...called, ...BEYOND].sort()).toEqual(methodsOf(caudal).sort());
  });

  it('agree on what takes an idempotency key, and nothing else is repeated as if it did', () => {
    for (const { operationId, parameters } of operationsOf(document)) {
      const takes = parameters.some(({ name }) => name === 'Idempotency-Key');
      expect({ operationId, keyed: REPEATS[operationId as keyof typeof REPEATS] === 'keyed' }).toEqual({
        operationId,
        keyed: takes,
      });
    }
  });

  it('agree that what only reads is a GET', () => {
    for (const { operationId, method } of operationsOf(document))
      expect({ operationId, reads: REPEATS[operationId as keyof typeof REPEATS] === 'reads' }).toEqual({
        operationId,
        reads: method === 'GET',
      });
  });

  it('agree on every resource', () => {
    expect(Object.keys(caudal).sort()).toEqual(SURFACE.map(({ name }) => propertyName(name)).sort());
  });
});

/** `payins.create` and so on, of a living client: inherited methods too. */
function methodsOf(client: Caudal): string[] {
  return Object.entries(client).flatMap(([name, resource]: [string, object]) => {
    const methods: string[] = [];
    for (let each = resource; each !== Object.prototype; each = Object.getPrototypeOf(each) as object)
      methods.push(...Object.getOwnPropertyNames(each));
    return [...new Set(methods)]
      .filter((method) => method !== 'constructor')
      .map((method) => `${name}.${method}`);
  });
}
