import type {
  JsonSchema,
  JsonSchemaOrBoolean,
  OpenApiDocument,
} from '../../server/src/http/docs/openapi-types.ts';
import { listRules, type Rule } from './schema-rules.ts';
import { resolveItems, resolveShape, type Shape, typeName } from './schema-shape.ts';

export interface FieldRow {
  readonly kind: 'field';
  /** Path prefix of the parent: '' at the top, `inlineCustomer.`, `data[].`. */
  readonly parent: string;
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly rules: readonly Rule[];
  readonly description: string | undefined;
  readonly deprecated: boolean;
}

/** Heading of the rows that apply to only one of several alternatives. */
export interface VariantRow {
  readonly kind: 'variant';
  readonly parent: string;
  readonly label: string;
}

// Deeper nesting is not readable; the limit also bounds mutually recursive schemas.
const MAX_DEPTH = 8;

/** The fields of a body in reading order, nested ones after their parent. */
export function listFields(
  document: OpenApiDocument,
  schema: JsonSchemaOrBoolean,
): readonly (FieldRow | VariantRow)[] {
  return rowsBelow(document, resolveShape(document, schema), '', 0);
}

function rowsBelow(
  document: OpenApiDocument,
  shape: Shape,
  parent: string,
  depth: number,
): readonly (FieldRow | VariantRow)[] {
  if (shape.cyclic || depth >= MAX_DEPTH) return [];
  const items = resolveItems(document, shape);
  if (items !== undefined) return rowsBelow(document, items, `${parent.replace(/\.$/, '')}[].`, depth + 1);
  return [
    ...propertyRows(document, shape, parent, depth),
    ...variantRows(document, shape.variants, parent, depth),
  ];
}

function propertyRows(
  document: OpenApiDocument,
  shape: Shape,
  parent: string,
  depth: number,
): readonly (FieldRow | VariantRow)[] {
  const { properties = {}, additionalProperties, required = [] } = shape.schema;
  const rows: (FieldRow | VariantRow)[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const child = resolveShape(document, property, shape.trail);
    rows.push(fieldRow(document, child, parent, name, required.includes(name)));
    rows.push(...rowsBelow(document, child, `${parent}${name}.`, depth + 1));
  }
  // An empty schema only allows additional properties.
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0) {
    const child = resolveShape(document, additionalProperties, shape.trail);
    rows.push(fieldRow(document, child, parent, '*', false));
    rows.push(...rowsBelow(document, child, `${parent}*.`, depth + 1));
  }
  return rows;
}

function fieldRow(
  document: OpenApiDocument,
  shape: Shape,
  parent: string,
  name: string,
  required: boolean,
): FieldRow {
  return {
    kind: 'field',
    parent,
    name,
    type: typeName(document, shape),
    required,
    rules: listRules(document, shape),
    description: shape.cyclic
      ? (shape.schema.description ?? `The same fields as ${shape.name ?? 'the object'} above.`)
      : shape.schema.description,
    deprecated: shape.schema.deprecated === true,
  };
}

// Properties shared by all alternatives are shown once, so that their differences stand out.
function variantRows(
  document: OpenApiDocument,
  variants: readonly Shape[],
  parent: string,
  depth: number,
): readonly (FieldRow | VariantRow)[] {
  const [first] = variants;
  if (first === undefined) return [];
  const shared = sharedProperties(variants);
  const isShared = (name: string) => shared.has(name);
  const common = withProperties(first, isShared);
  return [
    ...propertyRows(
      document,
      { ...common, schema: { ...common.schema, additionalProperties: false } },
      parent,
      depth,
    ),
    ...variants.flatMap((variant, index) => {
      const rows = rowsBelow(
        document,
        withProperties(variant, (name) => !isShared(name)),
        parent,
        depth,
      );
      const label = variantLabel(variant, index);
      return rows.length === 0 ? [] : [{ kind: 'variant' as const, parent, label }, ...rows];
    }),
  ];
}

function sharedProperties(variants: readonly Shape[]): ReadonlySet<string> {
  const [first, ...others] = variants;
  const signature = (schema: JsonSchema, name: string) =>
    JSON.stringify([schema.properties?.[name], schema.required?.includes(name) === true]);
  return new Set(
    Object.keys(first?.schema.properties ?? {}).filter((name) =>
      others.every(
        ({ schema }) =>
          schema.properties?.[name] !== undefined &&
          first !== undefined &&
          signature(schema, name) === signature(first.schema, name),
      ),
    ),
  );
}

function withProperties(shape: Shape, keep: (name: string) => boolean): Shape {
  const kept = Object.entries(shape.schema.properties ?? {}).filter(([name]) => keep(name));
  return { ...shape, schema: { ...shape.schema, properties: Object.fromEntries(kept) } };
}

function variantLabel({ schema, name }: Shape, index: number): string {
  if (schema.title !== undefined) return schema.title;
  for (const [field, property] of Object.entries(schema.properties ?? {})) {
    if (typeof property === 'object' && typeof property.const === 'string') {
      return `When ${field} is ${property.const}`;
    }
  }
  return name ?? `Option ${String(index + 1)}`;
}
