import { type ApiDocument, type Operation, operationsOf } from './document.ts';
import { imports } from './imports.ts';
import { SURFACE } from './surface.ts';
import { comment, TypeWriter } from './type-text.ts';

/** Method, path and habits of every operation, as data that the client works by. */
export function operationsFile(document: ApiDocument): string {
  const entries = operationsOf(document).map((operation) => {
    const keyed = operation.parameters.some(({ name }) => name === 'Idempotency-Key');
    const called = calledAs(operation.operationId);
    return `${operation.operationId}: { method: '${operation.method}', path: '${operation.path}', called: '${called}', keyed: ${keyed} },`;
  });
  return `${comment(['Every operation of the API. `keyed`: it takes an Idempotency-Key. `called`: as in a program.'])}export const OPERATIONS = {\n${entries.join('\n')}\n} as const;\n\nexport type OperationId = keyof typeof OPERATIONS;`;
}

/** Parameters of the query, an interface for each operation that has any. */
export function queriesFile(document: ApiDocument): string {
  const writer = new TypeWriter(document);
  const operations = operationsOf(document).filter((each) => queryOf(each).length > 0);
  const interfaces = operations.map((operation) => {
    const fields = queryOf(operation).map(({ name, description, schema, required = false }) =>
      writer.field(name, { ...schema, ...(description ? { description } : {}) }, required, 'sent'),
    );
    return `export interface ${queryName(operation)} {\n${fields.join('\n')}\n}`;
  });
  const text = interfaces.join('\n\n');
  return `${imports(text)}\n\n${text}`;
}

export function queryOf(operation: Operation) {
  return operation.parameters.filter((each) => each.in === 'query');
}

export function queryName({ operationId }: Operation): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`;
}

/** `payins.create`, as a program writes it. */
function calledAs(operationId: string): string {
  for (const { name, methods, byHand } of SURFACE)
    for (const [method, id] of Object.entries({ ...methods, ...byHand }))
      if (id === operationId) return `${propertyName(name)}.${method}`;
  throw new Error(
    `openapi.json has ${operationId}, and no method of the SDK leads to it: sdk/generate/surface.ts`,
  );
}

export function propertyName(resource: string): string {
  return resource.charAt(0).toLowerCase() + resource.slice(1);
}
