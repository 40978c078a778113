/** The parts of the served OpenAPI document that the fuzzer uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface MediaType {
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}

interface OperationObject {
  readonly operationId: string;
  readonly 'x-problem-codes'?: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, MediaType>> }>>;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Body {
  readonly type: string;
  readonly schema: Schema;
  readonly examples: readonly unknown[];
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly segments: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly body: Body | null;
  /** Whether it accepts API keys and access tokens; otherwise it takes HTTP Basic. */
  readonly forMerchants: boolean;
  readonly problemCodes: ReadonlySet<string>;
  /** Content types and schemas by status. */
  readonly responses: ReadonlyMap<number, ReadonlyMap<string, Schema | null>>;
}

export async function fetchOpenApi(baseUrl: string): Promise<OpenApi> {
  const response = await fetch(`${baseUrl}/openapi.json`);
  if (!response.ok) throw new Error(`GET /openapi.json: ${response.status}`);
  return (await response.json()) as OpenApi;
}

/** All operations of the document: a new one is covered without a change here. */
export function readOperations(document: OpenApi): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => toOperation(method.toUpperCase(), path, operation)),
  );
}

function toOperation(method: string, path: string, operation: OperationObject): Operation {
  const [body] = Object.entries(operation.requestBody?.content ?? {});
  return {
    id: operation.operationId,
    method,
    path,
    segments: path.split('/').slice(1),
    parameters: operation.parameters ?? [],
    body: body
      ? {
          type: body[0],
          schema: body[1].schema ?? {},
          examples: Object.values(body[1].examples ?? {}).map(({ value }) => value),
        }
      : null,
    forMerchants: (operation.security ?? []).some((scheme) => 'apiKey' in scheme),
    problemCodes: new Set(operation['x-problem-codes'] ?? []),
    responses: new Map(
      Object.entries(operation.responses).map(([status, { content = {} }]) => [
        Number(status),
        new Map(Object.entries(content).map(([type, { schema }]) => [type, schema ?? null])),
      ]),
    ),
  };
}
