import {
  HTTP_METHODS,
  type HttpMethod,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
} from '../../server/src/http/docs/openapi-types.ts';
import { dereference } from './references.ts';

export interface Operation {
  readonly anchor: string;
  readonly method: HttpMethod;
  readonly path: string;
  readonly title: string;
  readonly parameters: readonly ParameterObject[];
  readonly definition: OperationObject;
}

export interface OperationGroup {
  readonly anchor: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly operations: readonly Operation[];
}

const WITHOUT_TAG = 'Other';

function slug(text: string): string {
  return text.replace(/[^A-Za-z0-9_]+/g, '-').replace(/^-+|-+$/g, '');
}

/** Groups operations by their first tag: declared tags in their order, then other tags by first use. */
export function operationGroups(document: OpenApiDocument): readonly OperationGroup[] {
  const byTag = new Map<string, Operation[]>((document.tags ?? []).map((tag) => [tag.name, []]));
  for (const operation of listOperations(document)) {
    const tag = operation.definition.tags?.[0] ?? WITHOUT_TAG;
    const group = byTag.get(tag) ?? [];
    group.push(operation);
    byTag.set(tag, group);
  }
  const descriptions = new Map((document.tags ?? []).map((tag) => [tag.name, tag.description]));
  return [...byTag]
    .filter(([, operations]) => operations.length > 0)
    .map(([name, operations]) => ({
      anchor: `tag-${slug(name)}`,
      name,
      description: descriptions.get(name),
      operations,
    }));
}

function listOperations(document: OpenApiDocument): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    (Object.keys(item) as HttpMethod[])
      .filter((key) => HTTP_METHODS.includes(key))
      .flatMap((method) => {
        const definition = item[method];
        if (definition === undefined) return [];
        const parameters = [...(item.parameters ?? []), ...(definition.parameters ?? [])].map((parameter) =>
          dereference(document, parameter),
        );
        return [
          {
            anchor: operationAnchor(method, path, definition),
            method,
            path,
            title: operationTitle(method, path, definition),
            parameters: overrideByName(parameters),
            definition,
          },
        ];
      }),
  );
}

function operationAnchor(method: HttpMethod, path: string, definition: OperationObject): string {
  return `op-${slug(definition.operationId ?? `${method} ${path}`)}`;
}

function operationTitle(method: HttpMethod, path: string, definition: OperationObject): string {
  return definition.summary ?? definition.operationId ?? `${method.toUpperCase()} ${path}`;
}

// A parameter of the operation overrides the path's parameter with the same name and location.
function overrideByName(parameters: readonly ParameterObject[]): readonly ParameterObject[] {
  return [
    ...new Map(parameters.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter])).values(),
  ];
}
