import type {
  JsonSchema,
  JsonSchemaOrBoolean,
  JsonSchemaType,
  OpenApiDocument,
} from '../../server/src/http/docs/openapi-types.ts';
import { lookUpSchema, referenceName } from './references.ts';

/** The references followed so far. A repeated one is a cycle; a sibling may use it again. */
type Trail = ReadonlySet<string>;

const NO_TRAIL: Trail = new Set();

/**
 * A schema as the page shows it: references resolved, `allOf` merged, and any form of "or null" converted to a flag.
 * `schema` has neither `$ref` nor `allOf`; real alternatives are in `variants`.
 */
export interface Shape {
  readonly schema: JsonSchema;
  readonly nullable: boolean;
  readonly variants: readonly Shape[];
  /** Component name, when the schema came from `#/components/schemas`. */
  readonly name: string | undefined;
  /** True when the schema is one of its own ancestors, whose fields are already on the page. */
  readonly cyclic: boolean;
  readonly trail: Trail;
}

export function resolveShape(
  document: OpenApiDocument,
  source: JsonSchemaOrBoolean,
  startTrail: Trail = NO_TRAIL,
): Shape {
  let schema: JsonSchema = typeof source === 'boolean' ? {} : source;
  let trail = startTrail;
  let name: string | undefined;
  while (schema.$ref !== undefined) {
    const { $ref, ...siblings } = schema;
    name ??= referenceName($ref);
    if (trail.has($ref)) {
      return { schema: siblings, nullable: false, variants: [], name, cyclic: true, trail };
    }
    trail = new Set(trail).add($ref);
    // 2020-12 allows keywords beside $ref; they override the referenced schema.
    schema = { ...lookUpSchema(document, $ref), ...siblings };
  }
  const merged = mergeAllOf(document, mergeDiscriminated(document, schema), trail);
  return alternatives(document, merged, name, trail);
}

/**
 * Merges the alternatives of a discriminated union into one object: constants become an enumeration, and objects that
 * differ lose their fields, because a page of their own documents each alternative.
 */
function mergeDiscriminated(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  if (schema.discriminator === undefined) return schema;
  const { oneOf = [], discriminator: _, ...own } = schema;
  const objects = oneOf.map(({ $ref = '' }) => lookUpSchema(document, $ref));
  const names = Object.keys(objects[0]?.properties ?? {});
  const properties = names.map((name) => {
    const found = objects.map((each) => each.properties?.[name] as JsonSchema);
    return [name, found.every(({ const: value }) => value !== undefined) ? asEnum(found) : asObject(found)];
  });
  return { ...objects[0], ...own, properties: Object.fromEntries(properties) as JsonSchema['properties'] };
}

function asEnum(constants: readonly JsonSchema[]): JsonSchema {
  const { const: _, ...first } = constants[0] ?? {};
  return { ...first, enum: [...new Set(constants.map(({ const: value }) => value))] };
}

function asObject(schemas: readonly JsonSchema[]): JsonSchema {
  const [first = {}] = schemas;
  const same = schemas.every((each) => JSON.stringify(each) === JSON.stringify(first));
  return same ? first : { type: 'object', description: first.description };
}

function mergeAllOf(document: OpenApiDocument, schema: JsonSchema, trail: Trail): JsonSchema {
  const { allOf, ...own } = schema;
  if (allOf === undefined) return schema;
  const parts = [...allOf.map((part) => resolveShape(document, part, trail).schema), own];
  const merged: JsonSchema = Object.assign({}, ...parts);
  return {
    ...merged,
    properties: Object.assign({}, ...parts.map((part) => part.properties ?? {})),
    required: parts.flatMap((part) => part.required ?? []),
  };
}

function alternatives(
  document: OpenApiDocument,
  schema: JsonSchema,
  name: string | undefined,
  trail: Trail,
): Shape {
  const { anyOf, oneOf, ...rest } = schema;
  const types = typeof rest.type === 'string' ? [rest.type] : (rest.type ?? []);
  const nullInside = types.includes('null') || rest.enum?.includes(null) === true;
  const own = nullInside ? withoutNull(rest, types) : rest;
  const offered = [...(anyOf ?? []), ...(oneOf ?? [])].map((part) => resolveShape(document, part, trail));
  const variants = offered.filter((shape) => !isOnlyNull(shape));
  const nullable = nullInside || offered.some((shape) => shape.nullable || isOnlyNull(shape));
  const [only] = variants;
  if (only === undefined || variants.length > 1) {
    return { schema: own, nullable, variants, name, cyclic: false, trail };
  }
  // "X or null" is X with the flag; keywords beside the anyOf (a description, a default) override those of X.
  return { ...only, schema: { ...only.schema, ...own }, nullable, name: name ?? only.name };
}

function withoutNull(schema: JsonSchema, types: readonly JsonSchemaType[]): JsonSchema {
  const left: JsonSchema = { ...schema, type: types.filter((type) => type !== 'null') };
  return left.enum === undefined ? left : { ...left, enum: left.enum.filter((value) => value !== null) };
}

function isOnlyNull(shape: Shape): boolean {
  const { type, const: constant } = shape.schema;
  if (shape.cyclic || shape.variants.length > 0) return false;
  if (constant === null && 'const' in shape.schema) return true;
  return shape.nullable && Array.isArray(type) && type.length === 0;
}

export function resolveItems(document: OpenApiDocument, shape: Shape): Shape | undefined {
  const { items } = shape.schema;
  if (items === undefined || Array.isArray(items)) return undefined;
  return resolveShape(document, items as JsonSchemaOrBoolean, shape.trail);
}

/** `string`, `integer | null`, `object[]`: the way a TypeScript developer would write it. */
export function typeName(document: OpenApiDocument, shape: Shape): string {
  const names = shape.nullable ? [...bareTypeNames(document, shape), 'null'] : bareTypeNames(document, shape);
  return [...new Set(names)].join(' | ');
}

function bareTypeNames(document: OpenApiDocument, shape: Shape): readonly string[] {
  const { schema } = shape;
  if (shape.cyclic) return [shape.name ?? 'object'];
  if (shape.variants.length > 0) return shape.variants.flatMap((variant) => bareTypeNames(document, variant));
  const items = resolveItems(document, shape);
  if (items !== undefined) {
    const inner = typeName(document, items);
    return [inner.includes(' ') ? `(${inner})[]` : `${inner}[]`];
  }
  if (typeof schema.type === 'string') return [schema.type];
  if (schema.type !== undefined && schema.type.length > 0) return schema.type;
  if (schema.properties !== undefined) return ['object'];
  const values = 'const' in schema ? [schema.const] : (schema.enum ?? []);
  if (values.length > 0) return values.map((value) => (value === null ? 'null' : typeof value));
  return shape.nullable ? [] : ['any'];
}
