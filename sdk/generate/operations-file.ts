import { type ApiDocument, listOperations, type Operation } from './document.ts';
import { imports } from './imports.ts';
import { SURFACE, UNUSED } from './surface.ts';
import { comment, TypeWriter } from './type-text.ts';

/** Method, path and SDK name of every operation, as data for the client. */
export function operationsFile(document: ApiDocument): string {
  const used = listOperations(document).filter(({ operationId }) => !UNUSED.includes(operationId));
  const entries = used.map((operation) => {
    const keyed = operation.parameters.some(({ name }) => name === 'Idempotency-Key');
    const called = sdkMethodName(operation.operationId);
    return `${operation.operationId}: { method: '${operation.method}', path: '${operation.path}', called: '${called}', keyed: ${keyed} },`;
  });
  return `${comment(['Every operation that the SDK calls. `keyed`: takes an Idempotency-Key. `called`: the SDK method.'])}export const OPERATIONS = {\n${entries.join('\n')}\n} as const;\n\nexport type OperationId = keyof typeof OPERATIONS;`;
}

/** Query parameters: one interface per operation that has any. */
export function queriesFile(document: ApiDocument): string {
  const writer = new TypeWriter(document);
  const operations = listOperations(document).filter((each) => queryParameters(each).length > 0);
  const interfaces = operations.map((operation) => {
    const fields = queryParameters(operation).map(({ name, description, schema, required = false }) =>
      writer.field(name, { ...schema, ...(description ? { description } : {}) }, required, 'sent'),
    );
    return `export interface ${queryName(operation)} {\n${fields.join('\n')}\n}`;
  });
  const text = interfaces.join('\n\n');
  return `${imports(text)}\n\n${text}`;
}

export function queryParameters(operation: Operation) {
  return operation.parameters.filter((each) => each.in === 'query');
}

export function queryName({ operationId }: Operation): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`;
}

/** The SDK method of an operation: `payins.create`. */
function sdkMethodName(operationId: string): string {
  for (const { name, methods, byHand } of SURFACE)
    for (const [method, id] of Object.entries({ ...methods, ...byHand }))
      if (id === operationId) return `${propertyName(name)}.${method}`;
  throw new Error(`no SDK method calls ${operationId} of openapi.json: update sdk/generate/surface.ts`);
}

export function propertyName(resource: string): string {
  return resource.charAt(0).toLowerCase() + resource.slice(1);
}
