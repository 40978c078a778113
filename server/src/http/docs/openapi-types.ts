// The part of OpenAPI 3.1 that the reference pages read. Looser than the generated document, so that the output of
// zod's toJSONSchema and a handwritten document both type-check without a cast.

export type JsonSchemaType = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';

/** In JSON Schema 2020-12, `true` accepts any value and `false` accepts none. */
export type JsonSchemaOrBoolean = JsonSchema | boolean;

type Optional<Names extends string, Value> = { readonly [Name in Names]?: Value | undefined };

export interface JsonSchema
  extends Optional<'$ref' | 'title' | 'description' | 'format' | 'pattern', string>,
    Optional<'minLength' | 'maxLength' | 'minimum' | 'maximum' | 'multipleOf', number>,
    Optional<'minItems' | 'maxItems', number>,
    Optional<'exclusiveMinimum' | 'exclusiveMaximum', number | boolean>,
    Optional<'uniqueItems' | 'deprecated', boolean>,
    Optional<'const' | 'default' | 'example', unknown>,
    Optional<'enum' | 'examples', readonly unknown[]> {
  readonly type?: JsonSchemaType | readonly JsonSchemaType[] | undefined;
  readonly properties?: Readonly<Record<string, JsonSchemaOrBoolean>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: JsonSchemaOrBoolean | undefined;
  readonly items?: JsonSchemaOrBoolean | readonly JsonSchemaOrBoolean[] | undefined;
  readonly allOf?: readonly JsonSchema[] | undefined;
  readonly anyOf?: readonly JsonSchema[] | undefined;
  readonly oneOf?: readonly JsonSchema[] | undefined;
  readonly discriminator?: { readonly propertyName: string } | undefined;
}

export interface ReferenceObject {
  readonly $ref: string;
}

export interface ExampleObject extends Optional<'summary' | 'description', string> {
  readonly value?: unknown;
}

export interface MediaTypeObject {
  readonly schema?: JsonSchemaOrBoolean | undefined;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, ExampleObject | ReferenceObject>> | undefined;
}

export type ContentMap = Readonly<Record<string, MediaTypeObject>>;

export interface HeaderObject extends Optional<'required' | 'deprecated', boolean> {
  readonly description?: string | undefined;
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

export interface SecuritySchemeObject extends Optional<'description' | 'name' | 'scheme', string> {
  readonly type: 'apiKey' | 'http' | 'oauth2' | 'openIdConnect' | 'mutualTLS';
  readonly in?: 'query' | 'header' | 'cookie' | undefined;
}

export interface OperationObject
  extends Optional<'operationId' | 'summary' | 'description' | 'x-scope', string>,
    Optional<'tags' | 'x-problem-codes', readonly string[]> {
  readonly deprecated?: boolean | undefined;
  readonly parameters?: readonly (ParameterObject | ReferenceObject)[] | undefined;
  readonly requestBody?: RequestBodyObject | ReferenceObject | undefined;
  readonly responses?: Readonly<Record<string, ResponseObject | ReferenceObject>> | undefined;
  readonly security?: readonly SecurityRequirement[] | undefined;
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
  readonly info: Readonly<Record<'title' | 'version', string>> &
    Optional<'summary' | 'description', string> &
    Optional<'contact' | 'license', Readonly<Record<string, string>>>;
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
