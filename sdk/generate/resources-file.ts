import {
  type ApiDocument,
  type Operation,
  operationNamed,
  operationsOf,
  refName,
  schemaNamed,
  successOf,
} from './document.ts';
import { imports } from './imports.ts';
import { queryName, queryOf } from './operations-file.ts';
import { BY_HAND, type Resource, SIGNATURES } from './surface.ts';
import { comment } from './type-text.ts';

/** A class for a resource, a method for each of its operations. */
export function resourceFile(document: ApiDocument, resource: Resource): string {
  const methods = Object.entries(resource.methods).map(([name, id]) =>
    methodText(document, name, operationNamed(document, id)),
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
  const body = bodyOf(operation);
  const query = queryOf(operation).length > 0;
  const own = SIGNATURES[operationId];
  const path = operation.parameters.filter((each) => each.in === 'path').map((each) => each.name);
  const keyed = operation.parameters.some((each) => each.name === 'Idempotency-Key');
  const item = itemOf(document, operation);
  const answer = own?.answer ?? typeName(refName(successOf(operation).content.schema) ?? '');
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
  return `${methodComment(operation, commonCodes(document))}${name}${own?.generics ?? ''}(${parameters.join(', ')}): ${item === null ? `Promise<${answer}>` : `List<${item}>`} {
    return ${item === null ? 'this.#calls.send' : 'this.#calls.list'}('${operationId}', { ${parts.join(', ')} }, options);
  }`;
}

/** @param common codes that every operation can answer: said once, in the documentation of errors */
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
    `@throws ApiError${own.length > 0 ? `, of its own with the codes ${own.map((code) => `\`${code}\``).join(', ')}` : ''}`,
  ]);
}

function commonCodes(document: ApiDocument): string[] {
  const ofMerchants = operationsOf(document).filter((each) => each['x-scope'] !== undefined);
  const [first, ...rest] = ofMerchants.map((each) => each['x-problem-codes']);
  return (first ?? []).filter((code) => rest.every((codes) => codes.includes(code)));
}

/** What a list holds; null when the answer is no list. */
function itemOf(document: ApiDocument, operation: Operation): string | null {
  const name = refName(successOf(operation).content.schema);
  if (!name?.endsWith('List')) return null;
  const item = schemaNamed(document, name).properties?.['data']?.items;
  return typeName(refName(item) ?? { BankList: 'Bank', DeliveryList: 'Delivery' }[name] ?? missing(name));
}

function missing(name: string): never {
  throw new Error(`the items of ${name} have no name: mend sdk/generate/resources-file.ts`);
}

function bodyOf(operation: Operation): string | null {
  return refName(operation.requestBody?.content['application/json']?.schema);
}

function typeName(schema: string): string {
  return BY_HAND[schema] ?? schema;
}
