// The part of OpenAPI 3.1 that the reference pages read. Looser than the generated document, so that the output of
// zod's toJSONSchema and a handwritten document both type-check without a cast.

export type JsonSchemaType = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';

/** In JSON Schema 2020-12, `true` accepts any value and `false` accepts none. */
export type JsonSchemaOrBoolean = JsonSchema | boolean;

export interface JsonSchema {
  readonly $ref?: string | undefined;
  readonly type?: JsonSchemaType | readonly JsonSchemaType[] | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, JsonSchemaOrBoolean>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: JsonSchemaOrBoolean | undefined;
  readonly items?: JsonSchemaOrBoolean | readonly JsonSchemaOrBoolean[] | undefined;
  readonly allOf?: readonly JsonSchema[] | undefined;
  readonly anyOf?: readonly JsonSchema[] | undefined;
  readonly oneOf?: readonly JsonSchema[] | undefined;
  readonly discriminator?: { readonly propertyName: string } | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[] | undefined;
  readonly format?: string | undefined;
  readonly pattern?: string | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: number | boolean | undefined;
  readonly exclusiveMaximum?: number | boolean | undefined;
  readonly multipleOf?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly uniqueItems?: boolean | undefined;
  readonly deprecated?: boolean | undefined;
  readonly readOnly?: boolean | undefined;
  readonly writeOnly?: boolean | undefined;
}

export interface ReferenceObject {
  readonly $ref: string;
}

export interface ExampleObject {
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly value?: unknown;
}

export interface MediaTypeObject {
  readonly schema?: JsonSchemaOrBoolean | undefined;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, ExampleObject | ReferenceObject>> | undefined;
}

export type ContentMap = Readonly<Record<string, MediaTypeObject>>;

export interface HeaderObject {
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
  readonly deprecated?: boolean | undefined;
  readonly schema?: JsonSchemaOrBoolean | undefined;
  readonly example?: unknown;
}

export interface ParameterObject extends HeaderObject {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
}

export interface RequestBodyObject {
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
  readonly content: ContentMap;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderObject | ReferenceObject>> | undefined;
  readonly content?: ContentMap | undefined;
}

/** All schemes of one requirement apply together; the requirements of a list are alternatives. */
type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

export interface SecuritySchemeObject {
  readonly type: 'apiKey' | 'http' | 'oauth2' | 'openIdConnect' | 'mutualTLS';
  readonly description?: string | undefined;
  readonly name?: string | undefined;
  readonly in?: 'query' | 'header' | 'cookie' | undefined;
  readonly scheme?: string | undefined;
}

export interface OperationObject {
  readonly operationId?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly deprecated?: boolean | undefined;
  readonly parameters?: readonly (ParameterObject | ReferenceObject)[] | undefined;
  readonly requestBody?: RequestBodyObject | ReferenceObject | undefined;
  readonly responses?: Readonly<Record<string, ResponseObject | ReferenceObject>> | undefined;
  readonly security?: readonly SecurityRequirement[] | undefined;
  readonly 'x-scope'?: string | undefined;
  readonly 'x-problem-codes'?: readonly string[] | undefined;
}

export const HTTP_METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const;

export type HttpMethod = (typeof HTTP_METHODS)[number];

type PathItemObject = Readonly<Partial<Record<HttpMethod, OperationObject | undefined>>> & {
  readonly parameters?: readonly (ParameterObject | ReferenceObject)[] | undefined;
};

interface TagObject {
  readonly name: string;
  readonly description?: string | undefined;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary?: string | undefined;
    readonly description?: string | undefined;
  };
  readonly tags?: readonly TagObject[] | undefined;
  readonly security?: readonly SecurityRequirement[] | undefined;
  readonly paths: Readonly<Record<string, PathItemObject>>;
  readonly webhooks?: Readonly<Record<string, PathItemObject>> | undefined;
  readonly components?:
    | {
        readonly schemas?: Readonly<Record<string, JsonSchema>> | undefined;
        readonly parameters?: Readonly<Record<string, ParameterObject>> | undefined;
        readonly responses?: Readonly<Record<string, ResponseObject>> | undefined;
        readonly requestBodies?: Readonly<Record<string, RequestBodyObject>> | undefined;
        readonly headers?: Readonly<Record<string, HeaderObject>> | undefined;
        readonly examples?: Readonly<Record<string, ExampleObject>> | undefined;
        readonly securitySchemes?: Readonly<Record<string, SecuritySchemeObject>> | undefined;
      }
    | undefined;
}
