import { z } from 'zod';
import type { JsonSchema } from './docs/openapi-types.ts';

/**
 * Removes optional members that are null, because typed clients send null for fields that are not set. A member whose
 * schema accepts null keeps it (PATCH clears a value with null). A required member is left for validation to reject.
 */
export function withoutNullFields(schema: z.ZodType, value: unknown): unknown {
  const object = objectSchema(schema);
  if (object === null || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  const kept = entries.flatMap(([name, member]): [string, unknown][] => {
    const field = findField(object, name);
    if (field === null) return [[name, member]];
    if (member === null && field.isOptional() && !field.isNullable()) return [];
    return [[name, withoutNullFields(field, member)]];
  });
  const unchanged =
    kept.length === entries.length && kept.every(([, member], index) => member === entries[index]?.[1]);
  return unchanged ? value : Object.fromEntries(kept);
}

function findField({ shape }: z.ZodObject, name: string): z.ZodType | null {
  return Object.hasOwn(shape, name) ? (shape[name] as z.ZodType) : null;
}

function objectSchema(schema: z.ZodType): z.ZodObject | null {
  if (schema instanceof z.ZodObject) return schema;
  if (schema instanceof z.ZodPipe) return objectSchema(schema.in as z.ZodType);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return objectSchema(schema.unwrap() as z.ZodType);
  return null;
}

/** Makes every optional member of a request body's JSON Schema accept null. */
export function acceptingNull(schema: JsonSchema): JsonSchema {
  const { properties, required = [] } = schema;
  if (properties === undefined) return schema;
  const accepting = Object.entries(properties).map(([name, property]) => {
    const inner = acceptingNull(property as JsonSchema);
    return [name, required.includes(name) ? inner : orNull(inner)];
  });
  return { ...schema, properties: Object.fromEntries(accepting) as Record<string, JsonSchema> };
}

function orNull(schema: JsonSchema): JsonSchema {
  const { description, ...rest } = schema;
  if (typeof rest.type !== 'string' || rest.enum !== undefined || rest.const !== undefined) {
    const nullable =
      rest.anyOf?.some(({ type }) => type === 'null') === true || rest.type?.includes('null') === true;
    if (nullable) return schema;
    return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: 'null' }] };
  }
  return { ...schema, type: [rest.type, 'null'] };
}
