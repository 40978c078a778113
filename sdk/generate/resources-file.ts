import {
  type ApiDocument,
  findOperation,
  findSchema,
  listOperations,
  type Operation,
  refName,
  successResponse,
} from './document.ts';
import { imports } from './imports.ts';
import { queryName, queryParameters } from './operations-file.ts';
import { RENAMED, type Resource, SIGNATURES } from './surface.ts';
import { comment } from './type-text.ts';

/** One class per resource, one method per operation. */
export function resourceFile(document: ApiDocument, resource: Resource): string {
  const methods = Object.entries(resource.methods).map(([name, id]) =>
    methodText(document, name, findOperation(document, id)),
  );
  const text = `${comment([resource.about])}export class ${resource.name}Operations {
    readonly #calls: Calls;

    constructor(calls: Calls) { this.#calls = calls; }

    ${methods.join('\n\n')}
  }`;
  return `${imports(text)}\n\n${text}`;
}

function methodText(document: ApiDocument, name: string, operation: Operation): string {
  const { operationId } = operation;
  const body = bodyTypeName(operation);
  const query = queryParameters(operation).length > 0;
  const own = SIGNATURES[operationId];
  const path = operation.parameters.filter((each) => each.in === 'path').map((each) => each.name);
  const keyed = operation.parameters.some((each) => each.name === 'Idempotency-Key');
  const item = itemTypeName(document, operation);
  const result = own?.result ?? typeName(refName(successResponse(operation).content.schema) ?? '');
  const parameters = [
    ...path.map((each) => `${each}: string`),
    ...(body === null ? [] : [`body: ${own?.body ?? body}`]),
    ...(query ? [`query: ${queryName(operation)} = {}`] : []),
    `options: ${keyed ? 'KeyedCallOptions' : 'CallOptions'} = {}`,
  ];
  const parts = [
    ...(path.length > 0 ? [`path: { ${path.join(', ')} }`] : []),
    ...(body === null ? [] : ['body']),
    ...(query ? ['query'] : []),
  ];
  return `${methodComment(operation, commonCodes(document))}${name}${own?.generics ?? ''}(${parameters.join(', ')}): ${item === null ? `ApiPromise<${result}>` : `List<${item}>`} {
    return ${item === null ? 'this.#calls.send' : 'this.#calls.list'}('${operationId}', { ${parts.join(', ')} }, options);
  }`;
}

/** @param common codes that every operation can return, which the error documentation lists */
function methodComment(operation: Operation, common: readonly string[]): string {
  const scope = operation['x-scope'] ? ` Needs the scope \`${operation['x-scope']}\`.` : '';
  const own = operation['x-problem-codes'].filter((code) => !common.includes(code));
  const about = operation.parameters
    .filter((each) => each.in === 'path')
    .map((each) => `@param ${each.name} ${each.description ?? ''}`);
  return comment([
    `${operation.summary}: \`${operation.method} ${operation.path}\`.${scope}`,
    `\n${operation.description}\n`,
    ...about,
    `@throws ApiError${own.length > 0 ? `, with the specific codes ${own.map((code) => `\`${code}\``).join(', ')}` : ''}`,
  ]);
}

function commonCodes(document: ApiDocument): string[] {
  const merchantOperations = listOperations(document).filter((each) => each['x-scope'] !== undefined);
  const [first, ...rest] = merchantOperations.map((each) => each['x-problem-codes']);
  return (first ?? []).filter((code) => rest.every((codes) => codes.includes(code)));
}

/** Item type of a list; null when the response is not a list. */
function itemTypeName(document: ApiDocument, operation: Operation): string | null {
  const name = refName(successResponse(operation).content.schema);
  if (!name?.endsWith('List')) return null;
  const item = findSchema(document, name).properties?.['data']?.items;
  return typeName(refName(item) ?? { BankList: 'Bank', DeliveryList: 'Delivery' }[name] ?? missing(name));
}

function missing(name: string): never {
  throw new Error(`the items of ${name} have no name: update sdk/generate/resources-file.ts`);
}

function bodyTypeName(operation: Operation): string | null {
  return refName(operation.requestBody?.content['application/json']?.schema);
}

function typeName(schema: string): string {
  return RENAMED[schema] ?? schema;
}
