// The part of docs/reference/openapi.json from which the SDK is generated.

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly example?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
}

interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly 'x-scope'?: string;
  readonly 'x-problem-codes': readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, Content>> }>>;
}

export interface ApiDocument {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly webhooks: Readonly<
    Record<string, { readonly post: { readonly requestBody: { readonly content: Record<string, Content> } } }>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** An operation with its method and path. */
export interface Operation extends OperationObject {
  readonly method: string;
  readonly path: string;
}

export function listOperations(document: ApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
}

export function findOperation(document: ApiDocument, operationId: string): Operation {
  const found = listOperations(document).find((each) => each.operationId === operationId);
  if (!found) throw new Error(`openapi.json has no operation ${operationId}: update sdk/generate/surface.ts`);
  return found;
}

export function refName(schema: Schema | undefined): string | null {
  return schema?.$ref?.split('/').at(-1) ?? null;
}

/** The success response of an operation. */
export function successResponse(operation: Operation): { readonly type: string; readonly content: Content } {
  const [, response] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? [];
  const [type, content] = Object.entries(response?.content ?? {})[0] ?? [];
  if (!type || !content) throw new Error(`${operation.operationId} has no success response`);
  return { type, content };
}

export function findSchema(document: ApiDocument, name: string): Schema {
  const schema = document.components.schemas[name];
  if (!schema) throw new Error(`openapi.json has no schema ${name}: update sdk/generate`);
  return schema;
}
