import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ApiDocument, listOperations } from '../generate/document.ts';
import { propertyName } from '../generate/operations-file.ts';
import { SURFACE, UNUSED } from '../generate/surface.ts';
import { OPERATIONS } from '../src/generated/operations.ts';
import { Caudal } from '../src/index.ts';
import { RETRY_POLICY } from '../src/retry-policy.ts';

const document = JSON.parse(
  readFileSync(new URL('../../docs/reference/openapi.json', import.meta.url), 'utf8'),
) as ApiDocument;
const caudal = new Caudal({ apiKey: 'cdl_test_x' });
/** Client methods that are not a single operation. */
const HELPER_METHODS = ['payins.waitFor', 'payouts.waitFor', 'paymentLinks.waitFor'];

describe('the SDK and openapi.json', () => {
  it('have the same operations, HTTP methods and paths', () => {
    const described = listOperations(document)
      .filter(({ operationId }) => !UNUSED.includes(operationId))
      .map(({ operationId, method, path }) => ({
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

  it('match: every operation has one client method, and every method an operation', () => {
    const called = Object.values(OPERATIONS).map((operation) => operation.called);
    expect(new Set(called).size).toBe(called.length);
    expect([...called, ...HELPER_METHODS].sort()).toEqual(listMethods(caudal).sort());
  });

  it('agree on which operations take an idempotency key', () => {
    for (const { operationId, parameters } of listOperations(document)) {
      const takes = parameters.some(({ name }) => name === 'Idempotency-Key');
      expect({
        operationId,
        keyed: RETRY_POLICY[operationId as keyof typeof RETRY_POLICY] === 'idempotency_key',
      }).toEqual({
        operationId,
        keyed: takes,
      });
    }
  });

  it('agree that exactly the GET operations, lookups and searches are read-only', () => {
    const readOnly = ['createBrebKeyLookup', 'searchPayouts'];
    const used = listOperations(document).filter(({ operationId }) => !UNUSED.includes(operationId));
    for (const { operationId, method } of used)
      expect({
        operationId,
        reads: RETRY_POLICY[operationId as keyof typeof RETRY_POLICY] === 'read_only',
      }).toEqual({
        operationId,
        reads: method === 'GET' || readOnly.includes(operationId),
      });
  });

  it('have the same resources', () => {
    expect(Object.keys(caudal).sort()).toEqual(SURFACE.map(({ name }) => propertyName(name)).sort());
  });
});

/** Method names of a client such as `payins.create`, including inherited ones. */
function listMethods(client: Caudal): string[] {
  return Object.entries(client).flatMap(([name, resource]: [string, object]) => {
    const methods: string[] = [];
    for (let each = resource; each !== Object.prototype; each = Object.getPrototypeOf(each) as object)
      methods.push(...Object.getOwnPropertyNames(each));
    return [...new Set(methods)]
      .filter((method) => method !== 'constructor')
      .map((method) => `${name}.${method}`);
  });
}
